//! JSON for people, from JSON for programs.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A JSON text with line breaks and two spaces for each level, as Python's `json.dumps(..., indent=2)` writes them.
///
/// Python's own writer is fast only without line breaks. Raises ValueError where the text is not valid JSON.
#[pyfunction]
fn json_indented(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| indented(text)).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn indented(text: &str) -> Result<String, serde_json::Error> {
    serde_json::from_str::<serde::de::IgnoredAny>(text)?;
    let mut out = String::with_capacity(2 * text.len());
    let mut depth = 0_usize;
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        (0..depth).for_each(|_| out.push_str("  "));
    };
    let mut rest = text.trim_start();
    while let Some(letter) = rest.chars().next() {
        match letter {
            '"' => {
                let (string, behind) = rest.split_at(string_end(rest.as_bytes()));
                out.push_str(string);
                rest = behind.trim_start();
                continue;
            }
            '{' | '[' => {
                out.push(letter);
                let within = rest[1..].trim_start();
                if let Some(close) = within.chars().next().filter(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                    rest = within[1..].trim_start();
                    continue;
                }
                depth += 1;
                line(&mut out, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(',');
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                let end = rest.find(|c: char| ",]}: \n\r\t".contains(c)).unwrap_or(rest.len());
                out.push_str(&rest[..end]);
                rest = rest[end..].trim_start();
                continue;
            }
        }
        rest = rest[1..].trim_start();
    }
    Ok(out)
}

/// Where a string ends that begins with a quotation mark: after the next one without a backslash before it.
fn string_end(text: &[u8]) -> usize {
    let mut place = 1;
    while let Some(octet) = text.get(place) {
        match octet {
            b'"' => return place + 1,
            b'\\' => place += 2,
            _ => place += 1,
        }
    }
    text.len()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(json_indented, module)?)
}
