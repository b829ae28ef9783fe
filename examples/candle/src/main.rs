//! Loads a GGUF file of the llama architecture and generates greedily, as
//! candle's own examples do: one forward pass over the prompt, then one for
//! each token. It prints the prompt's ids to stderr and the generated ids to
//! stdout, each as soon as it is known.

use std::io::{BufReader, Write};
use std::time::Instant;

use anyhow::{bail, Context, Result};
use candle_core::quantized::gguf_file;
use candle_core::{Device, Tensor};
use candle_transformers::models::quantized_llama::ModelWeights;

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

fn main() -> Result<()> {
    let a = arguments()?;
    let start = Instant::now();
    let device = if a.cpu { Device::Cpu } else { Device::new_metal(0)? };
    let opened = start.elapsed();

    let start = Instant::now();
    let mut file = BufReader::new(std::fs::File::open(&a.model).with_context(|| a.model.clone())?);
    let content = gguf_file::Content::read(&mut file)?;
    let mut model = ModelWeights::from_gguf(content, &mut file, &device)?;
    device.synchronize()?;
    eprintln!("device {opened:.1?}, model {:.1?}, prompt of {} tokens: {:?}", start.elapsed(), a.prompt.len(), a.prompt);

    let mut ids = a.prompt;
    let mut position = 0;
    let mut steps = Vec::new();
    for _ in 0..=a.tokens {
        let start = Instant::now();
        let input = Tensor::new(&ids[position..], &device)?.unsqueeze(0)?;
        let logits = model.forward(&input, position)?.squeeze(0)?;
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
