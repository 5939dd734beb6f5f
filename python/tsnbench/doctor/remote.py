"""This machine, or another one over ssh: a shell script runs there and returns the answers.

It needs only a POSIX shell; missing programs and files are missing answers. Nothing is changed except
for a scratch namespace, which is removed afterwards.
"""

from __future__ import annotations

import shlex
import subprocess
import time

from tsnbench.backends.netns import probe, sandbox
from tsnbench.backends.vm import initramfs, machine
from tsnbench.doctor.host import FILES, SAID, SAID_OF_INTERFACES, Host
from tsnbench.errors import BackendError, InputError
from tsnbench.hosts.remote.reach import Ssh

LIMIT_S = 90
_END = "the end"
_SCRIPT = r"""LC_ALL=C; PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin; export LC_ALL PATH
tell() { printf '@%s\n' "$1"; sed 's/^/|/'; echo; }
limited() { if command -v timeout >/dev/null; then timeout 5 "$@"; else "$@"; fi; }
said() { name=$1; shift; words=$(limited "$@" 2>/dev/null) && printf '%s\n' "$words" | tell "said $name"; }
uname -r | tell release
cat /proc/self/status | tell status
for one in PROGRAMS; do command -v $one >/dev/null && echo $one; done | tell programs
for one in /sys/class/net/*; do
    [ -d "$one/" ] || continue
    set -- "$one"/queues/tx-*; [ -e "$1" ] || shift
    echo "${one##*/} $#"
done | tell interfaces
for one in FILES; do [ -r "$one" ] && cat "$one" 2>/dev/null | tell "file $one"; done
SAID
for one in /sys/class/net/*; do
    [ -d "$one/" ] || continue
    one=${one##*/}
OF_INTERFACES
done
python3 -c 'import time
ahead = time.clock_gettime(time.CLOCK_TAI) - time.clock_gettime(time.CLOCK_REALTIME)
print(round(ahead))' 2>/dev/null | tell tai
if command -v unshare >/dev/null && command -v ip >/dev/null && command -v tc >/dev/null; then
    unshare --net --mount --pid --fork --mount-proc sh -c TRIALS 2>&1 </dev/null | tell trials
fi
echo | tell 'END'
"""


def here() -> Host:
    """The answers of this machine.

    Raises:
        BackendError: the script did not end in time.
    """
    sections, _ = _answers("this machine", ["sh", "-s"])
    ahead = time.clock_gettime(time.CLOCK_TAI) - time.clock_gettime(time.CLOCK_REALTIME)
    return Host(sections | {"tai": f"{round(ahead)}"})


def ask(host: str) -> Host:
    """The answers of another machine.

    Raises:
        InputError: the name is no name of a host.
        BackendError: ssh is not installed here, or the machine did not answer.
    """
    try:
        way = Ssh(host)
        told = way.command(["sh", "-s"])
    except InputError as error:
        raise InputError(f"--host: {error}") from None
    except BackendError as error:
        raise BackendError(f"--host {host}: {error}") from None
    sections, done = _answers(f"--host {host}", told)
    if _END not in sections:
        raise BackendError(
            f"--host {host}: {_why(way, done.returncode, done.stderr.decode(errors='replace'))}"
        )
    return Host(sections)


def _answers(whose: str, command: list[str]) -> tuple[dict[str, str], subprocess.CompletedProcess[bytes]]:
    """The sections that a shell prints, which the command starts."""
    try:
        done = subprocess.run(
            command, input=script().encode(), capture_output=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise BackendError(f"{whose}: has not answered after {LIMIT_S} s") from error
    return read(done.stdout.decode(errors="replace")), done


def script() -> str:
    """A script for any POSIX shell."""
    programs = sorted({*sandbox.TOOLS, *initramfs.TOOLS, machine.QEMU})
    of_interfaces = "\n".join(f'    said "{words} $one" {words} "$one"' for words in SAID_OF_INTERFACES)
    said = "\n".join(f"said {shlex.quote(' '.join(shlex.split(words)))} {words}" for words in SAID)
    # The longest words come first, so that none of them is a part of an inserted text.
    return (
        _SCRIPT.replace("PROGRAMS", " ".join(programs))
        .replace("OF_INTERFACES", of_interfaces)
        .replace("FILES", " ".join(FILES))
        .replace("SAID", said, 1)
        .replace("TRIALS", shlex.quote(probe.script()))
        .replace("'END'", shlex.quote(_END))
    )


def read(text: str) -> dict[str, str]:
    """Sections by name; other output of a login is left out."""
    found: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in text.splitlines():
        if line.startswith("@"):
            lines = found.setdefault(line[1:], [])
        elif line.startswith("|") and lines is not None:
            lines.append(line[1:])
        else:
            lines = None
    return {name: "".join(f"{line}\n" for line in lines) for name, lines in found.items()}


def _why(way: Ssh, code: int, said: str) -> str:
    if why := way.explain(code, said):
        return why
    last = next((line for line in reversed(said.strip().splitlines()) if line.strip()), "nothing")
    what = f"its shell did not run the commands (exit code {code}): {last.strip()}"
    return f"{what}\nhint: it takes a POSIX shell there"
