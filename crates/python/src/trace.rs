//! A flow of a capture as times and sizes.

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use tsn_capture::trace::{Address, Filter, TraceError, trace};
use tsn_capture::{Error, InterfaceId, Reader};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    vlan: Option<u16>,
    #[serde(default)]
    untagged: bool,
    pcp: Option<u8>,
    source: Option<String>,
    destination: Option<String>,
    udp: Option<u16>,
}

/// The begin of the capture, then the time of every frame and its octets from destination address to FCS, without a
/// tag. `interface`: the only one whose frames are taken.
#[pyfunction]
#[pyo3(signature = (file, filter_json, interface=None))]
fn capture_trace(
    py: Python<'_>,
    file: PathBuf,
    filter_json: &str,
    interface: Option<(Option<String>, u32, Option<u32>)>,
) -> PyResult<(i64, Vec<(i64, u32)>)> {
    let wrong = |problem: String| PyValueError::new_err(problem);
    let written: Written = serde_json::from_str(filter_json).map_err(|error| wrong(error.to_string()))?;
    let address = |text: Option<String>| text.map(|text| text.parse::<Address>().map_err(wrong)).transpose();
    let filter = Filter {
        vlan: if written.untagged { Some(None) } else { written.vlan.map(Some) },
        pcp: written.pcp,
        source: address(written.source)?,
        destination: address(written.destination)?,
        udp: written.udp,
    };
    let found = py.detach(|| {
        let mut reader = Reader::open(&file)?;
        if let Some((name, before, index)) = interface {
            reader = reader.only(InterfaceId { name, before, index });
        }
        trace(&mut reader, &filter)
    });
    let found = found.map_err(|error| match error {
        TraceError::Capture(Error::Io(error)) => PyOSError::new_err(error.to_string()),
        other => wrong(other.to_string()),
    })?;
    match found.warning {
        Some(warning) => Err(wrong(warning)),
        None => Ok((found.begin_ns, found.frames)),
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(capture_trace, module)?)
}
