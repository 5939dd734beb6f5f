"""The YANG model: which data a stream of the module can have. yangson judges them; nothing is judged twice.

The standard's modules are those of a folder; tsnbench has none of them, and one of its own. One stream is
judged at a time: the whole data store would take a hundred times as long.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tsnbench import foreign
from tsnbench.cnc.changes import SettingError
from tsnbench.cnc.restconf.patch import merged
from tsnbench.libraries import load, yangson

if TYPE_CHECKING:
    from tsnbench.foreign import Json

CNC = "ieee802-dot1q-cnc-config"
TYPES = "ieee802-dot1q-tsn-types"
INET = "ietf-inet-types"
OWN = "tsnbench-cnc"
"""Our module: what the service tells beside the standard's status."""
IN_FORCE = f"{OWN}:in-force-ns"
REASON = f"{OWN}:reason"
TOP = f"{CNC}:cnc-config"
STREAM = f"/{TOP}/domain/cuc/stream"
HERE = Path(__file__).parent
LARGEST_MODULE = 1 << 22
_REVISION = re.compile(r"^\s*revision\s+\"?(\d{4}-\d{2}-\d{2})", re.MULTILINE)
_NAMESPACE = re.compile(r"^\s*namespace\s+\"?([^\";\s]+)", re.MULTILINE)


class DataError(ValueError):
    """Data that the model does not allow: the path in the request, and why."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why


class Model:
    """The model of a folder with YANG modules.

    Args:
        folder: it has ``ieee802-dot1q-cnc-config.yang``, the types of TSN, and ``ietf-inet-types``.

    Raises:
        SettingError: a module is missing or cannot be used.
        ImportError: yangson is not installed.
    """

    def __init__(self, folder: Path) -> None:
        load(yangson)
        self._errors = yangson.exceptions.YangsonException
        self.modules = [_module(folder, CNC, "implement"), _module(folder, TYPES, "import")]
        self.modules.append(_module(folder, INET, "import"))
        self.modules.append(_module(HERE, OWN, "implement"))
        library = {"ietf-yang-library:modules-state": {"module-set-id": "cnc", "module": self.modules}}
        try:
            self._data = yangson.DataModel(json.dumps(library), (str(folder), str(HERE)))
        except (self._errors, OSError, ValueError) as error:
            raise SettingError(f"{folder}: expected modules that fit each other, found {error}") from None

    def check(self, domain: str, cuc: str, stream: Json) -> None:
        """Judges the configuration of one stream.

        Raises:
            DataError: the model does not allow it.
        """
        own = {"cuc-id": cuc, "stream": [stream]}
        raw = {TOP: {"domain": [{"domain-id": domain, "cuc": [own]}]}}
        try:
            found = self._data.from_raw(raw)
            kinds = yangson.enumerations
            found.validate(kinds.ValidationScope.all, kinds.ContentType.config)
        except self._errors as error:
            raise _told(error) from None
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
            # yangson meets values that it did not expect.
            raise DataError("", f"data of another shape ({type(error).__name__})") from None

    def merged(self, old: Json, new: Json) -> Json:
        """The configuration of a stream with another one merged into it; :meth:`check` judges the result."""
        return merged(self._data.get_data_node(STREAM), old, new)

    def has(self, names: Sequence[str]) -> bool:
        """Whether the module has a data node with this path below its top."""
        try:
            return self._data.get_data_node("/".join((f"/{TOP}", *names))) is not None
        except (self._errors, AttributeError):
            return False


def _told(error: Exception) -> DataError:
    """The path within the stream, and what is wrong there."""
    path = str(getattr(error, "path", "")) or str(error).partition("}")[0].lstrip("{")
    _, _, below = path.partition("/stream")
    _, _, inside = below.partition("/")
    tag, message = str(getattr(error, "tag", "")), str(getattr(error, "message", "unknown member"))
    why = f"{tag}: {message}" if tag else message
    return DataError(foreign.shown(inside), foreign.shown(why))


def _module(folder: Path, name: str, conformance: str) -> Json:
    """The entry of a module in the YANG library (RFC 7895)."""
    try:
        text = foreign.read_text(folder / f"{name}.yang", LARGEST_MODULE)
    except FileNotFoundError:
        raise SettingError(f"{folder}: expected the module {name}.yang, found none") from None
    revision, namespace = _REVISION.search(text), _NAMESPACE.search(text)
    if revision is None or namespace is None:
        raise SettingError(f"{folder}: expected a module in {name}.yang, found another text")
    return {
        "name": name,
        "revision": revision[1],
        "namespace": namespace[1],
        "conformance-type": conformance,
    }
