//! One peer of introgen: greedy generation with candle's quantized llama on
//! the CPU. It prints the lines that `introgen cpu` prints, timed in the same
//! places, so that one parser reads both.

mod args;
mod text;

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;
use std::time::{Duration, Instant};

use candle_core::quantized::gguf_file::Content;
use candle_core::{Device, Result, Tensor};
use candle_transformers::models::quantized_llama::ModelWeights;

use args::{Args, Reader};

/// What one round took, and the ids that it generated.
struct Round {
    read: Duration,
    build: Duration,
    steps: Vec<Duration>,
    ids: Vec<u32>,
}

fn ms(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}

fn generate<R: Read + Seek>(
    open: impl Fn() -> Result<R>,
    prompt: &[u32],
    steps: usize,
) -> Result<Round> {
    let device = Device::Cpu;
    let t = Instant::now();
    let mut reader = open()?;
    let content = Content::read(&mut reader)?;
    let read = t.elapsed();

    let t = Instant::now();
    let mut model = ModelWeights::from_gguf(content, &mut reader, &device)?;
    let build = t.elapsed();

    let mut ids = prompt.to_vec();
    let mut pos = 0;
    let mut times = Vec::with_capacity(steps + 1);
    for _ in 0..=steps {
        let t = Instant::now();
        let input = Tensor::new(&ids[pos..], &device)?.unsqueeze(0)?;
        let logits = model.forward(&input, pos)?.squeeze(0)?;
        pos = ids.len();
        let next = logits.argmax(0)?.to_scalar::<u32>()?;
        times.push(t.elapsed());
        ids.push(next);
    }
    Ok(Round {
        read,
        build,
        steps: times,
        ids: ids.split_off(prompt.len()),
    })
}

fn print_round(number: usize, prompt: usize, round: &Round) {
    let prefill = round.steps[0];
    let decode: Duration = round.steps[1..].iter().sum();
    let steps = round.steps.len() - 1;
    println!(
        "[cpu round {number}] read gguf {:.1} ms, build model {:.1} ms, prefill ({prompt} tokens) {:.1} ms, \
{steps} decode steps {:.1} ms (mean {:.1} ms), total {:.1} ms",
        ms(round.read),
        ms(round.build),
        ms(prefill),
        ms(decode),
        ms(decode) / steps as f64,
        ms(prefill + decode),
    );
    let each: Vec<String> = round.steps[1..]
        .iter()
        .map(|d| format!("{:.1}", ms(*d)))
        .collect();
    println!("[cpu round {number}] decode steps (ms): {}", each.join(" "));
}

fn run(args: &Args) -> Result<()> {
    let name = Path::new(&args.model).file_name().unwrap_or_default();
    println!(
        "# candle 0.11.0, {}, threads {}, reader {:?}, {}",
        name.to_string_lossy(),
        candle_core::utils::get_num_threads(),
        args.reader,
        if cfg!(target_feature = "avx2") {
            "avx2 compiled in"
        } else {
            "no avx2 compiled in"
        },
    );
    for number in 1..=args.rounds {
        let open = || Ok(File::open(&args.model)?);
        let round = match args.reader {
            Reader::File => generate(open, &args.ids, args.steps)?,
            Reader::Buffered => generate(|| open().map(BufReader::new), &args.ids, args.steps)?,
        };
        print_round(number, args.ids.len(), &round);
        if number == 1 {
            // Outside every timing: the vocabulary went into the model's Content.
            let content = Content::read(&mut BufReader::new(open()?))?;
            let text = text::decode(&content, &round.ids)?;
            println!("[cpu round 1] text: {text:?}");
            let ids: Vec<String> = round.ids.iter().map(u32::to_string).collect();
            println!("[cpu round 1] ids: {}", ids.join(" "));
        }
    }
    Ok(())
}

fn main() {
    let args = match args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(message) => {
            eprintln!("introgen-peer-candle: {message}");
            std::process::exit(2);
        }
    };
    if let Err(err) = run(&args) {
        eprintln!("introgen-peer-candle: {}: {err}", args.model);
        std::process::exit(1);
    }
}
