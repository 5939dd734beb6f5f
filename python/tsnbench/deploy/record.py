"""A file with the earlier configuration of devices, from which it can be restored."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsnbench import foreign
from tsnbench.deploy.changes import Change
from tsnbench.deploy.tree import Node, UnreadableXmlError, read
from tsnbench.deploy.tree import Path as Place
from tsnbench.errors import ContentError

if TYPE_CHECKING:
    from tsnbench.foreign import Json

FORMAT = "tsnbench-deploy/1"


@dataclass
class Entry:
    """One device: its address, and each place that was changed."""

    node: str
    host: str
    port: int
    changes: list[Change]


@dataclass
class Record:
    """One deployment."""

    scenario: str
    plan: str
    """The Plan's hash."""
    state: str
    entries: list[Entry] = field(default_factory=list)

    def document(self) -> Json:
        return {
            "format": FORMAT,
            "scenario": self.scenario,
            "plan": self.plan,
            "state": self.state,
            "devices": [
                {
                    "node": one.node,
                    "host": one.host,
                    "port": one.port,
                    "changes": [
                        {
                            "path": [
                                [space, name, [list(key) for key in keys]]
                                for space, name, keys in change.path
                            ],
                            "before": change.before.text_of() if change.before else None,
                            "after": change.after.text_of() if change.after else None,
                        }
                        for change in one.changes
                    ],
                }
                for one in self.entries
            ],
        }

    def create(self, path: Path) -> Path:
        """Writes a new file; if the name exists, the new file has another number, so no record is
        overwritten.
        """
        number = 1
        while True:
            name = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
            try:
                descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                number += 1
                continue
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(self._text())
                file.flush()
                os.fsync(file.fileno())
            return name

    def update(self, path: Path, state: str) -> None:
        """Notes how the deployment ended. The new file replaces the old one in one step."""
        self.state = state
        scratch = path.with_name(f".{path.name}.new")
        scratch.write_text(self._text(), encoding="utf-8")
        scratch.replace(path)

    def _text(self) -> str:
        return json.dumps(self.document(), indent=1, ensure_ascii=False) + "\n"


def load(path: Path) -> Record:
    """Reads a record from its file.

    Raises:
        InputError: the file is no record.
    """
    try:
        document = foreign.read_json(path)
    except foreign.UnusableFileError as error:
        raise ContentError(f"{path}: expected a record of `tsnbench deploy`, found {error.found}") from None
    try:
        if document["format"] != FORMAT:
            raise ContentError(
                f"{path}: expected a record of the format {FORMAT}, found {document['format']}"
            )
        entries = [
            Entry(
                str(one["node"]),
                str(one["host"]),
                _port(one["port"]),
                [
                    Change(_place(row["path"]), _tree(row["before"]), _tree(row["after"]))
                    for row in _list(one["changes"])
                ],
            )
            for one in _list(document["devices"])
        ]
        return Record(str(document["scenario"]), str(document["plan"]), str(document["state"]), entries)
    except (KeyError, TypeError, IndexError, AttributeError):
        raise ContentError(
            f"{path}: expected a record of `tsnbench deploy`, found JSON without the keys of one"
        ) from None
    except (ValueError, OverflowError, UnreadableXmlError) as error:
        raise ContentError(f"{path}: expected a record of `tsnbench deploy`, found {error}") from None


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, found {type(value).__name__}")
    return value


def _port(value: Any) -> int:
    if not isinstance(value, int) or not 0 < value < 1 << 16:
        raise ValueError(f"expected a port from 1 to 65535, found {value!r}")
    return value


def _place(steps: list[Any]) -> Place:
    if not steps:
        raise ValueError("a change without a place")
    return tuple(
        (str(space), str(name), tuple((str(key), str(value)) for key, value in keys))
        for space, name, keys in steps
    )


def _tree(text: str | None) -> Node | None:
    return None if text is None else read(text)
