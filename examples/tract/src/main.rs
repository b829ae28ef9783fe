//! Runs one block of a transformer on tract's CPU backend and on its Metal
//! backend, and compares: normalisation, matrix product, softmax, product,
//! activation. It fails if they differ by more than rounding.

use tract_core::internal::*;
use tract_core::ops::einsum::prefix_matmul::PrefixMatMul;
use tract_core::ops::math::{add, mul};
use tract_core::ops::nn::silu::silu;
use tract_core::ops::nn::{RmsNorm, Softmax, SoftmaxKind};
use tract_core::runtime::runtime_for_name;
// The crate registers its runtime when it is linked.
use tract_metal as _;

/// Numbers in [-1, 1) that are the same in every run.
fn numbers(shape: &[usize], seed: u32) -> TractResult<Tensor> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    Tensor::from_shape(shape, &(0..shape.iter().product()).map(|_| next()).collect::<Vec<_>>())
}

fn product(transpose_b: bool) -> PrefixMatMul {
    PrefixMatMul { transpose_a: false, transpose_b, transpose_c: false, quantize_output: None, operating_dt: Some(f32::datum_type()) }
}

/// softmax(rms(x) · wᵀ / 8) · v, with SiLU and the residual added.
fn block(tokens: usize, width: usize, keys: usize) -> TractResult<TypedModel> {
    let mut model = TypedModel::default();
    let x = model.add_source("x", f32::fact([1, tokens, width]))?;
    let w = model.add_const("w", numbers(&[1, keys, width], 1)?)?;
    let v = model.add_const("v", numbers(&[1, keys, width], 2)?)?;
    let scale = model.add_const("scale", Tensor::from_shape(&[1, 1, 1], &[0.125f32])?)?;
    let eps = rctensor0(1e-5f32);
    let n = model.wire_node("norm", RmsNorm { axis: 2, eps }, &[x])?[0];
    let qk = model.wire_node("qk", product(true), &[n, w])?[0];
    let scaled = model.wire_node("scaled", mul(), &[qk, scale])?[0];
    let p = model.wire_node("softmax", Softmax { axes: tvec![2], quant_output_dt: None, kind: SoftmaxKind::default() }, &[scaled])?[0];
    let y = model.wire_node("pv", product(false), &[p, v])?[0];
    let s = model.wire_node("silu", silu(), &[y])?[0];
    let out = model.wire_node("residual", add(), &[s, x])?;
    model.select_output_outlets(&out)?;
    Ok(model)
}

fn run(name: &str, input: &Tensor, dims: (usize, usize, usize)) -> TractResult<Tensor> {
    let runtime = runtime_for_name(name)?.with_context(|| format!("tract has no runtime {name}"))?;
    let runnable = runtime.prepare(block(dims.0, dims.1, dims.2)?)?;
    Ok(runnable.run(tvec![input.clone().into_tvalue()])?.remove(0).into_tensor())
}

fn main() -> TractResult<()> {
    for dims in [(1, 64, 48), (13, 64, 96), (40, 192, 576)] {
        let input = numbers(&[1, dims.0, dims.1], 3)?;
        let cpu = run("default", &input, dims)?;
        let metal = run("metal", &input, dims)?;
        metal.close_enough(&cpu, Approximation::Close)?;
        println!("{dims:?}: {} numbers of the Metal backend are those of the CPU's", metal.len());
    }
    Ok(())
}
