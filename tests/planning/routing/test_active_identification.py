"""Active stream identification: copies show another destination address, VLAN and priority.

IEEE 802.1CB-2017, 6.6.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.planned import plan_of, run_of
from tsnbench.backends.simulation import Simulation
from tsnbench.plan.bounds import bounds
from tsnbench.plan.delay import smallest_delay_ns
from tsnbench.plan.load import class_loads
from tsnbench.plan.network import Network
from tsnbench.planning import Plan, PlanningErrors

RING = """
name: ring
duration: 10 ms
network:
  rate: 1 Gbit/s
  ring: {nodes: 5, prefix: b}
  stations: [t, l, x, y, z]
  links: [t -- b1, l -- b3, x -- b1, y -- b3, z -- b2]
streams:
  s: {from: t, to: l, pcp: 5, period: 100 us, frame: 64 B, frer: {identification: %s}}
"""
BESIDE = "  o: {from: z, to: y, pcp: %s, poisson: 400 Mbit/s, frame: 900 B}\n"


def planned(identification: str, rest: str = "", old: str = "", new: str = "") -> Plan:
    return plan_of((RING % identification).replace(old, new) + rest)


def recovery(made: Plan, number: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = made.document["streams"][number]["redundancy"]["recovery"]
    return found


def test_what_is_not_said_is_the_streams_own_but_the_address() -> None:
    made = planned("{active: {}}")
    expected = {"destination_mac": "02:cb:00:00:00:01", "vid": 100, "pcp": 5}
    assert recovery(made)["identification"] == {"active": expected}
    made = planned("{active: {vlan: 200, pcp: 6, destination: 03:CB:00:00:00:99}}")
    expected = {"destination_mac": "03:cb:00:00:00:99", "vid": 200, "pcp": 6}
    assert recovery(made)["identification"] == {"active": expected}
    # For two listeners it is the address of a group.
    made = planned("{active: {}}", "", "to: l,", "to: [l, y],")
    assert recovery(made)["identification"]["active"]["destination_mac"] == "03:cb:00:00:00:01"
    # Every flow has an address of its own.
    made = planned("{active: {vlan: 200}}", "", "period:", "count: 2, period:")
    macs = [recovery(made, number)["identification"]["active"]["destination_mac"] for number in (0, 1)]
    assert macs == ["02:cb:00:00:00:01", "02:cb:00:00:00:02"]


def test_bridges_on_the_paths_look_up_what_member_streams_have() -> None:
    """The bridge that splits and the one that merges know the stream; those between them its members."""
    document = planned("{active: {vlan: 200}}").document
    network = Network(document)
    named = {node["name"]: number for number, node in enumerate(document["nodes"])}

    def row(name: str) -> tuple[str, int | None, list[str]]:
        (found,) = network.forwarding(named[name])[0]
        return found.destination_mac, found.vid, [document["ports"][port]["name"] for port in found.ports]

    own, member = "02:00:00:07:00:01", "02:cb:00:00:00:01"
    assert row("b1") == (own, 100, ["b1 -> b2", "b1 -> b5"])
    assert [row(name) for name in ("b2", "b4", "b5")] == [
        (member, 200, ["b2 -> b3"]), (member, 200, ["b4 -> b3"]), (member, 200, ["b5 -> b4"]),
    ]  # fmt: skip
    assert row("b3") == (own, 100, ["b3 -> l"])
    vids = {port["name"]: network.vids(number) for number, port in enumerate(document["ports"])}
    assert vids["b1 -> b2"] == vids["b3 -> b4"] == vids["b4 -> b5"] == [100, 200]
    assert vids["b1 -> t"] == vids["b3 -> l"] == [100]
    # Without rewriting there is one address everywhere.
    (plain,) = Network(planned("null").document).forwarding(named["b2"])[0]
    assert plain.destination_mac == own


LADDER = """
name: ladder
duration: 10 ms
network:
  rate: 1 Gbit/s
  bridges: [b1, b2, b3, m, b4, b5, b6]
  stations: [t, l]
  links: [t -- b1, b1 -- b2, b1 -- b3, b2 -- m, b3 -- m, m -- b4, m -- b5, b4 -- b6, b5 -- b6, b6 -- l]
