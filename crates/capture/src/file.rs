//! Opens files of other programs: regular files alone, because a FIFO or a device may never end.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Opens a regular file for reading. The kind of file is checked first, so that a FIFO does not block.
///
/// # Errors
/// The file cannot be opened, or is not a regular file.
pub fn open_regular(path: &Path) -> Result<File> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() {
        let what = if found.is_dir() { "a folder" } else { "a device, FIFO or socket" };
        return Err(Error::new(ErrorKind::InvalidInput, format!("expected a regular file, found {what}")));
    }
    File::open(path)
}

/// The text of a regular file of at most `most` octets.
///
/// # Errors
/// The file cannot be read, is larger, or is not UTF-8.
pub fn read_regular(path: &Path, most: u64) -> Result<String> {
    let mut text = String::new();
    let read = open_regular(path)?.take(most + 1).read_to_string(&mut text)?;
    if read as u64 > most {
        return Err(Error::new(
            ErrorKind::InvalidData,
            format!("expected at most {most} octets, found more"),
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_bearable_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "1234").unwrap();
        assert_eq!(read_regular(&path, 4).unwrap(), "1234");
        assert_eq!(read_regular(&path, 3).unwrap_err().to_string(), "expected at most 3 octets, found more");
        for (path, found) in
            [(folder.path(), "a folder"), (Path::new("/dev/zero"), "a device, FIFO or socket")]
        {
            let error = open_regular(path).unwrap_err().to_string();
            assert_eq!(error, format!("expected a regular file, found {found}"));
        }
        assert_eq!(open_regular(&folder.path().join("b")).unwrap_err().kind(), ErrorKind::NotFound);
        std::fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_regular(&path, 3).unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
