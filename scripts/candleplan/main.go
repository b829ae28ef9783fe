// Command candleplan holds introgen's Metal engine against candle itself: it records
// a program that runs unmodified candle (scripts/candle-program builds it), has the
// engine do the same, and compares what each asks of Metal, event by event:
//
//	go run ./scripts/candleplan -program "$(scripts/candle-program)"
//
// Compared are, in their order, the libraries and pipelines with their constants, and
// of every command buffer its encoders, each dispatch with its grid, each barrier,
// and the commit; and the ids that come out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/metal/commandbuffer"
	"github.com/introgen/introgen/models"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "candleplan:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	introgen, program, model string
	kernels                  string
	lengths, perBuffer       []int
	tokens                   int
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("candleplan", flag.ContinueOnError)
	f.StringVar(&o.introgen, "introgen", "bin/introgen", "introgen, which records")
	f.StringVar(&o.program, "program", "", "the program on candle")
	f.StringVar(&o.model, "model", models.StandIn, "a GGUF file of an architecture that candle has a quantized model of, or the name of one")
	f.StringVar(&o.kernels, "kernels", "own", "the kernels of the engine: own, or a folder with candle's")
	f.IntVar(&o.tokens, "tokens", 3, "decode steps")
	lengths := f.String("lengths", "2,13,15,40,300", "lengths of prompts")
	perBuffer := f.String("per-buffer", "1,10,50,200", "commands of a command buffer")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.program == "" || f.NArg() > 0 {
		return o, fmt.Errorf("-program is wanted, and no argument")
	}
	if o.model, err = models.Find(o.model); err != nil {
		return o, err
	}
	if o.lengths, err = numbers(*lengths); err == nil {
		o.perBuffer, err = numbers(*perBuffer)
	}
	return o, err
}

func numbers(text string) (out []int, err error) {
	for _, word := range strings.Split(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q: whole numbers from 1 on with commas between them are wanted", text)
		}
		out = append(out, n)
	}
	return out, nil
}

// did is what somebody asked of Metal.
type did struct {
	compiled []string // libraries and pipelines
	encoded  []string // all that was encoded, and the commits
	ids      []int32
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	vocabulary, err := vocabularyOf(o.model)
	if err != nil {
		return err
	}
	fmt.Println("prompt  per buffer  libraries and pipelines  events  dispatches  barriers  command buffers  verdict")
	different := 0
	for _, length := range o.lengths {
		for _, n := range o.perBuffer {
			prompt := promptOf(length)
			for i := range prompt {
				prompt[i] %= vocabulary
			}
			candle, err := recorded(ctx, o, prompt, n)
			if err != nil {
				return fmt.Errorf("candle, a prompt of %d tokens, %s=%d: %w", length, commandbuffer.Env, n, err)
			}
			own, err := planned(ctx, o, prompt, n)
			if err != nil {
				return fmt.Errorf("introgen, a prompt of %d tokens, %d commands a buffer: %w", length, n, err)
			}
			verdict := compare(candle, own)
			if verdict != "" {
				different++
			} else {
				verdict = "equal"
			}
			fmt.Printf("%6d  %10d  %23d  %6d  %10d  %8d  %15d  %s\n", length, n, len(candle.compiled), len(candle.encoded),
				count(candle.encoded, "dispatch "), count(candle.encoded, "barrier "), count(candle.encoded, "commit "), verdict)
		}
	}
	if different > 0 {
		return fmt.Errorf("%d of %d differ", different, len(o.lengths)*len(o.perBuffer))
	}
	return nil
}

// vocabularyOf is how many tokens a model knows.
func vocabularyOf(path string) (n int32, err error) {
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	t, ok := f.Tensor("token_embd.weight")
	if !ok || len(t.Dims) < 2 || t.Dims[1] < 1 || t.Dims[1] > math.MaxInt32 {
		return 0, fmt.Errorf("%s has no embedding of tokens", path)
	}
	return int32(t.Dims[1]), nil
}

// experiment is the prompt of the experiment, to SmolLM2's tokenizer.
var experiment = []int32{1, 4093, 198, 1780, 314, 36828, 47, 2, 198, 1, 520, 9531, 198}

// promptOf is that prompt, repeated and cut.
func promptOf(length int) []int32 {
	out := make([]int32, length)
	for i := range out {
		out[i] = experiment[i%len(experiment)]
	}
	return out
}

func count(events []string, kind string) int {
	n := 0
	for _, e := range events {
		if strings.HasPrefix(e, kind) {
			n++
		}
	}
	return n
}

// compare says where two first differ, "" where they do not.
func compare(candle, own *did) string {
	if difference := first("library or pipeline", candle.compiled, own.compiled); difference != "" {
		return difference
	}
	if difference := first("event", candle.encoded, own.encoded); difference != "" {
		return difference
	}
	if !slices.Equal(candle.ids, own.ids) {
		return fmt.Sprintf("candle's ids are %v, introgen's %v", candle.ids, own.ids)
	}
	return ""
}

func first(what string, candle, own []string) string {
	for i := range max(len(candle), len(own)) {
		a, b := "nothing", "nothing"
		if i < len(candle) {
			a = candle[i]
		}
		if i < len(own) {
			b = own[i]
		}
		if a != b {
			return fmt.Sprintf("%s %d is %q of candle and %q of introgen", what, i+1, a, b)
		}
	}
	return ""
}
