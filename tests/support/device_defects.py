"""Defects of a device, each with the test of ``tsnbench conform`` that has to find it, and no other test.

Labs are small networks around a device named switch. A defect is the same network with another
configuration, or a fault, of the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from support.devices import lab

GATES = lab()
TO_ROBOT = ("switch -> robot",)


def braces(text: str) -> str:
    """A text for :func:`support.devices.lab`, which replaces names in braces."""
    return text.replace("{", "{{").replace("}", "}}")


BRIDGE = """\
name: lab
duration: 10 ms
seed: 1
network:
  stations: [t1, t2, robot]
  bridge switch: {processing: 2 us, queues: {limit-frames: 50}}
  links: {rate: 100 Mbit/s, cable: 5 m, between: [t1 -- switch, t2 -- switch, switch -- robot]}
streams:
  loop: {from: t1, to: robot, pcp: 6, frame: 600 B, period: 1 ms}
shapers: {switch -> robot: {cbs: {6: {bandwidth: 10 Mbit/s}}}}
"""
CLASSES = "bridge switch: {classes: {7: 7, 6: 5, 5: 6, 4: 4, 3: 3, 2: 2, 1: 0, 0: 1}, "
METER = lab(
    braces("policing: [{at: talker -> switch, streams: [loop], meter: {cir: 10 Mbit/s, cbs: 3000 B}}]\n")
)
RED = METER.replace("3000 B", "3000 B, mark-all-red: true")
GATE = lab(
    braces(
        "policing: [{at: talker -> switch, streams: [loop], gate: {base-time: 10 us, "
        "entries: [{for: 300 us}, {open: false, for: 700 us}]}}]\n"
    )
)
CLOSES = GATE.replace("gate: {", "gate: {close-on-invalid: true, ")
SDU = lab(braces("policing: [{at: talker -> switch, streams: [loop], max-sdu: 200 B}]\n"))
BLOCKS = SDU.replace("200 B}", "200 B, block-oversize: true}")
RING = """\
name: ring
duration: 10 ms
seed: 1
network:
  stations: [talker, robot]
  bridges: {fast: {}, slow: {processing: 450 us}, switch: {processing: 2 us}}
  links:
    rate: 100 Mbit/s
    between: [talker -- fast, talker -- slow, fast -- switch, slow -- switch, switch -- robot]
streams:
  door: {from: talker, to: robot, period: 100 us, frame: 100 B, frer: {disjoint: 2, at: switch, reset: 50 ms}}
"""
CUT = """\
name: cut
duration: 10 ms
seed: 1
network:
  stations: [t1, t2, robot]
  bridges: {switch: {processing: 2 us}}
  links: {rate: 100 Mbit/s, between: [t1 -- switch, t2 -- switch, switch -- robot]}
streams: {loop: {from: t1, to: robot, pcp: 6, frame: 600 B, period: 1 ms}}
shapers: {switch -> robot: {preemption: {express: [7]}}}
"""
HOLD = CUT.replace(
    "[7]}}}",
    "[7]}, gates: {base-time: 30 us, entries: [{open: all, for: 100 us, mac: hold}, "
    "{open: [0, 1, 2, 3, 4, 5, 6], for: 900 us, mac: release}]}}}",
)
BEGINS = GATES.replace("base-time: 30 us", "before: [0], base-time: 5 ms")
CHANGE = "{at: 20 ms, base-time: 30100 us, entries: [{open: [0], for: 300 us}, {open: [6], for: 200 us}]}"
CHANGES = GATES.replace("for: 800 us}]", f"for: 800 us}}], extension: 150 us, changes: [{CHANGE}]")
PTP = """\
name: time
duration: 10 ms
seed: 1
network:
  stations: [t1, robot, gm]
  bridges: {switch: {processing: 2 us}}
  links: {rate: 100 Mbit/s, cable: 5 m, between: [t1 -- switch, switch -- robot, gm -- switch]}
streams: {loop: {from: t1, to: robot, pcp: 6, frame: 600 B, period: 1 ms}}
clocks:
  ptp: {grandmaster: gm, transparent: [switch], sync-interval: 1/8 s, delay-interval: 1/8 s}
"""
FOLLOWS = """\
name: time
duration: 7 s
seed: 1
network:
  stations: [t1, robot, gm]
  bridges: {switch: {processing: 2 us}}
  links: {rate: 100 Mbit/s, cable: 5 m, between: [t1 -- switch, switch -- robot, gm -- switch]}