streams:
  s:
    {from: t, to: l, pcp: 5, period: 100 us, frame: 64 B, frer: {at: [m, b6],
      paths: [[b1, b2, m, b4, b6], [b1, b3, m, b5, b6]], identification: {active: {vlan: 200}}}}
"""


def test_a_bridge_that_merges_and_splits_again_looks_up_the_stream() -> None:
    document = plan_of(LADDER).document
    network = Network(document)
    found = {
        node["name"]: [row.vid for row in network.forwarding(number)[0]]
        for number, node in enumerate(document["nodes"])
        if node["kind"] == "bridge"
    }
    assert found == {"b1": [100], "b2": [200], "b3": [200], "m": [100], "b4": [200], "b5": [200], "b6": [100]}


CROSSING = """
name: crossing
duration: 10 ms
network:
  rate: 1 Gbit/s
  bridges: [b1, b2, b3, b4, c1, c2, c3]
  stations: [x, l, y]
  hosts: [t]
  links: [t -- b1, b1 -- b2, b2 -- b3, b1 -- b4, b4 -- b3, l -- b3, t -- c1, x -- c1, c1 -- b1, b1 -- c3,
    c1 -- b2, b2 -- c3, c1 -- c2, c2 -- c3, c3 -- y]
streams:
  plain: {from: x, to: y, period: 1 ms, frame: 64 B}
  s: {from: t, to: l, pcp: 5, period: 100 us, frame: 64 B, frer: {paths: [[b1, b2, b3], [b1, b4, b3]]}}
"""
OTHER = """\
  o: {from: %s, to: y, pcp: 5, vlan: 200, period: 100 us, frame: 64 B, frer:
    {paths: [[c1, %s, c3], [c1, c2, c3]], identification: {active: {%s}}}}
