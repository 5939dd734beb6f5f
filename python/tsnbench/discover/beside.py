"""What a host says of a port beside its queueing disciplines: queues, clocks, and whether it may pre-empt.

``ethtool`` -T and --show-mm, the host's clocks, and the running programs that set them. Nothing is changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tsnbench.foreign import Json
from tsnbench.hosts.doctor import STEERING
from tsnbench.hosts.remote.answers import Done, Step
from tsnbench.linux import reading

_ASK = r"""LC_ALL=C; PATH=$PATH:/usr/sbin:/sbin:/usr/bin:/bin; export LC_ALL PATH
tell() { sed "s/^/$1 /"; }
for one in /proc/[0-9]*; do
    name=$(cat "$one/comm" 2>/dev/null) || continue
    case $name in STEERING) ;; *) continue ;; esac
    [ "$(readlink "$one/ns/net")" = "$(readlink /proc/self/ns/net)" ] || continue
    words=$(tr '\0' ' ' <"$one/cmdline" 2>/dev/null)
    for file in $words; do
        [ -f "$file" ] && grep -qs "^time_stamping[[:space:]]*software" "$file" && words="$words -S"
    done
    echo "runs $name $words"
done
for one in /sys/class/net/"$1"/queues/tx-*; do [ -e "$one" ] && echo "queue $one"; done
stamps=$(ethtool -T "$1" 2>/dev/null)
echo "$stamps" | tell stamps
card=$(echo "$stamps" | sed -n "s/.*Hardware Clock: \([0-9]\)/\1/p; s/.*provider index: \([0-9]\)/\1/p")
"$2" sync ${card:+--phc "/dev/ptp$card"} --count 1 2>/dev/null | tell clocks
ethtool --show-mm "$1" 2>/dev/null | tell merge
"""
PROGRAM = "PROGRAM"
SOFTWARE = ("-S", "--time_stamping=software")
"""Words of ptp4l for stamps of the kernel, with which it sets the host's clock itself."""


@dataclass(frozen=True)
class Clocks:
    """The clocks of a host at one moment, in ns."""

    tai_ns: int
    """The kernel's TAI."""
    ahead_ns: int
    """The kernel's TAI less its UTC: 0 where no program has told it the difference."""
    card_ns: int | None = None
    """The card's clock less the kernel's TAI; None: not known."""


@dataclass(frozen=True)
class Beside:
    """What a host says of one port, and of its clocks."""

    queues: int = 0
    """Transmission queues of the interface; 0: it did not say."""
    clock: int | None = None
    """Number of the card's clock; None: it has none, or did not say."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """Running programs that set clocks, with their words."""
    merge: Mapping[str, str] = field(default_factory=dict)
    """The MAC merge layer: ``verification status``, ``tx active``, …; empty: none, or it did not say."""
    clocks: Clocks | None = None
    """None: they could not be read."""

    @property
    def in_software(self) -> bool:
        """Whether ptp4l sets the host's clock itself."""
        return any(word in SOFTWARE for word in self.programs.get("ptp4l", "").split())


def step(interface: str) -> Step:
    """The questions about one interface; ``PROGRAM`` stands for the live program on the host."""
    words = ("sh", "-c", _ASK.replace("STEERING", "|".join(STEERING)), "sh", interface, PROGRAM)
    return Step(words, may_fail=True)


def read(done: Done) -> Beside:
    """The answers; what a host did not say is unknown."""
    told: dict[str, list[str]] = {}
    for line in done.out.splitlines():
        key, _, rest = line.partition(" ")
        told.setdefault(key, []).append(rest)
    programs = dict(line.partition(" ")[::2] for line in told.get("runs", ()))
    rows = (line.partition(":") for line in told.get("merge", ()) if not line.endswith(":"))
    merge = {name.strip().lower(): value.strip() for name, _, value in rows}
    clock = reading.stamping("\n".join(told.get("stamps", ()))).clock
    return Beside(
        len(told.get("queue", ())), clock, programs, merge, _clocks("".join(told.get("clocks", ())))
    )


def _clocks(text: str) -> Clocks | None:
    """A line of the live program's ``sync``; None where it said nothing."""
    try:
        said: Json = json.loads(text)
        cards = [int(one["offset_ns"]) for one in said["phc"].values() if "offset_ns" in one]
        ahead_ns = int(said["tai_minus_utc_s"]) * 10**9
        return Clocks(int(said["tai_ns"]), ahead_ns, cards[0] if cards else None)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
