package forward

// Part is what a step computes, in the model's terms.
type Part struct {
	Layer int    // the block, from 0; NoLayer outside of the blocks
	Name  string // one of the Part constants
}

// NoLayer is the Layer of what is computed once, before or behind the blocks.
const NoLayer = -1

// Names of parts. Where GGUF has a tensor for it they are the tensor's, without
// the block before and the ending behind it.
const (
	PartRotary       = "rotary tables" // cos and sin of every position, when the model is built
	PartWeights      = "weights"       // a tensor goes back to the CPU, which expands it
	PartEmbedding    = "token_embd"    // the rows of the tokens
	PartAttnNorm     = "attn_norm"
	PartQ            = "attn_q"
	PartK            = "attn_k"
	PartV            = "attn_v"
	PartQKV          = "attn_qkv" // of all three in one
	PartMask         = "mask"
	PartQNorm        = "attn_q_norm" // of each head
	PartKNorm        = "attn_k_norm"
	PartHeads        = "attn_heads" // tokens × heads to heads × tokens
	PartRope         = "rope"       // of queries and keys
	PartCache        = "kv_cache"   // old and new keys and values to a new cache
	PartAttention    = "attention"  // from queries, keys and values to what the heads saw
	PartAttnOutput   = "attn_output"
	PartAttnPostNorm = "post_attention_norm"
	PartAttnResidual = "attn_residual" // what attention adds to its input
	PartFFNNorm      = "ffn_norm"
	PartGate         = "ffn_gate"
	PartUp           = "ffn_up"
	PartActivation   = "ffn_act" // silu of the gate, times up
	PartDown         = "ffn_down"
	PartFFNPostNorm  = "post_ffw_norm"
	PartFFNResidual  = "ffn_residual" // what the feed-forward part adds to its input
	PartOutputNorm   = "output_norm"
	PartOutput       = "output"     // the logits
	PartNext         = "next token" // the highest of them, and its way to the CPU
	PartLogits       = "logits"     // their way to the CPU
)
