//! Python's values as JSON text, as Python's own `json.dumps` writes them without white space.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::fmt::Write;

/// Levels of lists and dictionaries, as many as `serde_json` reads. Without a limit, a list that holds itself would
/// overflow the stack.
const DEEPEST: usize = 128;

/// In which order the keys of a dictionary are written.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Keys {
    /// By code point: two dictionaries with equal values give the same text.
    Sorted,
    /// As they were inserted: quicker, for texts that are read once.
    AsTheyAre,
}

/// Appends the JSON of a value. Raises TypeError for what JSON has no form for, and ValueError for what is nested too
/// deeply.
pub(crate) fn write(out: &mut String, value: &Bound<'_, PyAny>, keys: Keys) -> PyResult<()> {
    below(out, value, keys, DEEPEST)
}

/// Appends the JSON of a value with at most `levels` of lists and dictionaries.
fn below(out: &mut String, value: &Bound<'_, PyAny>, keys: Keys, levels: usize) -> PyResult<()> {
    if let Ok(text) = value.cast::<PyString>() {
        quote(out, text.to_str()?);
    } else if value.is_exact_instance_of::<PyInt>() {
        number(out, value)?;
    } else if let Ok(dict) = value.cast::<PyDict>() {
        object(out, dict, keys, inner(levels)?)?;
    } else if let Ok(list) = value.cast::<PyList>() {
        array(out, list.iter(), keys, inner(levels)?)?;
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        array(out, tuple.iter(), keys, inner(levels)?)?;
    } else if value.is_none() {
        out.push_str("null");
    } else if value.is_instance_of::<PyBool>() {
        out.push_str(if value.is_truthy()? { "true" } else { "false" });
    } else if value.is_instance_of::<PyInt>() {
        number(out, value)?;
    } else if value.is_instance_of::<PyFloat>() {
        out.push_str(value.repr()?.to_str()?);
    } else {
        return Err(PyTypeError::new_err(format!("{} is no value of JSON", value.get_type().name()?)));
    }
    Ok(())
}

/// The levels that are left within a list or a dictionary.
fn inner(levels: usize) -> PyResult<usize> {
    levels
        .checked_sub(1)
        .ok_or_else(|| PyValueError::new_err(format!("more than {DEEPEST} levels are nested")))
}

fn number(out: &mut String, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match value.extract::<i64>() {
        Ok(small) => out.push_str(itoa::Buffer::new().format(small)),
        Err(_) => out.push_str(value.str()?.to_str()?),
    }
    Ok(())
}

fn array<'py>(
    out: &mut String,
    values: impl Iterator<Item = Bound<'py, PyAny>>,
    keys: Keys,
    levels: usize,
) -> PyResult<()> {
    out.push('[');
    for (place, value) in values.enumerate() {
        if place > 0 {
            out.push(',');
        }
        below(out, &value, keys, levels)?;
    }
    out.push(']');
    Ok(())
}

fn object(out: &mut String, dict: &Bound<'_, PyDict>, keys: Keys, levels: usize) -> PyResult<()> {
    let mut entries = Vec::with_capacity(dict.len());
    for (key, value) in dict.iter() {
        entries.push((key.cast_into::<PyString>()?, value));
    }
    if keys == Keys::Sorted {
        let mut texts = Vec::with_capacity(entries.len());
        for (place, (key, _)) in entries.iter().enumerate() {
            texts.push((key.to_str()?, place));
        }
        texts.sort_unstable();
        members(
            out,
            texts.iter().filter_map(|(key, place)| Some((*key, &entries.get(*place)?.1))),
            keys,
            levels,
        )
    } else {
        let mut texts = Vec::with_capacity(entries.len());
        for (key, value) in &entries {
            texts.push((key.to_str()?, value));
        }
        members(out, texts.into_iter(), keys, levels)
    }
}

fn members<'a, 'py: 'a>(
    out: &mut String,
    entries: impl Iterator<Item = (&'a str, &'a Bound<'py, PyAny>)>,
    keys: Keys,
    levels: usize,
) -> PyResult<()> {
    out.push('{');
    for (place, (key, value)) in entries.enumerate() {
        if place > 0 {
            out.push(',');
        }
        quote(out, key);
        out.push(':');
        below(out, value, keys, levels)?;
    }
    out.push('}');
    Ok(())
}

/// Appends a text with its quotation marks.
pub(crate) fn quote(out: &mut String, text: &str) {
    out.push('"');
    let mut written = 0;
    for (place, octet) in text.bytes().enumerate() {
        let short = match octet {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(&text[written..place]);
        if short.is_empty() {
            let _ = write!(out, "\\u{octet:04x}");
        } else {
            out.push_str(short);
        }
        written = place + 1;
    }
    out.push_str(&text[written..]);
    out.push('"');
}

/// The member that has the hash of all others.
pub(crate) const HASH: &str = "hash";

/// The members of a plan's document in their canonical order, without its content hash.
pub(crate) fn content<'py>(document: &Bound<'py, PyDict>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let mut members: Vec<(String, Bound<'_, PyAny>)> = document.items().extract()?;
    members.retain(|(key, _)| key != HASH);
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(members)
}

/// A value of strings, numbers, lists and dictionaries as JSON with sorted keys and no white space.
///
/// Raises TypeError for what JSON has no form for.
#[pyfunction]
fn canonical(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut out = String::new();
    write(&mut out, value, Keys::Sorted)?;
    Ok(out)
}

/// A value of strings, numbers, lists and dictionaries as JSON with keys in the order of insertion and no white space.
#[pyfunction]
fn compact(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut out = String::new();
    write(&mut out, value, Keys::AsTheyAre)?;
    Ok(out)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(canonical, module)?)?;
    module.add_function(wrap_pyfunction!(compact, module)?)
}
