"""The dissector of tsnbench's test payload and of TRDP, for Wireshark and tshark."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from tsnbench import foreign
from tsnbench.errors import InputError

NAME = "tsnbench.lua"
FOLDER = ".local/lib/wireshark/plugins"
"""Below a person's home: where Wireshark looks for plugins of that person."""
_LARGEST = 1 << 20


PROFILE = "tsnbench"
"""Of Wireshark: ``wireshark -C tsnbench`` shows the columns below."""
COLUMNS = (
    ("No.", "%m"),
    ("Time", "%t"),
    ("Source", "%s"),
    ("Destination", "%d"),
    ("Protocol", "%p"),
    ("Stream", "%Cus:tsnbench.name or tsnbench.trdp.comid:0:R"),
    ("Sequence", "%Cus:tsnbench.sequence or tsnbench.trdp.sequence:0:R"),
    ("Intended (ns)", "%Cus:tsnbench.intended:0:R"),
    ("Late (ns)", "%Cus:tsnbench.late:0:R"),
    ("Length", "%L"),
    ("Info", "%i"),
)
_MARK = "# Written by tsnbench wireshark install."
_NO_NAMES = "local names = {}\n"


def dissector(names: Sequence[str] = ()) -> str:
    """The text of the dissector, in Lua.

    Args:
        names: the names of a Plan's streams, in the order of the Plan.
    """
    text = files(__package__).joinpath(NAME).read_text(encoding="utf-8")
    rows = "".join(f"    [{number}] = {_quoted(name)},\n" for number, name in enumerate(names))
    return text.replace(_NO_NAMES, f"local names = {{\n{rows}}}\n") if names else text


def _quoted(name: str) -> str:
    """A string of Lua in which every octet except letters and digits is an escape."""
    plain = "".join(
        chr(octet) if chr(octet).isascii() and chr(octet).isalnum() else f"\\{octet:03}"
        for octet in name.encode("utf-8")
    )
    return f'"{plain}"'


def profile() -> str:
    """The preferences of the profile: its columns."""
    rows = ",\n".join(f'\t"{title}", "{what}"' for title, what in COLUMNS)
    return f"{_MARK}\ngui.column.format: \n{rows}\n"


def install(folder: Path | None = None, names: Sequence[str] = ()) -> list[Path]:
    """Writes the dissector and the profile; earlier files of tsnbench are replaced.

    Args:
        folder: the folder of the dissector, which is then written without the profile; by default the user's
        own folders.
        names: the names of a Plan's streams.

    Returns:
        The paths of the files.

    Raises:
        InputError: a file with such a name exists that tsnbench has not written.
        OSError: a file cannot be written.
    """
    text = dissector(names)
    wanted = [((Path.home() / FOLDER if folder is None else folder) / NAME, text, text.splitlines()[0])]
    if folder is None:
        home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        wanted.append((home / "wireshark/profiles" / PROFILE / "preferences", profile(), _MARK))
    for path, _, first in wanted:
        if path.exists() and not foreign.read_bytes(path, _LARGEST).startswith(first.encode()):
            raise InputError(f"{path}: expected a file of tsnbench or no file, found another file")
    for path, content, _ in wanted:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return [path for path, _, _ in wanted]
