//! JSON for people, from JSON for programs.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::convert::Infallible;

/// Octets that are handed over at once.
const PART: usize = 1 << 16;

/// A JSON text with line breaks and two spaces for each level, as Python's `json.dumps(..., indent=2)` writes them.
///
/// Python's own writer is fast only without line breaks. Raises ValueError where the text is not valid JSON.
#[pyfunction]
fn json_indented(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| {
        valid(text)?;
        let mut whole = String::with_capacity(2 * text.len());
        let Ok(()) = indent(text, |part| {
            whole.push_str(part);
            Ok::<(), Infallible>(())
        });
        Ok(whole)
    })
}

/// Calls `write` with the parts of the text that `json_indented` returns: a long text is never in memory as a whole.
///
/// Returns whether the text is valid JSON; if it is not, nothing is written. Raises what `write` raises.
#[pyfunction]
fn write_json_indented(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    write: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let Ok(text) = text.to_str() else { return Ok(false) };
    if py.detach(|| valid(text)).is_err() {
        return Ok(false);
    }
    indent(text, |part| write.call1((part,)).map(|_| ()))?;
    Ok(true)
}

fn valid(text: &str) -> PyResult<()> {
    serde_json::from_str::<serde::de::IgnoredAny>(text)
        .map(|_| ())
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Hands the text over with line breaks, in parts; `text` is valid JSON.
fn indent<E>(text: &str, mut put: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    let octets = text.as_bytes();
    let mut part = String::with_capacity(PART + PART / 4);
    let mut depth = 0_usize;
    // Texts of serde_json have at most 127 levels.
    let breaks = format!("\n{}", "  ".repeat(128));
    let line = |part: &mut String, depth: usize| part.push_str(&breaks[..=2 * depth.min(128)]);
    let mut at = 0;
    while let Some(octet) = octets.get(at) {
        match octet {
            b' ' | b'\n' | b'\r' | b'\t' => at += 1,
            b'{' | b'[' => {
                part.push(char::from(*octet));
                at += 1;
                while octets.get(at).is_some_and(u8::is_ascii_whitespace) {
                    at += 1;
                }
                match octets.get(at) {
                    Some(close @ (b'}' | b']')) => {
                        part.push(char::from(*close));
                        at += 1;
                    }
                    _ => {
                        depth += 1;
                        line(&mut part, depth);
                    }
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(&mut part, depth);
                part.push(char::from(*octet));
                at += 1;
            }
            b',' => {
                part.push(',');
                line(&mut part, depth);
                at += 1;
            }
            b':' => {
                part.push_str(": ");
                at += 1;
            }
            _ => {
                let end = if *octet == b'"' { string_end(octets, at) } else { word_end(octets, at) };
                part.push_str(&text[at..end]);
                at = end;
            }
        }
        if part.len() >= PART {
            put(&part)?;
            part.clear();
        }
    }
    if part.is_empty() { Ok(()) } else { put(&part) }
}

/// The end of the string that begins at `start` with a quotation mark: after the next one without a backslash before
/// it.
fn string_end(octets: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(octet) = octets.get(at) {
        match octet {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    octets.len()
}

/// The end of a number, `true`, `false` or `null`.
fn word_end(octets: &[u8], start: usize) -> usize {
    let rest = octets[start..].iter();
    start
        + rest
            .take_while(|octet| !matches!(octet, b',' | b']' | b'}') && !octet.is_ascii_whitespace())
            .count()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(json_indented, module)?)?;
    module.add_function(wrap_pyfunction!(write_json_indented, module)?)
}