streams: {loop: {from: t1, to: robot, pcp: 6, frame: 600 B, period: 1 ms, start: 6 s}}
clocks:
  within: 200 ns
  switch: {drift: 20 ppm}
  PROFILE
"""
BOUNDARY = FOLLOWS.replace("PROFILE", "ptp: {grandmaster: gm, sync-interval: 1/8 s, delay-interval: 1/8 s}")
RELAY = FOLLOWS.replace("PROFILE", "gptp: {grandmaster: gm, sync-interval: 1/8 s}")
STEERED = (
    RELAY.replace("200 ns", "2 us").replace("20 ppm", "1300 ppb").replace("gm, sync", "gm, pcp: 0, sync")
    + "shapers: {switch -> robot: {gates: {entries: [{open: [6], for: 200 us}, {open: [0], for: 800 us}]}}}\n"
)
TAGGED = BRIDGE.replace(
    "period: 1 ms}\n",
    "period: 1 ms}\n  back: {from: t2, to: t1, vlan: 7, frame: 600 B, period: 1 ms}\n"
    "  plain: {from: robot, to: t1, vlan: none, frame: 200 B, period: 1 ms}\n",
)
LABS = {
    "gates": GATES, "bridge": BRIDGE, "meter": METER, "red": RED, "gate": GATE, "closes": CLOSES, "sdu": SDU,
    "blocks": BLOCKS, "tagged": TAGGED, "ring": RING, "cut": CUT, "hold": HOLD, "begins": BEGINS,
    "changes": CHANGES, "ptp": PTP, "boundary": BOUNDARY, "relay": RELAY, "steered": STEERED,
}  # fmt: skip
"""Networks whose device has no defect."""
BRIDGE_PORTS = ("switch -> t1", "switch -> robot")


@dataclass(frozen=True)
class Defect:
    """A device that differs from what its lab says."""

    name: str
    test: str
    """The test that finds it."""
    expected: str
    device: str
    only: Sequence[str] = field(default=TO_ROBOT)
    """The ports that are tested."""

    def seeded(self, seed: int) -> str:
        """The device with another seed."""
        assert "seed: 1\n" in self.device
        return self.device.replace("seed: 1\n", f"seed: {seed}\n")


def _moved(text: str, before: str, after: str) -> str:
    assert before in text, before
    return text.replace(before, after)


def _of(
    test: str, expected: str, *changes: tuple[str, str, str], only: Sequence[str] = TO_ROBOT
) -> list[Defect]:
    """Defects of one test: each a name, a part of the lab's text, and what is there in its place."""
    return [Defect(name, test, expected, _moved(expected, old, new), only) for name, old, new in changes]


def _fault(text: str) -> tuple[str, str]:
    return "seed: 1\n", f"seed: 1\nfaults: [{text}]\n"


def _gate(stream: str, how: str) -> str:
    """A stream gate with one entry: as if frames of a stream had another priority, or no port to leave by."""
    return (
        f"policing: [{{at: all -> switch, streams: [{stream}], gate: {{entries: [{{{how}, for: 1 ms}}]}}}}]\n"
    )


def _passing(talker: str, vid: int) -> str:
    """A stream by which the ports on its path become members of a VLAN."""
    return f"  more: {{from: {talker}, to: robot, vlan: {vid}, frame: 600 B, period: 1 ms}}\n"


