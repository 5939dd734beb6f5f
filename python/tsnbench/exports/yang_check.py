"""Instance data against the published modules, by libyang's ``yanglint``.

The user must have the modules: IEEE's files are not part of tsnbench.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tsnbench.errors import BackendError, ContentError
from tsnbench.plan.network import file_name

COMMON = (
    "ietf-interfaces",
    "iana-if-type",
    "ieee802-dot1cb-stream-identification",
    "ieee802-dot1cb-frer",
    "ieee1588-ptp-tt",
    "ieee802-dot1as-gptp",
)
BRIDGES = (
    "ieee802-dot1q-types",
    "ieee802-dot1q-bridge",
    "ieee802-dot1q-sched",
    "ieee802-dot1q-sched-bridge",
    "ieee802-dot1q-preemption-bridge",
    "ieee802-dot1q-cbsa-bridge",
)
FILTERS = {"psfp": ("ieee802-dot1q-psfp", "ieee802-dot1q-psfp-bridge"), "ats": ("ieee802-dot1q-ats-bridge",)}


def modules(text: str) -> list[str]:
    """The modules that a device with this data implements; end stations are no bridges."""
    found = list(COMMON)
    if "<bridges " in text:
        found += BRIDGES
        for name, more in FILTERS.items():
            # A bridge component in the data has one of the two kinds of stream filters.
            if f"dot1q-{name}-bridge" in text:
                found += more
    return found


def check(text: str, folder: Path, program: str = "yanglint") -> None:
    """Checks one `yang.xml` against the modules in a folder.

    Raises:
        InputError: a module is missing, or the data violates the modules.
        BackendError: ``yanglint`` is not installed.
    """
    check_all({"data": text}, folder, program)


def check_all(texts: Mapping[str, str], folder: Path, program: str = "yanglint") -> None:
    """Checks many texts by name, with one start of the program for each set of modules.

    Raises:
        InputError: a module is missing, or some data violates the modules.
        BackendError: ``yanglint`` is not installed.
    """
    found = shutil.which(program)
    if found is None:
        raise BackendError(f"{program}: not installed; Debian has it in libyang2-tools")
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, text in texts.items():
        groups.setdefault(tuple(modules(text)), []).append(name)
    for names in groups:
        missing = [name for name in names if not (folder / f"{name}.yang").is_file()]
        if missing:
            raise ContentError(f"{folder}: expected {missing[0]}.yang, found none")
    with tempfile.TemporaryDirectory() as scratch:
        for names, members in groups.items():
            files = []
            for number, name in enumerate(members):
                data = Path(scratch) / f"{number}-{file_name(name)}.xml"
                # yanglint expects the content of <config>.
                data.write_text("\n".join(texts[name].splitlines()[2:-1]), encoding="utf-8")
                files.append(str(data))
            done = subprocess.run(
                [
                    *(found, "-p", str(folder), "-t", "config", "-i"),
                    *(str(folder / f"{name}.yang") for name in names),
                    *files,
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise ContentError(done.stderr.strip() or done.stdout.strip())
