//! The command line of the peer.

/// `<|im_start|>user\nWhat is Rust?<|im_end|>\n<|im_start|>assistant\n` as
/// SmolLM2's tokenizer splits it. Ids are passed, not text, so that no
/// tokenizer is needed here and every engine gets the very same input.
pub const DEFAULT_IDS: [u32; 13] = [
    1, 4093, 198, 1780, 314, 36828, 47, 2, 198, 1, 520, 9531, 198,
];

pub const USAGE: &str = "usage: introgen-peer-candle --model FILE [--rounds 3] [--steps 20] \
[--reader file|buffered] [--ids 1,4093,198]";

/// How the header and the tensors are read from the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reader {
    /// `std::fs::File` itself, as in the experiment: one system call a value.
    File,
    /// `std::io::BufReader` around it.
    Buffered,
}

#[derive(Debug, PartialEq)]
pub struct Args {
    pub model: String,
    pub rounds: usize,
    pub steps: usize,
    pub reader: Reader,
    pub ids: Vec<u32>,
}

fn number(flag: &str, value: &str, least: usize) -> Result<usize, String> {
    match value.parse::<usize>() {
        Ok(n) if n >= least => Ok(n),
        _ => Err(format!(
            "{flag} is {value:?}: a whole number of at least {least} is allowed"
        )),
    }
}

fn parse_ids(value: &str) -> Result<Vec<u32>, String> {
    let ids: Result<Vec<u32>, _> = value
        .split(|c: char| c == ',' || c.is_whitespace())
        .filter(|s| !s.is_empty())
        .map(str::parse::<u32>)
        .collect();
    match ids {
        Ok(ids) if !ids.is_empty() => Ok(ids),
        _ => Err(format!(
            "--ids is {value:?}: token ids separated by commas or blanks are allowed"
        )),
    }
}

pub fn parse(args: impl IntoIterator<Item = String>) -> Result<Args, String> {
    let mut out = Args {
        model: String::new(),
        rounds: 3,
        steps: 20,
        reader: Reader::File,
        ids: DEFAULT_IDS.to_vec(),
    };
    let mut args = args.into_iter();
    while let Some(flag) = args.next() {
        let value = args
            .next()
            .ok_or_else(|| format!("{flag} needs a value\n{USAGE}"))?;
        match flag.as_str() {
            "--model" => out.model = value,
            "--rounds" => out.rounds = number(&flag, &value, 1)?,
            "--steps" => out.steps = number(&flag, &value, 1)?,
            "--ids" => out.ids = parse_ids(&value)?,
            "--reader" => {
                out.reader = match value.as_str() {
                    "file" => Reader::File,
                    "buffered" => Reader::Buffered,
                    _ => {
                        return Err(format!(
                            "--reader is {value:?}: file or buffered is allowed"
                        ))
                    }
                }
            }
            _ => return Err(format!("unknown flag {flag}\n{USAGE}")),
        }
    }
    if out.model.is_empty() {
        return Err(format!("--model is missing\n{USAGE}"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(s: &str) -> Vec<String> {
        s.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn defaults_are_the_experiments() {
        let got = parse(words("--model m.gguf")).unwrap();
        assert_eq!((got.rounds, got.steps, got.ids.len()), (3, 20, 13));
        assert_eq!(got.reader, Reader::File);
    }

    #[test]
    fn every_flag_is_read() {
        let line = "--model m --rounds 2 --steps 4 --reader buffered --ids 7,8";
        let want = Args {
            model: "m".into(),
            rounds: 2,
            steps: 4,
            reader: Reader::Buffered,
            ids: vec![7, 8],
        };
        assert_eq!(parse(words(line)).unwrap(), want);
    }

    #[test]
    fn bad_input_names_the_flag() {
        for (line, word) in [
            ("", "--model"),
            ("--model m --rounds 0", "--rounds"),
            ("--model m --steps x", "--steps"),
            ("--model m --ids ,", "--ids"),
            ("--model m --reader mmap", "--reader"),
            ("--model m --fast 1", "--fast"),
            ("--model", "--model"),
        ] {
            let err = parse(words(line)).unwrap_err();
            assert!(err.contains(word), "{line:?} gave {err:?}");
        }
    }
}
