package kernel

// supported returns the sets with assembly that this machine can run, best
// first. Every arm64 processor that runs Linux or macOS has NEON.
func supported() []*Set { return []*Set{neon()} }
