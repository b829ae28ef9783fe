//! Token ids back to text, from the vocabulary that the GGUF file carries.

use std::collections::HashMap;

use candle_core::quantized::gguf_file::{Content, Value};
use candle_core::Result;

/// The printable stand-ins that byte-level BPE (GPT-2's `bytes_to_unicode`)
/// writes for bytes: printable Latin-1 stands for itself, every other byte for
/// the next free code point from U+0100.
fn byte_of_char() -> HashMap<char, u8> {
    let mut next = 256u32;
    (0..=255u8)
        .map(|b| {
            let printable = matches!(b, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
            let code = if printable {
                b as u32
            } else {
                next += 1;
                next - 1
            };
            (char::from_u32(code).expect("below U+0200"), b)
        })
        .collect()
}

fn pieces_to_text<'a>(pieces: impl Iterator<Item = &'a str>) -> String {
    let table = byte_of_char();
    let mut bytes = Vec::new();
    for c in pieces.flat_map(str::chars) {
        match table.get(&c) {
            Some(b) => bytes.push(*b),
            None => bytes.extend(c.to_string().as_bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The text of `ids`; an id outside the vocabulary is an error.
pub fn decode(content: &Content, ids: &[u32]) -> Result<String> {
    let tokens = match content.metadata.get("tokenizer.ggml.tokens") {
        Some(Value::Array(tokens)) => tokens,
        _ => candle_core::bail!("the file has no tokenizer.ggml.tokens array"),
    };
    let mut pieces = Vec::with_capacity(ids.len());
    for &id in ids {
        match tokens.get(id as usize) {
            Some(Value::String(piece)) => pieces.push(piece.as_str()),
            _ => candle_core::bail!("id {id} is not in the vocabulary of {}", tokens.len()),
        }
    }
    Ok(pieces_to_text(pieces.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_newlines_and_accents_come_back() {
        // Ġ is a blank, Ċ a newline, "Ã©" the two bytes of é: facts of GPT-2's table.
        let got = pieces_to_text(["Rust", "Ġis", "Ċ", "Ã©"].into_iter());
        assert_eq!(got, "Rust is\né");
    }

    #[test]
    fn the_table_covers_every_byte_once() {
        let table = byte_of_char();
        assert_eq!(table.len(), 256);
        assert_eq!(table[&'Ġ'], b' ');
        assert_eq!(table[&'ł'], 0xa0);
    }
}
