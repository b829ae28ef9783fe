// run MODEL PASSES: records what candle asks of Metal when its model of the
// architecture that the file names is built from MODEL, and makes passes of so many
// tokens after one another ("13,1,1").
use candle_core::{quantized::gguf_file, DType, Device, Tensor};
use candle_transformers::models::{
    quantized_gemma3, quantized_llama, quantized_phi3, quantized_qwen2, quantized_qwen3,
};
type Forward = Box<dyn FnMut(&Tensor, usize) -> candle_core::Result<Tensor>>;
/// candle's model of the architecture that the file names.
fn model(
    ct: gguf_file::Content,
    f: &mut std::io::BufReader<std::fs::File>,
    d: &Device,
) -> Result<Forward, Box<dyn std::error::Error>> {
    let name = ct.metadata["general.architecture"].to_string()?.clone();
    Ok(match name.as_str() {
        "llama" => {
            let mut m = quantized_llama::ModelWeights::from_gguf(ct, f, d)?;
            Box::new(move |x, pos| m.forward(x, pos))
        }
        "qwen2" => {
            let mut m = quantized_qwen2::ModelWeights::from_gguf(ct, f, d)?;
            Box::new(move |x, pos| m.forward(x, pos))
        }
        "qwen3" => {
            let mut m = quantized_qwen3::ModelWeights::from_gguf(ct, f, d)?;
            Box::new(move |x, pos| m.forward(x, pos))
        }
        "gemma3" => {
            let mut m = quantized_gemma3::ModelWeights::from_gguf(ct, f, d)?;
            Box::new(move |x, pos| m.forward(x, pos))
        }
        "phi3" => {
            let mut m = quantized_phi3::ModelWeights::from_gguf(false, ct, f, d)?;
            Box::new(move |x, pos| m.forward(x, pos))
        }
        _ => return Err(format!("no model of the architecture {name}").into()),
    })
}
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let a: Vec<String> = std::env::args().collect();
    let section = |s: &str| objc2::record::line(&format!("section {s}"));
    section("device");
    let device = Device::new_metal(0)?;
    let mut f = std::io::BufReader::new(std::fs::File::open(&a[1])?);
    let ct = gguf_file::Content::read(&mut f)?;
    section("build");
    let mut forward = model(ct, &mut f, &device)?;
    section("synchronize");
    device.synchronize()?;
    let mut pos = 0;
    let mut err = None;
    for (i, n) in a[2].split(',').enumerate() {
        let n: usize = n.parse()?;
        section(if i == 0 { "prefill" } else { "decode" });
        let ids = Tensor::new(vec![0u32; n].as_slice(), &device)?.unsqueeze(0)?;
        let logits = match forward(&ids, pos) {
            Ok(l) => l,
            Err(e) => {
                err = Some(e);
                break;
            }
        };
        logits
            .squeeze(0)?
            .to_dtype(DType::F32)?
            .argmax(0)?
            .to_scalar::<u32>()?;
        pos += n;
    }
    objc2::record::flush();
    if let Some(e) = err {
        println!("candle: {e}");
    }
    Ok(())
}
