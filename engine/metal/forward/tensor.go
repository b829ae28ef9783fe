package forward

// element is the type of a tensor's elements.
type element uint8

const (
	float32s element = iota
	float16s
	words32
	bytes8
)

// name is the type's in kernel names.
func (e element) name() string { return [...]string{"f32", "f16", "u32", "u8"}[e] }

// size is an element's in bytes.
func (e element) size() int { return [...]int{4, 2, 4, 1}[e] }

// each is how many elements a thread of an elementwise kernel takes
// (get_tile_size in candle-metal-kernels/src/utils.rs).
func (e element) each() int { return 8 / e.size() }

// tensor is a buffer seen in dimensions, as candle's Tensor with its Layout is: which
// kernel an operation takes, and whether it copies, depends on them. It holds no
// buffer by itself: who makes one releases it, and who is handed one that is held
// once more (contiguous, reshaped, cast) does too.
type tensor struct {
	buf     Buf
	element element
	offset  int // elements
	rank    int
	dims    [4]int
	strides [4]int // elements
}

// shaped is buf as a tensor of float32 whose elements follow each other.
func shaped(buf Buf, dims ...int) tensor {
	t := tensor{buf: buf, rank: len(dims)}
	copy(t.dims[:], dims)
	t.strides = rowMajor(t.rank, t.dims)
	return t
}

// rowMajor are the strides of elements that follow each other.
func rowMajor(rank int, dims [4]int) (strides [4]int) {
	n := 1
	for d := rank - 1; d >= 0; d-- {
		strides[d] = n
		n *= dims[d]
	}
	return strides
}

func (t tensor) as(e element) tensor {
	t.element = e
	return t
}

// of is another buffer of the same shape.
func (t tensor) of(buf Buf) tensor {
	t.buf = buf
	return t
}

// count is how many elements it shows.
func (t tensor) count() int {
	n := 1
	for _, d := range t.dims[:t.rank] {
		n *= d
	}
	return n
}

// bytes is where it begins in its buffer.
func (t tensor) bytes() int { return t.offset * t.element.size() }

func (t tensor) transposed(i, j int) tensor {
	t.dims[i], t.dims[j] = t.dims[j], t.dims[i]
	t.strides[i], t.strides[j] = t.strides[j], t.strides[i]
	return t
}

// narrowed is n of dimension d, from the given one on.
func (t tensor) narrowed(d, from, n int) tensor {
	t.offset += from * t.strides[d]
	t.dims[d] = n
	return t
}

// spread repeats it over the dimensions of another, without a copy.
func (t tensor) spread(over tensor) tensor {
	out := tensor{buf: t.buf, element: t.element, offset: t.offset, rank: over.rank, dims: over.dims}
	for d, added := 0, over.rank-t.rank; d < t.rank; d++ {
		if t.dims[d] == over.dims[d+added] {
			out.strides[d+added] = t.strides[d]
		}
	}
	return out
}

// contiguous says that the elements follow each other.
func (t tensor) contiguous() bool {
	n := 1
	for d := t.rank - 1; d >= 0; d-- {
		if t.dims[d] > 1 && t.strides[d] != n {
			return false
		}
		n *= t.dims[d]
	}
	return true
}

// scalar says that it shows one element, however often.
func (t tensor) scalar() bool {
	one, same := true, true
	for d := range t.rank {
		one = one && t.dims[d] == 1
		same = same && t.strides[d] == 0
	}
	return one || same
}

// blocks are the runs of elements that follow each other, if all of them lie equally
// far apart in the first dimension (Layout::strided_blocks).
func (t tensor) blocks() (length int, uniform bool) {
	length = 1
	d := t.rank - 1
	for ; d >= 0; d-- {
		if t.dims[d] == 1 {
			continue
		}
		if t.strides[d] != length {
			break
		}
		length *= t.dims[d]
	}
	return length, d == 0 && t.strides[t.rank-1] == 1
}

// fresh takes a buffer for a tensor.
func (b *builder) fresh(e element, dims ...int) tensor {
	t := shaped(0, dims...).as(e)
	t.buf = b.result(Step{Op: Alloc, Bytes: t.count() * e.size()})
	return t
}

// like takes a buffer for a tensor of t's dimensions.
func (b *builder) like(t tensor, e element) tensor { return b.fresh(e, t.dims[:t.rank]...) }

func (b *builder) read(index int, t tensor)  { b.in(index, t.buf, t.bytes()) }
func (b *builder) write(index int, t tensor) { b.out(index, t.buf, t.bytes()) }

// layout sets t's dimensions and the strides of tensors of these dimensions as
// arguments from index on, with their number before them.
func (b *builder) layout(index int, t tensor, more ...tensor) {
	b.u64(index, t.rank)
	b.u64(index+1, t.dims[:t.rank]...)
	b.u64(index+2, t.strides[:t.rank]...)
	for i, m := range more {
		b.u64(index+3+i, m.strides[:m.rank]...)
	}
}

