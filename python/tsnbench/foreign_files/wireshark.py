"""The dissector of tsnbench's test payload, for Wireshark and tshark."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from tsnbench import foreign
from tsnbench.errors import InputError

NAME = "tsnbench.lua"
FOLDER = ".local/lib/wireshark/plugins"
"""Below a person's home: where Wireshark looks for plugins of that person."""
_LARGEST = 1 << 20


def dissector() -> str:
    """The text of the dissector, in Lua."""
    return files(__package__).joinpath(NAME).read_text(encoding="utf-8")


def install(folder: Path | None = None) -> Path:
    """Writes the dissector, over an older one of tsnbench where there is one.

    Args:
        folder: where; the person's own folder of plugins unless given.

    Returns:
        The file.

    Raises:
        InputError: a file of somebody else has its name.
        OSError: the file cannot be written.
    """
    into = Path.home() / FOLDER if folder is None else folder
    path = into / NAME
    text = dissector()
    if path.exists():
        first = text.splitlines()[0]
        if not foreign.read_bytes(path, _LARGEST).startswith(first.encode()):
            raise InputError(f"{path}: expected a dissector of tsnbench or no file, found another file")
    into.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
