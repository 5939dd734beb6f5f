"""Instance data against the published modules, by libyang's ``yanglint``.

The modules are the user's: IEEE's files are not part of tsnbench.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from tsnbench.errors import BackendError, InputError

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
            # A component has one kind of stream filters.
            if f"dot1q-{name}-bridge" in text:
                found += more
    return found


def check(text: str, folder: Path, program: str = "yanglint") -> None:
    """Checks one `yang.xml` against the modules in a folder.

    Raises:
        InputError: a module is missing, or the data is not what the modules say.
        BackendError: there is no ``yanglint``.
    """
    found = shutil.which(program)
    if found is None:
        raise BackendError(f"{program}: not installed; Debian has it in libyang2-tools")
    names = modules(text)
    missing = [name for name in names if not (folder / f"{name}.yang").is_file()]
    if missing:
        raise InputError(f"{folder}: expected {missing[0]}.yang, found none")
    # yanglint wants what is inside of <config>.
    inner = "\n".join(text.splitlines()[2:-1])
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch) / "data.xml"
        data.write_text(inner, encoding="utf-8")
        done = subprocess.run(
            [
                found,
                "-p",
                str(folder),
                "-t",
                "config",
                "-i",
                *(str(folder / f"{name}.yang") for name in names),
                str(data),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise InputError(done.stderr.strip() or done.stdout.strip())
