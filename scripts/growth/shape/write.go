package shape

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/quant"
)

// Context is how many positions the files allow.
const Context = 32768

// align is that of tensor data, GGUF's default.
const align = 32

// written is how much is written at once. Linux keeps what it is given in large pieces
// in large pages, and maps those of 2 MiB as one: weights in them are read up to twice
// as fast as those of a file that came in small pieces.
const written = 4 << 20

// fileTypes are the values of general.file_type (enum llama_ftype).
var fileTypes = map[quant.Type]uint32{quant.Q8_0: 7, quant.Q4_K: 15}

// Write writes a file of the shape with matrices of the type, and returns its size.
// The same shape and type give the same bytes. What was written is removed after an
// error.
func (s Shape) Write(path string, matrices quant.Type) (size int64, err error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	tensors := s.Tensors(matrices)
	f := gguftest.File{KV: s.metadata(matrices)}
	var end uint64
	for _, t := range tensors {
		dims := []uint64{uint64(t.Cols), uint64(t.Rows)}
		if t.Rows == 1 {
			dims = dims[:1]
		}
		offset := end
		f.Tensors = append(f.Tensors, gguftest.Tensor{Name: t.Name, Type: uint32(t.Type), Dims: dims, Offset: &offset})
		end = (end + uint64(t.Bytes()) + align - 1) &^ (align - 1)
	}
	head, err := f.Bytes()
	if err != nil {
		return 0, err
	}
	out := bufio.NewWriterSize(file, written)
	if _, err := out.Write(head); err != nil {
		return 0, err
	}
	draw := drawer{state: 1}
	for _, t := range tensors {
		if err := draw.tensor(out, t); err != nil {
			return 0, fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		padding := make([]byte, (align-t.Bytes()%align)%align)
		if _, err := out.Write(padding); err != nil {
			return 0, err
		}
	}
	return int64(len(head)) + int64(end), out.Flush()
}

// metadata are the keys of the file, with a vocabulary that spells bytes: its other
// tokens are only as many as the model has.
func (s Shape) metadata(matrices quant.Type) []gguftest.KV {
	tokens := byteCharacters()
	for len(tokens) < s.Vocab {
		tokens = append(tokens, "[PAD"+strconv.Itoa(len(tokens))+"]")
	}
	types := make([]int32, len(tokens))
	for i := range types {
		types[i] = 1 // normal
	}
	key := func(name string, value any) gguftest.KV {
		return gguftest.KV{Key: s.Architecture + "." + name, Value: value}
	}
	return []gguftest.KV{
		{Key: "general.architecture", Value: s.Architecture},
		{Key: "general.name", Value: s.Name + ", random weights"},
		{Key: "general.file_type", Value: fileTypes[matrices]},
		key("block_count", uint32(s.Layers)),
		key("context_length", uint32(Context)),
		key("embedding_length", uint32(s.Hidden)),
		key("feed_forward_length", uint32(s.FFN)),
		key("attention.head_count", uint32(s.Heads)),
		key("attention.head_count_kv", uint32(s.KVHeads)),
		key("attention.key_length", uint32(s.HeadDim)),
		key("attention.value_length", uint32(s.HeadDim)),
		key("attention.layer_norm_rms_epsilon", s.Epsilon),
		key("rope.freq_base", s.RopeBase),
		key("rope.dimension_count", uint32(s.HeadDim)),
		key("vocab_size", uint32(s.Vocab)),
		{Key: "tokenizer.ggml.model", Value: "gpt2"},
		{Key: "tokenizer.ggml.pre", Value: "smollm"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.merges", Value: []string{"h e"}},
	}
}

// byteCharacters are the characters by which byte-level BPE spells bytes, in the
// order of the bytes (bytes_to_unicode of GPT-2's encoder.py), and the pair of the
// one merge.
func byteCharacters() []string {
	all := make([]string, 256, 512)
	next := rune(256)
	for b := range all {
		r := rune(b)
		if !(b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae) {
			r, next = next, next+1
		}
		all[b] = string(r)
	}
	return append(all, "he")
}

// drawer draws the bytes of tensors: Vigna's xorshift64*, eight bytes at a time.
type drawer struct {
	state uint64
	piece []byte
}

// fill draws b, whose length is a multiple of 8.
func (d *drawer) fill(b []byte) {
	x := d.state
	for i := 0; i+8 <= len(b); i += 8 {
		x ^= x >> 12
		x ^= x << 25
		x ^= x >> 27
		binary.LittleEndian.PutUint64(b[i:], x*0x2545F4914F6CDD1D)
	}
	d.state = x
}

// pieceBlocks is how many blocks are drawn at a time: a multiple of 8, so that they
// are whole words.
const pieceBlocks = 1 << 12

// tensor draws a tensor: a norm is 1 and a bias 0, and a row of a matrix has the
// length 1 on average, so that what is multiplied with it keeps its size.
func (d *drawer) tensor(out *bufio.Writer, t Tensor) error {
	if t.Type == quant.F32 {
		one := make([]byte, 4)
		if t.Name[len(t.Name)-len("weight"):] == "weight" {
			binary.LittleEndian.PutUint32(one, math.Float32bits(1))
		}
		for range t.Values() {
			if _, err := out.Write(one); err != nil {
				return err
			}
		}
		return nil
	}
	values, size := t.Type.Block()
	blocks := t.Values() / int64(values)
	if need := pieceBlocks * size; cap(d.piece) < need {
		d.piece = make([]byte, need)
	}
	scales, ok := scalers[t.Type]
	if !ok {
		return fmt.Errorf("%v cannot be drawn", t.Type)
	}
	deviation := float32(1 / math.Sqrt(float64(t.Cols)))
	for blocks > 0 {
		n := min(blocks, pieceBlocks)
		piece := d.piece[:int(n)*size]
		d.fill(d.piece[:(len(piece)+7)&^7])
		for at := 0; at < len(piece); at += size {
			scales(piece[at:at+size], deviation)
		}
		if _, err := out.Write(piece); err != nil {
			return err
		}
		blocks -= n
	}
	return nil
}

// scalers put the scales into a block whose bytes were drawn, so that its values have
// the deviation, and the mean 0 or half a step beside it. Uniform whole numbers of n
// values have the deviation √((n²−1)/12).
var scalers = map[quant.Type]func(block []byte, deviation float32){
	quant.Q8_0: func(b []byte, deviation float32) { putHalf(b, deviation/73.9) },
	quant.Q5_0: func(b []byte, deviation float32) { putHalf(b, deviation/9.23) },
	// The scales of Q6_K's parts, of 8 bits, are set to 16.
	quant.Q6_K: func(b []byte, deviation float32) {
		for i := range 16 {
			b[192+i] = 16
		}
		putHalf(b[208:], deviation/(16*18.47))
	},
	// Scales and minima of Q4_K's parts, of 6 bits, are set to 32; numbers from 0 to
	// 15 have the mean 7.5.
	quant.Q4_K: func(b []byte, deviation float32) {
		d := deviation / (32 * 4.61)
		putHalf(b, d)
		putHalf(b[2:], 7.5*d)
		for i := range 8 {
			b[4+i] = 0x20 | 0x80 // two high bits of parts 4 to 7: 2, whose low ones follow
		}
		for i := range 4 {
			b[12+i] = 0
		}
	},
}

func putHalf(b []byte, v float32) { binary.LittleEndian.PutUint16(b, quant.FloatToHalf(v)) }
