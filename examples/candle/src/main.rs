//! Loads a GGUF file of an architecture that candle has a quantized model of (llama,
//! qwen2, qwen3, gemma3, phi3) and generates greedily, as candle's own examples do: one forward pass over the prompt, then one for
//! each token. It prints the prompt's ids to stderr and the generated ids to
//! stdout, each as soon as it is known.

use std::io::{BufReader, Write};
use std::time::Instant;

use anyhow::{bail, Context, Result};
use candle_core::quantized::gguf_file;
use candle_core::{Device, Tensor};
use candle_transformers::models::{
    quantized_gemma3, quantized_llama, quantized_phi3, quantized_qwen2, quantized_qwen3,
};

const USAGE: &str = "usage: candle-program MODEL [--prompt-ids 1,2,3 | --prompt-tokens N] [--tokens N] [--cpu]";

/// `<|im_start|>user\nWhat is Rust?<|im_end|>\n<|im_start|>assistant\n` to the
/// tokenizer of SmolLM2.
const PROMPT: [u32; 13] = [1, 4093, 198, 1780, 314, 36828, 47, 2, 198, 1, 520, 9531, 198];

struct Arguments {
    model: String,
    prompt: Vec<u32>,
    tokens: usize,
    cpu: bool,
}

fn arguments() -> Result<Arguments> {
    let (mut model, mut prompt, mut tokens, mut cpu) = (None, PROMPT.to_vec(), 20, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} wants a value; {USAGE}"));
        match word.as_str() {
            "--prompt-ids" => prompt = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
            // The prompt, repeated and cut: for a given length its words do not matter.
            "--prompt-tokens" => prompt = PROMPT.iter().copied().cycle().take(value()?.parse()?).collect(),
            "--tokens" => tokens = value()?.parse()?,
            "--cpu" => cpu = true,
            _ if !word.starts_with('-') && model.is_none() => model = Some(word),
            _ => bail!("{word:?} is not understood; {USAGE}"),
        }
    }
    if prompt.is_empty() {
        bail!("the prompt is empty; {USAGE}");
    }
    Ok(Arguments { model: model.context(USAGE)?, prompt, tokens, cpu })
}

/// One pass over ids that begin at a position: the logits of the last.
type Forward = Box<dyn FnMut(&Tensor, usize) -> candle_core::Result<Tensor>>;

/// candle's model of the architecture that the file names.
fn model(content: gguf_file::Content, file: &mut BufReader<std::fs::File>, device: &Device) -> Result<Forward> {
    let name = content.metadata.get("general.architecture").context("the file does not name its architecture")?;
    Ok(match name.to_string()?.as_str() {
        "llama" => {
            let mut m = quantized_llama::ModelWeights::from_gguf(content, file, device)?;
            Box::new(move |ids, position| m.forward(ids, position))
        }
        "qwen2" => {
            let mut m = quantized_qwen2::ModelWeights::from_gguf(content, file, device)?;
            Box::new(move |ids, position| m.forward(ids, position))
        }
        "qwen3" => {
            let mut m = quantized_qwen3::ModelWeights::from_gguf(content, file, device)?;
            Box::new(move |ids, position| m.forward(ids, position))
        }
        "gemma3" => {
            let mut m = quantized_gemma3::ModelWeights::from_gguf(content, file, device)?;
            Box::new(move |ids, position| m.forward(ids, position))
        }
        "phi3" => {
            let mut m = quantized_phi3::ModelWeights::from_gguf(false, content, file, device)?;
            Box::new(move |ids, position| m.forward(ids, position))
        }
        name => bail!("architecture {name:?}; llama, qwen2, qwen3, gemma3 and phi3 are run"),
    })
}

fn main() -> Result<()> {
    let a = arguments()?;
    let start = Instant::now();
    let device = if a.cpu { Device::Cpu } else { Device::new_metal(0)? };
    let opened = start.elapsed();

    let start = Instant::now();
    let mut file = BufReader::new(std::fs::File::open(&a.model).with_context(|| a.model.clone())?);
    let content = gguf_file::Content::read(&mut file)?;
    let mut forward = model(content, &mut file, &device)?;
    device.synchronize()?;
    eprintln!("device {opened:.1?}, model {:.1?}, prompt of {} tokens: {:?}", start.elapsed(), a.prompt.len(), a.prompt);

    let mut ids = a.prompt;
    let mut position = 0;
    let mut steps = Vec::new();
    for _ in 0..=a.tokens {
        let start = Instant::now();
        let input = Tensor::new(&ids[position..], &device)?.unsqueeze(0)?;
        let logits = forward(&input, position)?.squeeze(0)?;
        position = ids.len();
        // to_scalar copies the result back to the CPU, so it waits for the GPU.
        let next = logits.argmax(0)?.to_scalar::<u32>()?;
        steps.push(start.elapsed());
        ids.push(next);
        print!("{next} ");
        std::io::stdout().flush()?;
    }
    println!();
    let decode = steps[1..].iter().sum::<std::time::Duration>() / (steps.len() - 1).max(1) as u32;
    eprintln!("prefill {:.1?}, decode {decode:.1?} a token", steps[0]);
    Ok(())
}
