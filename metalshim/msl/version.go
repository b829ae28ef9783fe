package msl

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"sync"
)

// code is this package's own text.
//
//go:embed braces.go classify.go comparisons.go condition.go duplicates.go emit.go expand.go instances.go kernels.go lex.go numbers.go outline.go parameters.go parts.go preprocess.go read.go readings.go rewrite.go scopes.go stages.go survey.go threadgroup.go vectors.go worlds.go
var code embed.FS

// Version tells this rewriter from another: it is the digest of its text. A cache
// of compiled libraries has it in its key, so that two versions of the program
// can share a folder.
var Version = sync.OnceValue(func() string {
	sum := sha256.New()
	list, _ := code.ReadDir(".") // what is embedded can be read
	for _, f := range list {
		b, _ := code.ReadFile(f.Name())
		fmt.Fprintf(sum, "%s %d\n%s", f.Name(), len(b), b)
	}
	return hex.EncodeToString(sum.Sum(nil))
})
