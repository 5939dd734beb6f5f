"""Golden files of all exports of a small scenario with many mechanisms.

``TSNBENCH_UPDATE=1`` writes them anew; check the difference before you keep it.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from exports.plans import PLANS, RICH, document_of, rich
from support.golden import matches
from support.planned import document_of as planned
from tsnbench.errors import InputError
from tsnbench.exports import FORMATS, export, write
from tsnbench.exports.export import NEEDS
from tsnbench.linux.profile import Profile
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Note, Notes

GOLDEN = Path(__file__).parent / "golden"


def folded(files: dict[str, str]) -> dict[str, str]:
    """Each text once; ``same.txt`` names the files that are equal to an earlier one."""
    first: dict[str, str] = {}
    same = [
        f"{name}: {one}\n" for name, text in files.items() if (one := first.setdefault(text, name)) != name
    ]
    return {**{name: text for text, name in first.items()}, "same.txt": "".join(same)}


def test_exports_are_the_golden_files() -> None:
    files = folded(export(rich(), FORMATS).files)
    for name, text in files.items():
        matches(GOLDEN / name, text)
    found = {str(path.relative_to(GOLDEN)) for path in GOLDEN.rglob("*") if path.is_file()}
    assert found == set(files), "a file that is no longer written is to be removed"


def test_a_phase_that_each_run_draws_is_no_offset() -> None:
    document = planned("""\
name: phases
duration: 2 ms
network: {stations: [a, b], bridges: [s], links: {rate: 1 Gbit/s, between: [a-s, s-b]}}
streams:
  told: {from: a, to: b, period: 1 ms, payload: 100 B, offset: 30 us}
  free: {from: a, to: b, period: 1 ms, payload: 100 B, offset: any}
""")
    done = export(document, ["csv", "inet"])
    rows = csv.DictReader(io.StringIO(done.files["csv/streams.csv"]))
    assert {row["stream"]: row["offset_ns"] for row in rows} == {"told": "30000", "free": ""}
    assert [note.places for note in done.notes if note.what == "a phase that each run draws"] == [("free",)]


@pytest.mark.parametrize("name", ["followers", "fork", "gate-changes", "gates", "ring"])
@pytest.mark.parametrize("to", FORMATS)
def test_other_plans_export_twice_the_same(name: str, to: str) -> None:
    document = document_of(PLANS / f"{name}.yaml")
    once, twice = export(document, [to]), export(document, [to])
    assert once.files == twice.files
    assert once.files
    assert {note.to for note in once.notes} <= {to, *NEEDS.get(to, ())}


@pytest.mark.parametrize(
    "name", ["eth0;reboot", "$(id)", "`id`", "a b", "a/b", "-a", "..", "", "x" * 16, "a\nb", "a]"]
)
def test_no_script_holds_a_name_that_is_no_interface(name: str) -> None:
    port = rich()["ports"][0]["name"]
    with pytest.raises(InputError, match="expected the name of an interface"):
        Profile(interfaces={port: name})


@pytest.mark.parametrize(
    ("kind", "name"), [("nodes", "a;reboot"), ("nodes", "a\n[eth9]"), ("ports", "a\nb"), ("streams", "a\x1b")]
)
def test_names_of_a_foreign_plan_cannot_become_commands(kind: str, name: str) -> None:
    document = rich()
    document[kind][0]["name"] = name
    with pytest.raises(InputError, match=rf"{kind}\[0\].name: expected"):
        export(document, FORMATS)


def test_what_is_not_exported_is_said() -> None:
    notes = [str(note) for note in export(rich(), FORMATS).notes]
    for to, word in [
        ("tc", "elimination (alarm)"),
        ("tc", "pre-emption"),
        ("inet", "faults"),
        ("tsnkit", "not periodic (files (poisson))"),
        ("tsnkit", "shapers (right -> robot)"),
        ("csv", "clocks and PTP"),
        ("yang", "limits of queues"),
    ]:
        assert any(note.startswith(f"{to}: ") and word in note for note in notes), (to, word)
    assert len(notes) == len(set(notes))


def test_a_kind_of_note_is_one_line_with_its_places() -> None:
    notes = Notes("tc")
    for port in ("a -> b", "b -> c", "c -> d", "d -> e", "a -> b"):
        notes.lost("shapers", "there are none", port)
    notes.lost("taps", "they are programs")
    notes.warn("short entries", "taprio takes none", "a -> b", cure="schedule: {shortest-interval: 480 ns}")
    many, none, cured = notes
    assert str(many) == (
        "tc: not exported: shapers (4: a -> b, b -> c, c -> d, d -> e), because there are none"
    )
    assert many.line(3) == (
        "tc: not exported: shapers (4: a -> b, b -> c, c -> d and 1 more), because there are none"
    )
    assert str(none) == "tc: not exported: taps, because they are programs"
    assert str(cured) == (
        "tc: short entries (a -> b): taprio takes none; cure: schedule: {shortest-interval: 480 ns}"
    )


SHORT = """\
name: short
duration: 4 ms
network: {stations: [a, b], bridges: [s], links: {rate: 1 Gbit/s, between: [a--s, s--b]}}
schedule: {CURE}
streams:
  x: {from: a, to: b, pcp: 7, period: 1 ms, frame: 64 B, offset: 100 us, scheduled: true}
  y: {from: a, to: b, pcp: 7, period: 1 ms, frame: 64 B, offset: 101 us, scheduled: true}
