//! Errors of a disk as Python's `OSError` with its number, so that a caller can distinguish a full disk from a wrong
//! file.

use pyo3::PyErr;
use pyo3::exceptions::PyOSError;
use std::io;

/// An `OSError` with this text, and the system's number of the error where there is one.
pub(crate) fn os_error(text: String, from: Option<&io::Error>) -> PyErr {
    match from.and_then(io::Error::raw_os_error) {
        Some(number) => PyOSError::new_err((number, text)),
        None => PyOSError::new_err(text),
    }
}
