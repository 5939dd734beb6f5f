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
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let mut letters =
        text.chars().filter(|letter| !letter.is_ascii_whitespace() || *letter == ' ').peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        (0..depth).for_each(|_| out.push_str("  "));
    };
    while let Some(letter) = letters.next() {
        if quoted {
            out.push(letter);
            (quoted, escaped) = (letter != '"' || escaped, letter == '\\' && !escaped);
            continue;
        }
        match letter {
            '"' => {
                quoted = true;
                out.push('"');
            }
            ' ' => {}
            '{' | '[' => {
                out.push(letter);
                while letters.next_if_eq(&' ').is_some() {}
                if let Some(close) = letters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
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
            _ => out.push(letter),
        }
    }
    Ok(out)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(json_indented, module)?)
}
