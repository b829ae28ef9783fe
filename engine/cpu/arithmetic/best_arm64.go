package arithmetic

//go:noescape
func multiplyAddNEON(x *float32, a *[factors]float32, b float32, turns int)

// supported are the assembly's ways that this machine can use, the widest first.
func supported() []multiplier { return []multiplier{{"neon", 96, multiplyAddNEON}} }
