"""Settings of a host for a run: its network cards (``ethtool``), and those in the inventory's ``tuning``.

The state is read first. Only settings that were read are changed, so that the earlier values can be restored.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from tsnbench.hosts.remote.agent import Agent
from tsnbench.hosts.remote.answers import Step
from tsnbench.linux import reading, tuning

if TYPE_CHECKING:
    from tsnbench.hosts.inventory.types import Host

OFFLOADS = {
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
    "large-receive-offload": "lro",
}
"""Features that merge or split frames, with the names for ``ethtool -K``."""
SETTLED_S = 25
_UNSET = frozenset({"notsupported", "notimplemented"})
_ASK = r"""LC_ALL=C; PATH=$PATH:/usr/sbin:/sbin; export LC_ALL PATH
tell() { sed "s/^/$1 /"; }
for one in "$@"; do
    ethtool -l "$one" 2>/dev/null | tell "channels $one"
    ethtool --show-eee "$one" 2>/dev/null | tell "eee $one"
    ethtool -c "$one" 2>/dev/null | tell "coalescing $one"
    ethtool -k "$one" 2>/dev/null | tell "features $one"
done
"""
ASK_ALL = f"""\
command -v ethtool >/dev/null || exit 0
set -- $(for one in /sys/class/net/*; do [ ! -e "$one/device" ] || echo "${{one##*/}}"; done)
{_ASK}"""
"""Of all network cards of a host; nothing where there is no ethtool."""
_QUIET = """\
for one in "$@"; do
  no6=/proc/sys/net/ipv6/conf/$one/disable_ipv6
  [ ! -r "$no6" ] || echo "$one $(cat "$no6")"
done
"""
_CARRIER = """\
for one in "$@"; do
  left=%d
  until [ "$(cat "/sys/class/net/$one/carrier" 2>/dev/null)" = 1 ]; do
    left=$((left - 1)); [ $left -gt 0 ] || { echo "$one has no carrier" >&2; exit 1; }
    sleep 1
  done