// packed is t with elements that follow each other: t itself, held once more, where
// they do, else a copy.
func (b *builder) packed(t tensor) tensor {
	if t.contiguous() {
		b.hold(t.buf)
		return t // with the strides that it has
	}
	return b.reshaped(t, t.dims[:t.rank]...)
}

// reshaped is packed in other dimensions.
func (b *builder) reshaped(t tensor, dims ...int) tensor {
	if t.contiguous() {
		b.hold(t.buf)
		s := shaped(t.buf, dims...).as(t.element)
		s.offset = t.offset
		return s
	}
	out := b.fresh(t.element, dims...)
	b.copyInto(t, out, 0)
	return out
}

// cast is t in another type: t itself, held once more, where it has that.
func (b *builder) cast(t tensor, to element) tensor {
	if t.element == to {
		b.hold(t.buf)
		return t
	}
	out := b.like(t, to)
	b.begin("Cast", "cast_"+t.element.name()+"_"+to.name())
	b.u64(0, t.count())
	b.read(1, t)
	b.write(2, out)
	b.run(tiles(t.count(), t.element.each()))
	return out
}

// map1 is cos, sin, silu or another function of one element, of library Unary.
func (b *builder) map1(function string, t tensor) tensor {
	out := b.like(t, t.element)
	name := function + "_" + t.element.name()
	if !t.contiguous() {
		b.begin("Unary", name+"_strided")
		b.u64(0, t.count())
		b.layout(1, t)
		b.read(4, t)
		b.write(5, out)
		b.run(Linear(t.count()))
		return out
	}
	b.begin("Unary", name)
	b.u64(0, t.count())
	b.read(1, t)
	b.write(2, out)
	b.run(tiles(t.count(), t.element.each()))
	return out
}

// map2 is badd, bmul or eq of two tensors of the same dimensions. The kernel depends on
// how each lies (MetalStorage::binary).
func (b *builder) map2(function string, l, r tensor) tensor {
	var how string
	switch ls, rs, lc, rc := l.scalar(), r.scalar(), l.contiguous(), r.contiguous(); {
	case ls && rs:
		how = "_scalar"
	case ls && rc:
		how = "_sc"
	case ls:
		how = "_rss"
	case rs && lc:
		how = "_cs"
	case rs:
		how = "_lss"
	case lc && !rc:
		how = "_rstrided"
	case !lc && rc:
		how = "_lstrided"
	case !lc:
		how = "_strided"
	}
	to := l.element
	if function == "eq" {
		to = bytes8
	}
	out := b.like(l, to)
	b.begin("Binary", function+"_"+l.element.name()+how)
	b.u64(0, l.count())
	at := 1
	if how != "" {
		b.layout(1, l, r)
		at = 5
	}
	b.read(at, l)
	b.read(at+1, r)
	b.write(at+2, out)
	b.run(tiles(l.count(), l.element.each()))
	return out
}

// scaled is t times a number.
func (b *builder) scaled(t tensor, by float32) tensor {
	out := b.like(t, t.element)
	b.begin("Affine", "affine_"+t.element.name())
	b.u64(0, t.count())
	b.f32(1, by)
	b.f32(2, 0)
	b.read(3, t)
	b.write(4, out)
	b.run(tiles(t.count(), t.element.each()))
	return out
}

// turned is rope: value i of each head of t, heads × tokens × dim, is turned with value
// i+dim/2, by tables that begin at the first token's row.
func (b *builder) turned(t, cos, sin tensor) tensor {
	out := b.like(t, t.element)
	heads, tokens, dim := t.dims[1], t.dims[2], t.dims[3]
	b.begin("Reduce", "rope_"+t.element.name())
	b.label("rope")
	b.u64(0, heads)
	b.u64(1, tokens*dim)
	b.u64(2, dim)
	b.u64(3, 0)
	b.read(4, t)
	b.read(5, cos)
	b.read(6, sin)
	b.write(7, out)
	b.run(Linear(heads * tokens * dim / 2))
	return out
}

// normed is an RMS norm along the last dimension.
func (b *builder) normed(t tensor, alpha Buf, eps float32) tensor {
	out := b.like(t, t.element)
	n, cols := t.count(), t.dims[t.rank-1]
	b.begin("Reduce", "rmsnorm_f32")
	b.label("rmsnorm")
	b.u64(0, n)
	b.u64(1, cols)
	b.read(2, t)
	b.write(3, out)
	b.in(4, alpha, 0)
	b.f32(5, eps)
	b.run(Rows(n/cols, cols))
	return out
}

// weighed is a softmax along the last dimension.
func (b *builder) weighed(t tensor) tensor {
	out := b.like(t, t.element)
	cols := t.dims[t.rank-1]
	b.begin("Reduce", "softmax_f32")
	b.label("softmax")
	b.u64(0, t.count())
	b.u64(1, cols)
	b.read(2, t)
	b.write(3, out)
	b.run(Rows(t.count()/cols, cols))
	return out
}
