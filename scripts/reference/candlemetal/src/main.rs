// run MODEL PASSES: records what candle asks of Metal when it builds MODEL and
// makes passes of so many tokens after one another ("13,1,1").
use candle_core::{quantized::gguf_file, DType, Device, Tensor};
use candle_transformers::models::quantized_llama::ModelWeights;
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let a: Vec<String> = std::env::args().collect();
    let section = |s: &str| objc2::record::line(&format!("section {s}"));
    section("device");
    let device = Device::new_metal(0)?;
    let mut f = std::io::BufReader::new(std::fs::File::open(&a[1])?);
    let ct = gguf_file::Content::read(&mut f)?;
    section("build");
    let mut m = ModelWeights::from_gguf(ct, &mut f, &device)?;
    section("synchronize");
    device.synchronize()?;
    let mut pos = 0;
    let mut err = None;
    for (i, n) in a[2].split(',').enumerate() {
        let n: usize = n.parse()?;
        section(if i == 0 { "prefill" } else { "decode" });
        let ids = Tensor::new(vec![0u32; n].as_slice(), &device)?.unsqueeze(0)?;
        let logits = match m.forward(&ids, pos) {
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
