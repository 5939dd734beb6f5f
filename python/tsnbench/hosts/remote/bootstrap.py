"""From a login to an agent: a line for a POSIX shell that reads the program from standard input, and runs it.

Nothing has to be installed on the host. The program is stored where programs may run, in a folder of its own,
which it removes itself; captures are kept there until they are fetched.
"""

from __future__ import annotations

import hashlib

from tsnbench import quantities

WRONG_MACHINE, NO_PLACE, NO_ROOT, NO_ROOM, NOT_WHOLE = 71, 72, 73, 74, 75
"""Exit codes of the line; the agent's own is 3 if another controller holds the host."""

# The line has no single quotes and no `!`, because every login shell must accept it in single quotes. The
# file `of` in the folder names the shell, which becomes the agent: its number, and when it began. The folder
# of a process that is gone was left by a controller that was killed while it sent the program.
_LINE = """\
umask 077
born() { read -r line <"/proc/$1/stat" || return; set -- ${line##*) }; echo "${20}"; }
[ "$(uname -m)" = "$2" ] || { echo "tsnbench-machine $(uname -m)" >&2; exit 71; }
[ "$(id -u)" = 0 ] || { echo "tsnbench-user $(id -un)" >&2; exit 73; }
need=$(($1 / 1024 + 64)) full=
for base in "${6:-${TMPDIR:-/tmp}}" /var/tmp "$HOME" /run /dev/shm; do
  [ -z "$6" ] || [ "$base" = "$6" ] || continue
  for old in "$base"/tsnbench-agent.*; do
    [ -L "$old" ] && continue
    [ -O "$old" ] && [ -f "$old/of" ] && read -r pid when <"$old/of" || continue
    [ "$(born "$pid" 2>/dev/null)" = "$when" ] || rm -rf "$old"
  done
  left=$(df -Pk "$base" 2>/dev/null | { read -r _; read -r _ _ _ left _; echo "$left"; })
  [ "${left:-$need}" -ge "$need" ] 2>/dev/null || { full="$left $base"; continue; }
  own=$(mktemp -d "$base/tsnbench-agent.XXXXXX" 2>/dev/null) || continue
  echo "$$ $(born $$)" >"$own/of"
  echo "exit 0" >"$own/try" && chmod 700 "$own/try" && sh -c "$own/try" 2>/dev/null && break
  rm -rf "$own"
  own=
done
[ -n "$own" ] || [ -z "$full" ] || { echo "tsnbench-full $need $full" >&2; exit 74; }
[ -n "$own" ] || { echo "tsnbench-place $6" >&2; exit 72; }
rm -f "$own/try"
have=$(command -v tsnbench-traffic 2>/dev/null) && sum=$(sha256sum <"$have" 2>/dev/null)
if [ "${sum%% *}" = "$7" ]; then cat "$have"; else echo tsnbench-give >&3; head -c "$1"; fi \
  3>&1 >"$own/tsnbench-traffic" && chmod 700 "$own/tsnbench-traffic" || { rm -rf "$own"; exit 74; }
[ "$(wc -c <"$own/tsnbench-traffic")" -eq "$1" ] || { rm -rf "$own"; exit 75; }
echo tsnbench-stored
read -r turn || { rm -rf "$own"; exit 75; }
state=/run/tsnbench-host$5
[ -w /run ] || state=${TMPDIR:-/tmp}/tsnbench-host$5
exec "$own/tsnbench-traffic" agent --state "$state" --own "$own" --owner "$3" --patience "$4"
"""
GIVE = b"tsnbench-give"
"""The host's message that it is ready for the program."""
STORED = b"tsnbench-stored"
"""The host's message that it has the program, and waits for a line before it reserves the host."""


def words(
    program: bytes, machine: str, owner: str, patience_ms: int, scope: str = "", folder: str = ""
) -> list[str]:
    """The command that reads a program and runs it as an agent; a host that has the same one does not ask
    for it.

    The agent works in a folder below ``folder``, or in one with enough space where programs may run.
    """
    told = (str(len(program)), machine, owner, str(patience_ms), scope, folder)
    return ["sh", "-c", _LINE, "tsnbench", *told, hashlib.sha256(program).hexdigest()]


def explain(code: int, said: str) -> str:
    """Why a host cannot be used; empty if that is unknown."""
    word = {line.split()[0]: line.split()[-1] for line in said.splitlines() if line.startswith("tsnbench-")}
    if code == WRONG_MACHINE:
        found = word.get("tsnbench-machine", "another machine")
        return f"it is a machine of type {found}, and there is no program for it here\nhint: {_OTHER}"
    if code == NO_ROOM or NO_SPACE in said:
        return _full(said)
    if code == NOT_WHOLE:
        return "the connection ended before all of the program had arrived\nhint: try again"
    if code == NO_PLACE:
        folder = word.get("tsnbench-place", "tsnbench-place")
        if folder != "tsnbench-place":
            return f"no program may run in {folder}\nhint: let `folder` name another one, or leave it out"
        return "there is no folder in which programs may run\nhint: let TMPDIR name one in its environment"
    if code == NO_ROOT:
        user = word.get("tsnbench-user", "its user")
        return f"{user} is not root there\nhint: give root's login in the inventory: ssh: root@HOST"
    return ""


def _full(said: str) -> str:
    """The disk that has no room for the program, in words."""
    for line in said.splitlines():
        name, *words = line.split(maxsplit=3)
        if name == "tsnbench-full" and len(words) == 3 and words[0].isdecimal() and words[1].isdecimal():
            need, left = (quantities.size(int(one) * 1024) for one in words[:2])
            told = f"its disk is full: {words[2]} has {left} left, and {need} are needed"
            return f"{told}\nhint: {_FREE}, or let `folder` of the host name another place"
    last = next((line for line in said.splitlines() if NO_SPACE in line), NO_SPACE)
    return f"its disk is full: {last.strip()}\nhint: {_FREE}"


NO_SPACE = "No space left on device"
_FREE = "free space there"
_OTHER = "hosts whose program differs from this machine's are not supported: leave it out of the map"