REWRITES = "policing: [{at: all -> switch, regenerate: {3: 5}}]\n"
MIDDLE = "{open: [0], for: 300 us}, {open: [6], for: 200 us}, "
LOWER = "{open: [0, 1, 2, 3, 4, 5, 6], for: 900 us"
DROPS = "policing: [{at: all -> switch, streams: [door], meter: {cir: 1 Mbit/s, cbs: 3000 B}}]\n"
FIRST, SECOND = "{open: [6], for: 200 us}", "{open: [0], for: 800 us}"
DEFECTS = [
    *_of(
        "gates.active", GATES,
        ("the second window is open for all", "[6]", "[6, 0]"),
        ("no list", *_fault("{schedule: open, on: switch -> robot}")),
    ),
    *_of("gates.guard", GATES, ("no guard band", "entries:", "guard: none, entries:")),
    *_of(
        "gates.cycle", GATES,
        ("cycle 1 us longer", "800 us", "801 us"),
        ("cycle 1 us shorter", "800 us", "799 us"),
    ),
    *_of(
        "gates.order", GATES,
        ("entries swapped", f"{FIRST}, {SECOND}", "{open: [0], for: 200 us}, {open: [6], for: 800 us}"),
        ("list late by an entry", "base-time: 30 us", "base-time: 230 us"),
        ("one window more", SECOND, "{open: [0], for: 300 us}, {open: [6], for: 500 us}"),
    ),
    *_of(
        "gates.order",
        _moved(GATES, SECOND, f"{MIDDLE}{{open: [0], for: 300 us}}"),
        ("one entry missing", MIDDLE, "{open: [0], for: 500 us}, "),
    ),
    *_of(
        "gates.edge", GATES,
        ("list 1 us late", "base-time: 30 us", "base-time: 31 us"),
        ("list 1 us early", "base-time: 30 us", "base-time: 29 us"),
        ("list 5 us late", "base-time: 30 us", "base-time: 35 us"),
        ("list shifted by 5 us", *_fault("{schedule: {shift: 5 us}, on: switch -> robot}")),
    ),
    *_of(
        "gates.entry", GATES,
        ("entry 10 us shorter", f"200 us}}, {SECOND}", "190 us}, {open: [0], for: 810 us}"),
        ("entry 10 us longer", f"200 us}}, {SECOND}", "210 us}, {open: [0], for: 790 us}"),
        ("entry 1 us shorter", f"200 us}}, {SECOND}", "199 us}, {open: [0], for: 801 us}"),
    ),
    *_of(
        "gates.close", GATES,
        ("window ends 10 us early", "200 us}", "190 us}, {open: none, for: 10 us}"),
        ("last window ends 20 us early", "800 us}", "780 us}, {open: none, for: 20 us}"),
    ),
    *_of(
        "gates.begin", BEGINS,
        ("base time a cycle late", "base-time: 5 ms", "base-time: 6 ms"),
        ("no states before the list", "before: [0], ", ""),
    ),
    *_of(
        "gates.change", CHANGES,
        ("change ignored", f", changes: [{CHANGE}]", ""),
        ("change a cycle late", "30100 us", "30600 us"),
        ("no cycle extension", "extension: 150 us, ", ""),
        ("new list 5 us wrong", "{open: [0], for: 300 us}", "{open: [0], for: 305 us}"),
    ),
    *_of(
        "forwarding.residence", BRIDGE,
        ("residence 1 us longer", "2 us", "3 us"),
        ("residence 3 us longer", "2 us", "5 us"),
        ("residence 25 ns longer", "2 us", "2025 ns"),
        only=BRIDGE_PORTS,
    ),
    *_of(
        "forwarding.line", BRIDGE,
        ("cut-through", "2 us", "2 us, forwarding: {mode: cut-through, after: 200 B}"),
        only=BRIDGE_PORTS,
    ),
    *_of("priority.map", BRIDGE, ("PCP 5 and 6 swapped", "bridge switch: {", CLASSES), only=BRIDGE_PORTS),
    *_of(
        "priority.tag", BRIDGE,
        ("PCP 3 rewritten to 5", "seed: 1\n", f"seed: 1\n{REWRITES}"),
        only=BRIDGE_PORTS,
    ),
    *_of(
        "vlan.member", TAGGED,
        ("no member of VLAN 7", "seed: 1\n", f"seed: 1\n{_gate('back', 'open: false')}"),
        only=BRIDGE_PORTS,
    ),
    *_of(
        "vlan.egress", TAGGED,
        ("member of one VLAN more", "streams:\n", f"streams:\n{_passing('t1', 7)}"),
    ),
    *_of(
        "vlan.ingress", TAGGED,
        ("another port is a member, too", "streams:\n", f"streams:\n{_passing('t2', 100)}"),
    ),
    *_of(
        "priority.untagged", TAGGED,
        ("default priority 3", "seed: 1\n", f"seed: 1\n{_gate('plain', 'ipv: 3')}"),
        ("default priority 1", "seed: 1\n", f"seed: 1\n{_gate('plain', 'ipv: 1')}"),
        only=BRIDGE_PORTS,
    ),
    *_of("queue.depth", BRIDGE, ("half as many frames", "frames: 50", "frames: 25"), only=BRIDGE_PORTS),
    *_of("load.lossfree", BRIDGE, ("1 % loss", *_fault("{loss: 1 %, on: switch -> t1}")), only=BRIDGE_PORTS),
    *_of(
        "load.sequence", BRIDGE,
        ("1 % overtake", *_fault("{reorder: 1 %, by: 250 us, on: switch -> t1}")),
        only=BRIDGE_PORTS,
    ),
    *_of(
        "cbs.slope", BRIDGE,
        ("slope 1 % more", "bandwidth: 10 M", "bandwidth: 10.1 M"),
        ("slope 10 % less", "bandwidth: 10 M", "bandwidth: 9 M"),
        only=BRIDGE_PORTS,
    ),
    *_of(
        "cbs.burst", BRIDGE,
        ("hiCredit half", "10 Mbit/s}", "10 Mbit/s, hi-credit: 489 bit}"),
        only=BRIDGE_PORTS,
    ),
    *_of(
        "psfp.meter", METER,
        ("meter twice the rate", "10 Mbit/s", "20 Mbit/s"),
        ("meter 2 % less", "10 Mbit/s", "9.8 Mbit/s"),
        ("meter twice the burst", "3000 B", "6000 B"),
    ),
    *_of("psfp.meter", RED, ("twice the burst until all are red", "3000 B", "6000 B")),
    *_of(
        "psfp.gate", GATE,
        ("stream gate 5 us late", "10 us", "15 us"),
        ("stream gate 10 us longer", "300 us}, {open: false, for: 700", "310 us}, {open: false, for: 690"),
        ("stream gate open", "open: false, ", ""),
    ),
    *_of(
        "psfp.gate", CLOSES,
        ("stream gate closes early", "300 us}, {open: false, for: 700", "290 us}, {open: false, for: 710"),
    ),
    *_of(
        "psfp.sdu", SDU,
        ("one octet more", "200 B", "201 B"),
        ("one octet less", "200 B", "199 B"),
        ("blocks behind a long frame", "200 B}", "200 B, block-oversize: true}"),
    ),
    *_of("psfp.block", BLOCKS, ("no block behind a long frame", ", block-oversize: true", "")),
    *_of("psfp.block", CLOSES, ("no block behind an invalid frame", "close-on-invalid: true, ", "")),
    *_of("psfp.block", RED, ("no block behind a red frame", ", mark-all-red: true", "")),
    *_of("frer.eliminate", RING, ("duplicate not eliminated", "at: switch", "at: switch, recovery: match")),
    *_of(
        "frer.complete", RING,
        ("a meter drops frames of the stream", "seed: 1\n", f"seed: 1\n{DROPS}"),
    ),
    *_of("frer.single", RING, ("one path ignored", *_fault("{loss: 100 %, on: slow -> switch}"))),
    *_of("frer.gap", RING, ("history of 20", "at: switch", "at: switch, history: 20")),
    *_of("frer.rogue", RING, ("history of 80", "at: switch", "at: switch, history: 80")),
    *_of(
        "frer.reset", RING,
        ("reset ignored", "50 ms", "10 s"),
        ("reset after twice the time", "50 ms", "100 ms"),
        ("reset 1 ms early", "50 ms", "49 ms"),
    ),
    *_of(
        "preempt.express", CUT,
        ("no pre-emption", "shapers: {switch -> robot: {preemption: {express: [7]}}}\n", ""),
        ("another express class", "[7]", "[6]"),
    ),
    *_of(
        "preempt.hold", HOLD,
        ("no hold", f", mac: hold}}, {LOWER}, mac: release}}", f"}}, {LOWER}}}"),
    ),
    *_of(
        "ptp.correction", PTP,
        ("correction 100 ns too small", *_fault("{delay: 100 ns, on: gm -> switch}")),
    ),
    *_of("ptp.correction", PTP.replace("transparent", "delay: p2p, transparent"),
        ("peer to peer, 250 ns of ingress", *_fault("{delay: 250 ns, on: gm -> switch}")),
    ),
    *_of(
        "ptp.time", BOUNDARY,
        ("boundary clock 500 ns wrong", *_fault("{delay: 1 us, on: gm -> switch}")),
    ),
    *_of("ptp.time", RELAY, ("gPTP 500 ns wrong", *_fault("{delay: 1 us, on: gm -> switch}"))),
    *_of(
        "ptp.lock", BOUNDARY,
        ("a step of the clock after the first release", *_fault("{clock-step: switch, by: 1 us, at: 6 s}")),
    ),
    *_of(
        "ptp.servo", STEERED,
        ("a servo that steers by 1 ppm at most", "1/8 s}", "1/8 s, servo: {max_frequency: 1 ppm}}"),
    ),
    *_of(
        "ptp.settle", STEERED,
        ("a step that is corrected too late", *_fault("{clock-step: switch, by: 10 us, at: 6500 ms}")),
    ),
]  # fmt: skip
"""All of them."""