done
"""


@dataclass(frozen=True)
class Card:
    """The settings of an interface; those that its driver does not report are None or absent."""

    queues: int | None = None
    eee: bool | None = None
    coalescing: Mapping[str, int] = field(default_factory=dict)
    """``rx-usecs`` and ``tx-usecs``, in us."""
    on: tuple[str, ...] = ()
    """Those of :data:`OFFLOADS` that are on and can be changed, with their names for ``ethtool -K``."""


@dataclass(frozen=True)
class Before:
    """The settings before the run."""

    cards: Mapping[str, Card] = field(default_factory=dict)
    settings: Mapping[int, str] = field(default_factory=dict)
    """Output of :attr:`tsnbench.linux.tuning.Setting.read`, by the index of the setting."""
    names: tuple[str, ...] = ()
    """Names of settings, by index."""
    quiet: Mapping[str, str] = field(default_factory=dict)
    """By port, whether it sends no frames of its own for IPv6 (``disable_ipv6``)."""


def read(agent: Agent, host: Host, interfaces: Sequence[str]) -> Before:
    """Reads the settings of a host; nothing is changed.

    Args:
        agent: the host.
        host: its entry in the inventory.
        interfaces: its network cards in the inventory.
    """
    known = [one for one, _ in _chosen(host, interfaces)]
    steps = [Step(("sh", "-c", one.read), may_fail=True) for one in known]
    asked = Step(("sh", "-c", _ASK, "sh", *interfaces), may_fail=True)
    quiet = Step(("sh", "-c", _QUIET, "sh", *host.ports.values()), may_fail=True)
    cards, ports, *done = agent.steps([asked, quiet, *steps])
    said = {place: one.out for place, one in enumerate(done)}
    return Before(
        read_cards(cards.out),
        {place: text for place, text in said.items() if text.strip() not in {"", *_UNSET}},
        tuple(one.name for one in known),
        dict(line.split(" ", 1) for line in ports.out.splitlines()),
    )


def state(before: Before | None) -> dict[str, object]:
    """All settings, with names for people."""
    if before is None:
        return {}
    found: dict[str, object] = {f"card {name}": asdict(one) for name, one in before.cards.items()}
    found |= {before.names[place]: text.strip() for place, text in before.settings.items()}
    return found | {f"net.ipv6.conf.{name}.disable_ipv6": own for name, own in before.quiet.items()}


def differences(before: Before, after: Before) -> list[str]:
    """The differences of the settings, in words."""
    was, now = state(before), state(after)
    return [
        f"{name}: was {was.get(name, 'nothing')}, is {now.get(name, 'nothing')}"
        for name in sorted({*was, *now})
        if was.get(name) != now.get(name)
    ]


def read_cards(said: str) -> dict[str, Card]:
    """The settings of network cards, by interface, from the output of the questions."""
    told: dict[str, dict[str, str]] = {}
    for line in said.splitlines():
        kind, _, rest = line.partition(" ")
        name, _, text = rest.partition(" ")
        own = told.setdefault(name, {})
        own[kind] = own.get(kind, "") + text + "\n"
    return {
        name: Card(
            reading.queues(own.get("channels", "")),
            reading.eee(own.get("eee", "")),
            reading.coalescing(own.get("coalescing", "")),
            tuple(
                short
                for feature, short in OFFLOADS.items()
                if feature in reading.changeable(own.get("features", ""))
            ),
        )
        for name, own in told.items()
    }


def cards(classes: Mapping[str, int], before: Before | None) -> Iterator[Step]:
    """Sets queues for all classes, and switches off energy saving, delayed interrupts and merging of frames.

    Args:
        classes: by interface, the number of its traffic classes.
        before: the settings before; None if the host was not asked: then all are assumed to exist.
    """
    for name, count in classes.items():
        was = before.cards.get(name, Card()) if before is not None else None
        if was is None:
            if count > 1:
                yield _ethtool("-L", name, ["combined", str(count)], ["combined", "QUEUES-BEFORE"], False)
            yield _ethtool("--set-eee", name, ["eee", "off"], ["eee", "on"])
            after = ["rx-usecs", "0", "tx-usecs", "0"]
            yield _ethtool("-C", name, after, ["rx-usecs", "RX-BEFORE", "tx-usecs", "TX-BEFORE"])
            shorts = list(OFFLOADS.values())[:3]
        else:
            if was.queues is not None and was.queues < count:
                back = ["combined", str(was.queues)]
                yield _ethtool("-L", name, ["combined", str(count)], back, False)
            if was.eee:
                yield _ethtool("--set-eee", name, ["eee", "off"], ["eee", "on"])
            waits = {key: value for key, value in was.coalescing.items() if value}
            if waits:
                back = [word for key, value in waits.items() for word in (key, str(value))]
                yield _ethtool("-C", name, [word for key in waits for word in (key, "0")], back)
            shorts = list(was.on)
        if shorts:
            off, on = ([word for one in shorts for word in (one, state)] for state in ("off", "on"))
            yield _ethtool("-K", name, off, on)


def carriers(interfaces: Sequence[str]) -> Step:
    """Waits until links are up again: after another number of queues or EEE they negotiate again."""
    return Step(("sh", "-c", _CARRIER % SETTLED_S, "sh", *interfaces), limit_ms=SETTLED_S * 2000)


def settings(host: Host, interfaces: Sequence[str], before: Before | None) -> Iterator[Step]:
    """Sets the settings of the inventory's ``tuning``.

    Args:
        host: its entry in the inventory.
        interfaces: its network cards in the inventory, as for :func:`read`.
        before: the settings before; None if the host was not asked.
    """
    for place, (one, value) in enumerate(_chosen(host, interfaces)):
        saved = before.settings.get(place) if before is not None else "AS-BEFORE"
        if saved is None or saved.strip() == value:
            continue
        # The undo contains the earlier value, so it needs no file that could be lost.
        back = one.undo.replace("{saved}", shlex.quote(saved.strip()))
        back = back.replace("< {file}", f"<<'END'\n{saved.strip()}\nEND")
        do = ("sh", "-c", f"value=$1; {one.do}", one.name, value)
        yield Step(do, undo=(("sh", "-c", back),))


def _ethtool(word: str, name: str, after: list[str], back: list[str], may_fail: bool = True) -> Step:
    """An error of a driver does not end a run, except for queues, without which classes cannot be
    separated."""
    undo = (("ethtool", word, name, *back),)
    return Step(("ethtool", word, name, *after), undo=undo, may_fail=may_fail)


def _chosen(host: Host, interfaces: Sequence[str]) -> list[tuple[tuning.Setting, str]]:
    """Settings with their values; interrupts only if processors are named."""
    asked = {name: value for name, _, value in (word.partition("=") for word in host.tuning)}
    found = []
    for one in tuning.settings(interfaces, host.talkers):
        if one.name in asked and (value := asked[one.name] or one.value):
            found.append((one, value))
    return found
