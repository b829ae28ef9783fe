//! Runs operations of candle on `Device::new_metal(0)` and on the CPU, and prints
//! a line for each: its name, how many numbers there are, the largest magnitude
//! among the CPU's, and the largest difference.

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{DType, Device, Module, Result, Tensor, D};
use candle_nn::ops::{rms_norm, sdpa, softmax_last_dim};
use candle_nn::rotary_emb::rope_i;

/// Numbers in [-1, 1) that are the same in every run and on every device.
fn numbers(device: &Device, shape: &[usize], seed: u32) -> Result<Tensor> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| next()).collect();
    Tensor::from_vec(values, shape, device)
}

fn quantized(device: &Device, rows: usize, kind: GgmlDType) -> Result<Tensor> {
    let weights = QTensor::quantize(&numbers(&Device::Cpu, &[64, 256], 5)?, kind)?;
    let file = weights.data()?.to_vec();
    let weights = QTensor::new(candle_core::quantized::QStorage::from_data(file.into(), device, kind)?, (64, 256))?;
    QMatMul::from_qtensor(weights)?.forward(&numbers(device, &[rows, 256], 6)?)
}

/// Attention of one query over 40 keys, which candle has one kernel for on Metal.
fn attention(device: &Device) -> Result<Tensor> {
    let (q, k, v) = (numbers(device, &[1, 9, 1, 64], 7)?, numbers(device, &[1, 3, 40, 64], 8)?, numbers(device, &[1, 3, 40, 64], 9)?);
    if device.is_metal() {
        return sdpa(&q, &k, &v, None, false, 0.125, 1.0);
    }
    let repeat = |t: Tensor| t.unsqueeze(2)?.expand((1, 3, 3, 40, 64))?.reshape((1, 9, 40, 64));
    let scores = (q.matmul(&repeat(k)?.t()?.contiguous()?)? * 0.125)?;
    softmax_last_dim(&scores)?.matmul(&repeat(v)?.contiguous()?)
}

type Operation = Box<dyn Fn(&Device) -> Result<Tensor>>;

fn operations() -> Vec<(&'static str, Operation)> {
    let n = |d: &Device, shape: &[usize], seed| numbers(d, shape, seed);
    vec![
        ("matmul", Box::new(move |d| n(d, &[33, 70], 1)?.matmul(&n(d, &[70, 45], 2)?))),
        ("matmul_batched", Box::new(move |d| n(d, &[3, 13, 64], 1)?.matmul(&n(d, &[3, 13, 64], 2)?.t()?))),
        ("softmax", Box::new(move |d| softmax_last_dim(&(n(d, &[7, 100], 3)? * 8.0)?))),
        ("rms_norm", Box::new(move |d| rms_norm(&n(d, &[5, 576], 3)?, &n(d, &[576], 4)?, 1e-5))),
        ("rope_i", Box::new(move |d| rope_i(&n(d, &[1, 3, 5, 64], 3)?, &n(d, &[5, 32], 4)?, &n(d, &[5, 32], 5)?))),
        ("silu", Box::new(move |d| n(d, &[3, 1000], 3)?.silu())),
        ("sum", Box::new(move |d| n(d, &[40, 123], 3)?.sum(D::Minus1))),
        ("argmax", Box::new(move |d| n(d, &[9, 500], 3)?.argmax(D::Minus1)?.to_dtype(DType::F32))),
        ("gather", Box::new(move |d| n(d, &[50, 20], 3)?.index_select(&Tensor::new(&[3u32, 0, 49, 7], d)?, 0))),
        ("half", Box::new(move |d| n(d, &[17, 31], 3)?.to_dtype(DType::F16)?.exp()?.to_dtype(DType::F32))),
        ("cat", Box::new(move |d| Tensor::cat(&[n(d, &[1, 3, 4, 64], 3)?, n(d, &[1, 3, 1, 64], 4)?], 2))),
        ("q8_0_row", Box::new(|d| quantized(d, 1, GgmlDType::Q8_0))),
        ("q8_0_rows", Box::new(|d| quantized(d, 5, GgmlDType::Q8_0))),
        ("q4_0_rows", Box::new(|d| quantized(d, 5, GgmlDType::Q4_0))),
        ("q6k_row", Box::new(|d| quantized(d, 1, GgmlDType::Q6K))),
        ("attention", Box::new(attention)),
    ]
}

fn main() -> Result<()> {
    let metal = Device::new_metal(0)?;
    for (name, operation) in operations() {
        let values = |d: &Device| operation(d)?.flatten_all()?.to_vec1::<f32>();
        let (cpu, gpu) = (values(&Device::Cpu)?, values(&metal)?);
        assert_eq!(cpu.len(), gpu.len(), "{name}");
        let largest = cpu.iter().fold(0f32, |m, v| m.max(v.abs()));
        let difference = cpu.iter().zip(&gpu).fold(0f32, |m, (a, b)| if a == b { m } else { m.max((a - b).abs()) });
        println!("{name} {} {largest:e} {difference:e}", cpu.len());
    }
    Ok(())
}
