package transformer

// Architecture describes the decoder that a value of general.architecture means:
// what its blocks compute, in which order, from which tensors. The loader, the
// float64 reference, the CPU engine and the Metal plan follow it. A block is
//
//	x += PostNorm(attention(norm(x)))
//	x += PostNorm(feed-forward(norm(x)))
//
// where attention projects to queries, keys and values, norms their heads
// (HeadNorms), turns them (Rotation), attends, and projects back; and feed-forward
// is down(Activation(gate(x)) * up(x)).
type Architecture struct {
	Name string // general.architecture; keys begin with it and a point

	Rotation   Rotation   // which values of a head turn together
	Activation Activation // of the gate

	FusedQKV    bool // attn_qkv holds the rows of queries, keys and values, one after another
	FusedGateUp bool // ffn_up holds the rows of gate, then those of up
	HeadNorms   bool // attn_q_norm and attn_k_norm: an RMS norm of each head before it is turned
	PostNorms   bool // post_attention_norm and post_ffw_norm: an RMS norm of what is added to the residual stream

	ScaledEmbedding bool // embeddings are multiplied by the root of their length
}

// Rotation says which values of a head are turned as a pair.
type Rotation uint8

const (
	// Neighbours: 2i and 2i+1 (LLAMA_ROPE_TYPE_NORM of llama.cpp).
	Neighbours Rotation = iota
	// Halves: i and i+RopeDim/2 (LLAMA_ROPE_TYPE_NEOX).
	Halves
)

// Activation is the function of the gate.
type Activation uint8

const (
	// SiLU is x/(1+exp(-x)).
	SiLU Activation = iota
	// GELU is the tanh approximation: x/2 (1+tanh(sqrt(2/pi) (x+0.044715 x³))).
	GELU
)

// Rotary says how the heads of a layer are turned at a position: pair i by position
// times Frequencies[i] radians, and what comes out is multiplied by Scale (YaRN's and
// LongRoPE's; 1 for others).
type Rotary struct {
	Frequencies []float64 // RopeDim/2
	Scale       float64
}
