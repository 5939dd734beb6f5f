"""Models of INET as scenarios: a small network with a configuration for each group of mechanisms."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import tsnbench
from support.planned import plan_of
from tsnbench.errors import InputError
from tsnbench.exports.inet_import import Imported, scenario

MODEL = Path(__file__).parent / "models/line/omnetpp.ini"


def imported(config: str, run: int = 0) -> Imported:
    return scenario(MODEL, config, run)


def line(text: str, begin: str) -> str:
    (found,) = (one.strip() for one in text.splitlines() if one.strip().startswith(begin))
    return found


def test_the_network_and_its_streams() -> None:
    text = imported("Gates").text
    assert line(text, "stations:") == "stations: [talker0, talker1, sink]"
    assert line(text, "bridges:") == "bridges: [sw, out]"
    assert line(text, "- {rate: 1 Gbit/s") == "- {rate: 1 Gbit/s, cable: 10 m, between: sw -- out}"
    assert line(text, "- {rate: 100 Mbit/s, cable: 20 m") == "- {rate: 100 Mbit/s, cable: 20 m, between: ["
    assert line(text, "control-loop:") == (
        "control-loop: {from: talker0, to: sink, pcp: 6, vlan: 7, udp-port: 500, payload: 100 B, "
        "period: 500 us, offset: 10 us}"
    )
    assert line(text, "bulk:") == (
        "bulk: {from: talker1, to: sink, pcp: 1, udp-port: 501, payload: 1000 B, period: 200 us}"
    )
    # Gates of classes with an offset of 90 us begin 10 us after 0.
    assert line(text, "sw -> out:") == (
        "sw -> out: {queues: {classes: {7: 1, 6: 1, 5: 1, 4: 1}, limit-frames: 16777216}, gates: "
        "{by: class, base-time: 10 us, entries: [{open: [1], for: 30 us}, {open: [0], for: 70 us}]}}"
    )
    assert line(text, "# Run 0 of 2") == "# Run 0 of 2: period = 500us."
    plan_of(text)


def test_a_run_chooses_the_values_of_iteration_variables() -> None:
    assert "period: 1 ms, offset: 10 us" in imported("Gates", 1).text
    with pytest.raises(InputError, match="--run: expected a number below 2, found 2"):
        imported("Gates", 2)


def test_shapers_limits_and_meters() -> None:
    text = imported("Shaped").text
    assert line(text, "sw -> out:") == (
        "sw -> out: {queues: {classes: {7: 1, 6: 1, 5: 1, 4: 1}, limit-frames: 50}, "
        "cbs: {6: {idle-slope: 20 Mbit/s}}}"
    )
    # INET's meter counts 1028 octets of each packet, and the scenario's 1050 of each frame.
    assert line(text, "- {at: all -> sw") == (
        "- {at: all -> sw, streams: [bulk], meter: {cir: 10.5 Mbit/s, cbs: 2100 B}}"
    )
    plan_of(text)


def test_intervals_that_vary_become_a_recording(tmp_path: Path) -> None:
    made = imported("Varying")
    assert line(made.text, "bulk:").endswith("replay: bulk.csv}")
    rows = made.files["bulk.csv"].splitlines()
    # The second packet follows 100 us after the first; the third 100 us and 100 us of simulation time later.
    assert rows[:4] == ["time_ns,payload", "0,1000", "100000,1000", "300000,1000"]
    assert "sampled into a recording: omnetpp.ini:59" in made.text
    # The whole command, with its folder.
    done = tsnbench("import", "inet", str(MODEL), "-c", "Varying", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "hint: add --into DIR" in done.stderr
    done = tsnbench("import", "inet", str(MODEL), "-c", "Varying", "--into", "made", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    checked = tsnbench("check", "made/scenario.yaml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_pre_emption_sorts_by_the_vlan_that_is_requested() -> None:
    # INET's default takes frames without a requested VLAN for express ones: all of them.
    assert "preemption: {express: [6, 1]}" in line(imported("Varying").text, "sw -> out:")


def test_clocks_and_gptp() -> None:
    text = imported("Clocks").text
    assert line(text, "talker0: {drift") == "talker0: {drift: 50 ppm}"
    assert line(text, "talker1: {drift") == "talker1: {drift-within: 20 ppm}"
    assert (
        "clocks that INET sets at each Sync; written: a servo that removes the offset until the next Sync: sw"
        in text
    )
    assert line(text, "gptp:").startswith("gptp: {grandmaster: sw, sync-interval: 125 ms")
    plan_of(text)


def test_failures_and_lines_that_are_not_taken() -> None:
    text = imported("Failing").text
    assert line(text, "- {down") == "- {down: out, at: 5 ms, for: 2 ms}"
    assert line(text, "- {loss") == "- {loss: 1 %, on: all}"
    begin = text.index("# Not taken:")
    assert text[begin : text.index("\nname:")].splitlines() == [
        "# Not taken:",
        "#   omnetpp.ini:72: the step <set-param> at 9 ms",
        "#   omnetpp.ini:77: *.sw.someUnknownThing = 5",
    ]
    plan_of(text)


def test_other_applications_and_what_bridges_do_otherwise() -> None:
    text = imported("Others").text
    # 100 octets and 22 of Ethernet with a tag: no UDP, which the filter of the other stream looks for.
    assert line(text, "control-loop:") == (
        "control-loop: {from: talker0, to: sink, pcp: 1, frame: 122 B, period: 500 us, offset: 10 us}"
    )
    # INET's UdpBasicApp waits for one interval.
    assert line(text, "bulk:").endswith("payload: 200 B, period: 300 us, start: 300 us}")
    places = {
        one.split(": ", 1)[1]: one.split(": ", 1)[0]
        for one in text.splitlines()
        if one.startswith("#   omnet")
    }
    assert (
        places["several addresses, one of which each packet draws; written: the first"]
        == "#   omnetpp.ini:83"
    )
    assert places["addresses that no node has: 0A-00-00-00-00-01"] == "#   omnetpp.ini:89"
    assert places["PCP 3 from sw on for control-loop, bulk"] == "#   omnetpp.ini:88"
    plan_of(text)


RING = """network Ring {
    submodules: a: TsnDevice; b: TsnDevice; c: TsnDevice; s[3]: TsnSwitch;
    connections: a.ethg++ <--> Eth1G <--> s[0].ethg++; b.ethg++ <--> Eth1G <--> s[1].ethg++;
        c.ethg++ <--> Eth1G <--> s[2].ethg++;
        for i=0..2 { s[i].ethg++ <--> Eth1G <--> s[(i+1)%3].ethg++; }
}"""
GROUP = """[General]
network = Ring
sim-time-limit = 1ms
*.a.numApps = 1
*.a.app[0].typename = "UdpSourceApp"
*.a.app[0].io.destAddress = "224.0.0.1"
*.a.app[0].io.destPort = 1
*.a.app[0].source.packetLength = 100B
*.a.app[0].source.productionInterval = 1ms
*.{b,c}.numApps = 1
*.{b,c}.app[0].typename = "UdpSinkApp"
*.{b,c}.app[0].io.multicastAddresses = ["224.0.0.1"]
*.{b,c}.app[0].io.localPort = 1
*.s[0].macTable.forwardingTable = [TO-b, {address: "224.0.0.1", interface: "eth2"}]
*.s[1].macTable.forwardingTable = [{address: "224.0.0.1", interface: "eth0"}]
*.s[2].macTable.forwardingTable = [{address: "224.0.0.1", interface: "eth0"}, FROM-c]
"""


@pytest.mark.parametrize("detour", [False, True])
def test_tables_that_lead_a_group_over_longer_paths_are_listed(detour: bool, tmp_path: Path) -> None:
    # The switches are a ring: b is reached from its own switch, or from that of c.
    short, long = ('{address: "224.0.0.1", interface: "eth1"}', "")[:: -1 if detour else 1]
    text = GROUP.replace("TO-b, ", f"{short}, " if short else "").replace(
        ", FROM-c", f", {long}" if long else ""
    )
    (tmp_path / "omnetpp.ini").write_text(text, encoding="utf-8")
    (tmp_path / "ring.ned").write_text(RING, encoding="utf-8")
    found = scenario(tmp_path / "omnetpp.ini").text
    assert line(found, "a:").startswith("a: {from: a, to: [b, c]")
    lost = "#   omnetpp.ini:14: paths to the group 224.0.0.1; written: the shortest ones"
    assert (lost in found) == detour
    assert ("Not taken" in found) == detour


def test_streams_to_one_group_get_addresses_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "ring.ned").write_text(RING, encoding="utf-8")
    one = GROUP.replace("TO-b, ", "").replace(", FROM-c", "")
    two = one.replace("*.a.numApps = 1", "*.a.numApps = 2").replace("*.a.app[0]", "*.a.app[*]")
    for text, begin, is_written in ((one, "a:", True), (two, "a-app1:", False)):
        (tmp_path / "omnetpp.ini").write_text(text, encoding="utf-8")
        found = scenario(tmp_path / "omnetpp.ini").text
        assert ("address: 224.0.0.1" in line(found, begin)) == is_written
        assert ("a group address of several streams" in found) != is_written


def test_a_folder_gets_all_files_or_none(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "scenario.yaml").write_text("mine", encoding="utf-8")
    command = ("import", "inet", str(MODEL), "-c", "Varying", "--into", ".")
    done = tsnbench(*command, cwd=tmp_path)
    assert done.returncode == 2
    assert "scenario.yaml: expected a file that is not there yet" in done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["kept.txt", "scenario.yaml"]
    (tmp_path / "scenario.yaml").unlink()
    assert tsnbench(*command, cwd=tmp_path).returncode == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["bulk.csv", "kept.txt", "scenario.yaml"]


def test_a_configuration_has_to_be_named() -> None:
    with pytest.raises(
        InputError, match=r"--config: expected the name of one configuration of omnetpp\.ini, found none"
    ):
        scenario(MODEL)
    with pytest.raises(InputError, match="hint: it has Gates, Shaped"):
        scenario(MODEL, "Other")
