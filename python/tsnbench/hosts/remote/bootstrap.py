"""From a login to an agent: a line for a POSIX shell that reads the program from standard input, and runs it.

Nothing has to be installed on the host. The program is stored where programs may run, in a folder of its own,
which it removes itself; captures are kept there until they are fetched.
"""

from __future__ import annotations

WRONG_MACHINE, NO_PLACE, NO_ROOT = 71, 72, 73
"""Exit codes of the line; the agent's own is 3 if another controller holds the host."""

# The line has no single quotes and no `!`, because every login shell must accept it in single quotes.
_LINE = """\
umask 077
[ "$(uname -m)" = "$2" ] || { echo "tsnbench-machine $(uname -m)" >&2; exit 71; }
[ "$(id -u)" = 0 ] || { echo "tsnbench-user $(id -un)" >&2; exit 73; }
for base in "${6:-${TMPDIR:-/tmp}}" /var/tmp "$HOME" /run /dev/shm; do
  [ -z "$6" ] || [ "$base" = "$6" ] || continue
  own=$(mktemp -d "$base/tsnbench-agent.XXXXXX" 2>/dev/null) || continue
  echo "exit 0" >"$own/try" && chmod 700 "$own/try" && sh -c "$own/try" 2>/dev/null && break
  rm -rf "$own"
  own=
done
[ -n "$own" ] || { echo "tsnbench-place $6" >&2; exit 72; }
rm -f "$own/try"
echo tsnbench-give
head -c "$1" >"$own/tsnbench-traffic" && chmod 700 "$own/tsnbench-traffic" || { rm -rf "$own"; exit 72; }
state=/run/tsnbench-host$5
[ -w /run ] || state=${TMPDIR:-/tmp}/tsnbench-host$5
exec "$own/tsnbench-traffic" agent --state "$state" --own "$own" --owner "$3" --patience "$4"
"""
GIVE = b"tsnbench-give"
"""The host's message that it is ready for the program."""


def words(
    octets: int, machine: str, owner: str, patience_ms: int, scope: str = "", folder: str = ""
) -> list[str]:
    """The command that reads this many octets of a program and runs it as an agent.

    The agent works in a folder below ``folder``, or in one with enough space where programs may run.
    """
    return ["sh", "-c", _LINE, "tsnbench", str(octets), machine, owner, str(patience_ms), scope, folder]


def explain(code: int, said: str) -> str:
    """Why a host cannot be used; empty if that is unknown."""
    word = {line.split()[0]: line.split()[-1] for line in said.splitlines() if line.startswith("tsnbench-")}
    if code == WRONG_MACHINE:
        found = word.get("tsnbench-machine", "another machine")
        return f"it is a machine of type {found}, and there is no program for it here\nhint: {_OTHER}"
    if code == NO_PLACE:
        folder = word.get("tsnbench-place", "tsnbench-place")
        if folder != "tsnbench-place":
            return f"no program may run in {folder}\nhint: let `folder` name another one, or leave it out"
        return "there is no folder in which programs may run\nhint: let TMPDIR name one in its environment"
    if code == NO_ROOT:
        user = word.get("tsnbench-user", "its user")
        return f"{user} is not root there\nhint: give root's login in the inventory: ssh: root@HOST"
    return ""


_OTHER = "hosts whose program differs from this machine's are not supported: leave it out of the map"