"""
SAME = "destination: 02:00:00:09:00:01, vlan: 100"


@pytest.mark.parametrize(
    ("talker", "over", "active", "chosen"),
    [
        # Copies of o keep VLAN 200, or have a destination of their own: these tell them from s.
        ("x", "b1", "destination: 02:00:00:09:00:01", "null"),
        ("x", "b1", "vlan: 100", "null"),
        # At b1 the copies of o have the destination and VLAN of s: only their source is another one.
        ("x", "b1", SAME, "source-mac"),
        # From the same talker also their source is that of s: addresses of IP and ports are left.
        ("t", "b1", SAME, "ip"),
        # b2 only forwards copies of s, and t their stream: no one has to tell them apart there.
        ("t", "b2", SAME, "null"),
    ],
)
def test_copies_are_told_from_what_other_streams_copies_show(
    talker: str, over: str, active: str, chosen: str
) -> None:
    """s parts at b1, where copies of o pass. o itself parts and meets at c1 and c3, where s never is.

    l is the ninth node: seven bridges and x come before it, so its only port has 02:00:00:09:00:01.
    """
    made = plan_of(CROSSING + OTHER % (talker, over, active))
    assert made.document["streams"][1]["destination_mac"] == "02:00:00:09:00:01"
    assert recovery(made, 1)["identification"] == chosen


def test_streams_that_nothing_tells_apart_are_refused_by_the_last_function() -> None:
    """Both have the same talker, listener, VLAN and UDP port: neither address nor port differs."""
    text = RING.replace("64 B, frer: {identification: %s}", "64 B, udp-port: 7000, frer: {}")
    other = "  o: {from: t, to: l, pcp: 3, period: 1 ms, frame: 200 B, udp-port: PORT}\n"
    made = plan_of(text + other.replace("PORT", "7001"))
    assert recovery(made)["identification"] == "ip"
    with pytest.raises(PlanningErrors, match=r"found ip .* cannot tell s and o apart"):
        plan_of(text + other.replace("PORT", "7000"))


def test_loads_and_reservations_are_those_of_the_class_that_copies_have() -> None:
    made = planned("{active: {pcp: 3}}", "shapers: {all: {cbs: [A]}}\n")
    ports = {port["name"]: port for port in made.document["ports"]}
    loads = dict(zip(ports, class_loads(made.document), strict=True))
    found = {
        name: {number: int(load.rate_bps) for number, load in enumerate(own) if load.flows}
        for name, own in loads.items()
    }
    plain, tagged = 84 * 8 * 10_000, 90 * 8 * 10_000
    assert (found["t -> b1"], found["b1 -> b2"], found["b3 -> l"]) == ({5: plain}, {3: tagged}, {5: plain})
    shaped = {
        name: {
            number: own["cbs"]["idle_slope_bps"] for number, own in enumerate(port["classes"]) if "cbs" in own
        }
        for name, port in ports.items()
    }
    assert (shaped["b1 -> b2"], shaped["b3 -> l"]) == ({3: tagged}, {})


@pytest.mark.parametrize("pcp", [3, 6])
def test_no_frame_exceeds_its_bound_and_the_class_on_the_way_decides(pcp: int, tmp_path: Path) -> None:
    made = planned(f"{{active: {{pcp: {pcp}}}}}", BESIDE % 4)
    run = run_of(made, tmp_path)
    found = run.measures()["paths"][0]
    least = smallest_delay_ns(made.document, made.document["streams"][0], 0)
    assert (found["count"]["received"], found["delay"]["min"]) == (100, least)
    periodic = planned(
        f"{{active: {{pcp: {pcp}}}}}", (BESIDE % 4).replace("poisson: 400 Mbit/s", "count: 3, period: 40 us")
    )
    run = periodic.run(on=Simulation(), into=tmp_path / "periodic")
    flow = bounds(periodic)["flows"][0]
    assert flow["upper_ns"] is not None
    assert flow["lower_ns"] <= run.measures()["paths"][0]["delay"]["min"]
    assert run.measures()["paths"][0]["delay"]["max"] <= flow["upper_ns"]


def test_a_class_below_waits_longer_for_sure() -> None:
    other = (BESIDE % 4).replace("poisson: 400 Mbit/s", "count: 3, period: 40 us")
    uppers = [bounds(planned(f"{{active: {{pcp: {pcp}}}}}", other))["flows"][0]["upper_ns"] for pcp in (3, 6)]
    assert uppers[0] > uppers[1]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_captures_have_what_is_on_the_wire(tmp_path: Path) -> None:
    made = planned("{active: {vlan: 200, pcp: 6}}", "taps: [t -> b1, b1 -> b2, b5 -> b4, b3 -> l]\n")
    own = made.document["streams"][0]["destination_mac"]
    run = Simulation().execute(made, tmp_path / "run", pcap=True)
    fields = ("eth.dst", "vlan.id", "vlan.priority", "frame.len", "ieee8021cb.seq")
    seen = {}
    for file in (run.folder / "captures").iterdir():
        command = ["tshark", "-r", str(file), "-T", "fields"]
        for name in fields:
            command += ["-e", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seen[file.stem] = [tuple(line.split("\t")) for line in done.stdout.splitlines()]
    plain = [(own, "100", "5", "60", "")] * 100
    # A frame of 64 octets grows by six, and is one of 64 octets again.
    tagged = [("02:cb:00:00:00:01", "200", "6", "66", f"0x{number:04x}") for number in range(100)]
    for name, rows in seen.items():
        assert rows == (plain if name.startswith(("t-b1", "b3-l")) else tagged), name
    assert len(seen) >= 2
    rows = run.observations().group_by("tap").agg(vids=pl.col("vid").unique())
    assert dict(rows.rows())["b1 -> b2 tx"] == [200]


def test_streams_are_told_apart_by_what_copies_show() -> None:
    active = "{active: {vlan: 200, destination: 02:cb:00:00:00:07}}"
    other = "  o: {from: x, to: y, pcp: 3, period: 1 ms, frame: 200 B, frer: {identification: %s}}\n"
    planned(active, other % "{active: {vlan: 201, destination: 02:cb:00:00:00:07}}")
    with pytest.raises(PlanningErrors, match=r"active .* cannot tell s and o apart"):
        planned(active, other % active)
    with pytest.raises(PlanningErrors, match=r"active .* cannot tell s.1 and s.2 apart"):
        planned(active, "", "period:", "count: 2, period:")
    # One that goes by the source finds the talker's other stream in the VLAN of these copies.
    same = (
        "  o: {from: t, to: y, vlan: 200, period: 1 ms, frame: 200 B, frer: {identification: source-mac}}\n"
    )
    with pytest.raises(PlanningErrors, match=r"source-mac .* cannot tell o and s apart"):
        planned(active, same)
    planned(active, same.replace("vlan: 200", "vlan: 300"))