"""


def test_the_cure_of_short_entries_removes_their_note() -> None:
    """Between the windows of the two streams, 232 ns are left for others."""

    def short(text: str) -> list[Note]:
        notes = export(planned(text), ["tc"]).notes
        return [note for note in notes if note.what == "entries under 480 ns"]

    (note,) = short(SHORT.replace("CURE", "granularity: 1 ns"))
    assert "a -> s: an entry of " in str(note)
    assert note.cure == "schedule: {shortest-interval: 480 ns}"
    assert not short(SHORT.replace("{CURE}", note.cure.removeprefix("schedule: ")))


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(
        InputError,
        match="formats: expected one of tc, ptp4l, yang, inet, tsnkit, csv, ansible, trdp, saihu, found tv",
    ):
        export(rich(), ["tv"])


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(InputError, match="expected an empty folder or an earlier export"):
        write(export(rich(), ["csv"]), tmp_path)


def test_an_earlier_export_is_replaced(tmp_path: Path) -> None:
    write(export(rich(), ["csv", "tsnkit"]), tmp_path / "out")
    write(export(rich(), ["csv"]), tmp_path / "out")
    assert not (tmp_path / "out/tsnkit/task.csv").exists()
    assert (tmp_path / "out/csv/ports.csv").exists()


def test_a_list_of_files_that_no_export_wrote_removes_nothing(tmp_path: Path) -> None:
    """The list may come with a folder from somebody else, or name files that the user wrote later."""
    out = tmp_path / "out"
    (out / ".git").mkdir(parents=True)
    (out / ".git/config").write_text("precious")
    (out / "notes.md").write_text("precious")
    zeros = "0" * 64
    (out / ".tsnbench-export").write_text(f"{zeros}  notes.md\n{zeros}  .git/config\n{zeros}  ../x\n")
    with pytest.raises(
        InputError, match=r"holds files that no export has written.*: \.git/config, notes\.md"
    ):
        write(export(rich(), ["csv"]), out)
    assert not (out / "csv").exists()
    (out / ".tsnbench-export").write_text("notes.md\n.git/config\n")
    write(export(rich(), ["csv"]), out)
    assert (out / "notes.md").read_text() == (out / ".git/config").read_text() == "precious"


@pytest.mark.parametrize("kind", ["changed", "link", "folder-link", "new"])
def test_what_a_person_changed_in_an_export_stays(tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    write(export(rich(), ["csv"]), out)
    ports = out / "csv/ports.csv"
    elsewhere = tmp_path / "elsewhere"
    if kind == "changed":
        ports.write_text("precious")
    elif kind == "link":
        ports.rename(elsewhere)
        ports.symlink_to(elsewhere)
    elif kind == "folder-link":
        (out / "csv").rename(elsewhere)
        (out / "csv").symlink_to(elsewhere)
    else:
        (out / "tsnkit").mkdir()
        (out / "tsnkit/task.csv").write_text("precious")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="holds files that no export has written, or that were changed"):
        write(export(rich(), ["csv", "tsnkit"]), out)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_tables_have_the_plans_numbers() -> None:
    document = rich()
    files = export(document, ["csv"]).files
    ports = table(files["csv/ports.csv"])
    assert [int(row["rate_bps"]) for row in ports] == [port["rate_bps"] for port in document["ports"]]
    gates = table(files["csv/gates.csv"])
    assert [(row["port"], row["begin_ns"], row["interval_ns"], row["open_classes"]) for row in gates] == [
        ("left -> right", "0", "50000", "3"),
        ("left -> right", "50000", "450000", "0 1 2"),
    ]


# INET


def gate_at(lines: dict[str, str], gate: str, at: int) -> bool:
    """Whether a gate of INET is open at an instant, computed from its parameters."""
    state = lines[f"{gate}.initiallyOpen"] == "true"
    durations = [
        int(one.removesuffix("ns"))
        for one in lines.get(f"{gate}.durations", "[]").strip("[]").split(", ")
        if one
    ]
    if not durations:
        return state
    assert len(durations) % 2 == 0
    at = (at + int(lines[f"{gate}.offset"].removesuffix("ns"))) % sum(durations)
    for duration in durations:
        if at < duration:
            return state
        at -= duration
        state = not state
    raise AssertionError


@pytest.mark.parametrize(
    "path", [RICH, PLANS / "gates.yaml", PLANS / "followers.yaml"], ids=lambda path: path.stem
)
def test_gates_of_inet_are_open_when_the_plans_are(path: Path) -> None:
    document = document_of(path)
    network = Network(document)
    text = export(document, ["inet"]).files["inet/omnetpp.ini"]
    lines = dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line)
    checked = 0
    for number, port in enumerate(document["ports"]):
        gates = port.get("gates")
        if gates is None:
            continue
        name = document["nodes"][port["node"]]["name"]
        for one in range(len(port["classes"])):
            gate = f"*.{name}.eth[{network.place(number)}].macLayer.queue.transmissionGate[{one}]"
            begin = gates["base_time_ns"]
            for entry in [*gates["entries"], *gates["entries"]]:
                for at in (begin, begin + entry["interval_ns"] - 1):
                    if at >= 0:
                        assert gate_at(lines, gate, at) == bool(entry["open"] >> one & 1)
                        checked += 1
                begin += entry["interval_ns"]
    assert checked > 3


def test_ned_has_every_node_and_link() -> None:
    document = rich()
    ned = export(document, ["inet"]).files["inet/network.ned"]
    assert len(re.findall(r": Tsn(?:Device|Switch) ", ned)) == len(document["nodes"])
    assert ned.count("<--> EthernetLink") == len(document["ports"]) // 2
    assert ned.count("{") == ned.count("}")
