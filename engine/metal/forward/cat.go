package forward

import "github.com/introgen/introgen/metalshim"

// cat joins tensors along a dimension, as Tensor::cat does. Where one of them is a view
// that is not copied row by row, all are joined along the first dimension instead, and
// the result is a view of that.
func (b *builder) cat(d int, args ...tensor) tensor {
	rows := true
	for _, t := range args {
		_, ok := t.outerStride(d)
		rows = rows && (t.contiguous() || ok)
	}
	if rows {
		return b.catRows(d, args)
	}
	turned := make([]tensor, len(args))
	for i, t := range args {
		turned[i] = t.transposed(0, d)
	}
	return b.catFirst(turned).transposed(0, d)
}

// joined are the dimensions of what is joined along dimension d.
func joined(d int, args []tensor) tensor {
	t := args[0]
	t.dims[d] = 0
	for _, a := range args {
		t.dims[d] += a.dims[d]
	}
	return t
}

// catRows copies rows (Tensor::cat_contiguous).
func (b *builder) catRows(d int, args []tensor) tensor {
	all := joined(d, args)
	out := b.like(all, all.element)
	block, at := 1, 0
	for _, n := range all.dims[d+1 : all.rank] {
		block *= n
	}
	for _, t := range args {
		length := block * t.dims[d]
		apart, ok := t.outerStride(d)
		if t.contiguous() || !ok {
			apart = length
		}
		b.copyRows(t.buf, t.bytes(), out.buf, at*out.element.size(), t.count()/max(length, 1), length, apart, block*all.dims[d])
		at += length
	}
	return out
}

// catFirst copies tensors one after another (Tensor::cat0).
func (b *builder) catFirst(args []tensor) tensor {
	all := joined(0, args)
	out := b.like(all, all.element)
	at := 0
	for _, t := range args {
		b.copyInto(t, out, at)
		at += t.count()
	}
	return out
}

// copyInto copies t's elements one after another to out, from element at on
// (MetalStorage::copy_strided_src).
func (b *builder) copyInto(t, out tensor, at int) {
	to := at * out.element.size()
	if t.contiguous() {
		b.blit(t.buf, out.buf, t.bytes(), to, t.count()*t.element.size(), "copy_contiguous")
		return
	}
	if length, uniform := t.blocks(); uniform {
		b.copyRows(t.buf, t.bytes(), out.buf, to, t.dims[0], length, t.strides[0], length)
		return
	}
	b.begin("Unary", "copy_"+t.element.name()+"_strided")
	b.u64(0, t.count())
	b.layout(1, t)
	b.read(4, t)
	b.out(5, out.buf, to)
	b.run(Linear(t.count()))
}

// outerStride is how far apart the rows lie that end with dimensions d and later, where
// each is whole and all are equally far apart (Layout::outer_stride_for_dim).
func (t tensor) outerStride(d int) (int, bool) {
	apart := 1
	for i := t.rank - 1; i >= d; i-- {
		if t.strides[i] != apart {
			return 0, false
		}
		apart *= t.dims[i]
	}
	if d == 0 {
		return apart, true
	}
	apart = t.strides[d-1]
	for i, outer := d-2, apart; i >= 0; i-- {
		outer *= t.dims[i+1]
		if t.strides[i] != outer {
			return 0, false
		}
	}
	return apart, true
}

// sliceSet copies t, which is contiguous, to place at of dimension d of all
// (Tensor::slice_set).
func (b *builder) sliceSet(all, t tensor, d, at int) {
	block, rows := 1, 1
	for _, n := range t.dims[d+1 : t.rank] {
		block *= n
	}
	for _, n := range t.dims[:d] {
		rows *= n
	}
	length, size := block*t.dims[d], t.element.size()
	from, to := t.bytes(), all.bytes()+at*block*size
	if all.dims[d] == t.dims[d] {
		b.blit(t.buf, all.buf, from, to, rows*length*size, "copy2d_contiguous")
		return
	}
	b.copyRows(t.buf, from, all.buf, to, rows, length, length, block*all.dims[d])
}

// repeated puts each head's keys or values as often after one another as heads of
// queries share them: t itself, held once more, where that is once (repeat_kv in
// candle-transformers/src/utils.rs).
func (p *Planner) repeated(t tensor) tensor {
	group := p.config.Heads / t.dims[1]
	if group == 1 {
		p.hold(t.buf)
		return t
	}
	copies := make([]tensor, group)
	for i := range copies {
		copies[i] = t
	}
	all := p.cat(2, copies...)
	out := p.reshaped(all, t.dims[0], t.dims[1]*group, t.dims[2], t.dims[3])
	p.release(all.buf)
	return out
}

// chosen is of each element yes, where the condition, in bytes, is not 0, else no
// (MetalStorage::where_cond).
func (b *builder) chosen(condition, yes, no tensor) tensor {
	out := b.like(no, no.element)
	b.begin("Ternary", "where_u8_f32")
	b.constants(
		metalshim.BoolConstant(0, condition.contiguous()),
		metalshim.BoolConstant(1, yes.contiguous()),
		metalshim.BoolConstant(2, no.contiguous()),
	)
	b.u64(0, no.count())
	b.u64(1, no.rank)
	b.u64(2, no.dims[:no.rank]...)
	b.u64(3, condition.strides[:condition.rank]...)
	b.u64(4, yes.strides[:yes.rank]...)
	b.u64(5, no.strides[:no.rank]...)
	b.read(6, condition)
	b.read(7, yes)
	b.read(8, no)
	b.write(9, out)
	b.run(tiles(no.count(), no.element.each()))
	return out
}
