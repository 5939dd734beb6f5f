"""Communication matrices in CSV and Excel: shapes of tables, languages, units, and what is not taken."""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import openpyxl
import pytest

from support.commands import tsnbench
from tsnbench.errors import ContentError, InputError
from tsnbench.exports.lists import matrix, streams
from tsnbench.exports.lists.matrix import cells, words
from tsnbench.exports.lists.matrix.cells import CellError
from tsnbench.planning import plan
from tsnbench.scenario import read_scenario
from tsnbench.scenario.model import Scenario

ENGLISH = """\
Message,Sender,Receivers,Cycle Time [ms],Payload [byte],PCP,VLAN ID,Max. Latency [ms],Comment
steer,esp,"drive; hub",2.5,64,6,100,1,
speed,motor,hub,10,8,5,,5,slow
"""


def imported(path: Path, network: streams.Network | None = None) -> tuple[Scenario, str]:
    """The scenario of a matrix with the proposed columns, and its text."""
    book = matrix.book_of(path)
    said, text = matrix.proposed(book)
    kept = path.with_name("columns.yaml")
    kept.write_text(text, encoding="utf-8")
    again = matrix.columns_of(kept)
    assert not list(again.questions())
    assert (again.columns, again.units, again.nodes) == (said.columns, said.units, said.nodes)
    made = matrix.scenario(book, again, network)
    (found,) = read_scenario(made, "scenario.yaml")
    assert plan(found)
    return found, made


def told(found: Scenario) -> dict[str, tuple[object, ...]]:
    """What a test looks at: talker, listeners, PCP, period."""
    return {
        name: (one.talker, one.listeners, one.pcp, getattr(one.pattern, "period", None))
        for name, one in found.streams.items()
    }


def lost(text: str) -> list[str]:
    """The rows that are not taken."""
    head = text.partition("\nname:")[0]
    return [line.strip("# ") for line in head.partition("# Not taken, by row:\n")[2].splitlines()]


def csv_of(tmp_path: Path, text: str, encoding: str = "utf-8") -> Path:
    path = tmp_path / "matrix.csv"
    path.write_bytes(text.encode(encoding))
    return path


def test_a_matrix_in_english(tmp_path: Path) -> None:
    found, text = imported(csv_of(tmp_path, ENGLISH))
    assert told(found) == {
        "steer": ("esp", ("drive", "hub"), 6, 2_500_000),
        "speed": ("motor", ("hub",), 5, 10_000_000),
    }
    assert {name: one.vid for name, one in found.streams.items()} == {"steer": 100, "speed": 100}
    assert "requires: {delay: 5 ms}" in text
    assert "columns that are not used: Comment" in text
    assert "all 4 nodes are at one bridge, at 1 Gbit/s" in text
    assert lost(text) == []


GERMAN = """\
Kommunikationsmatrix Stand 3;;;;;
;;;;;
Botschaft;Sender-Steuerger\u00e4t;Empf\u00e4nger;Zykluszeit [ms];Nutzdaten [Byte];Priorit\u00e4t
Lenkwinkel;ESP;Lenkung, Zentral-Rechner;2,5;64;6
;;Kombi;;;
T\u00fcr;T\u00fcr links;alle;1.000,0;8;1
Warnung;ESP;Kombi;bei Ereignis;8;1
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "latin-1"])
def test_a_german_export_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    found, text = imported(csv_of(tmp_path, GERMAN, encoding))
    assert told(found) == {
        "Lenkwinkel": ("ESP", ("Lenkung", "Zentral-Rechner", "Kombi"), 6, 2_500_000),
        "Tuer": ("Tuer-links", ("ESP", "Lenkung", "Zentral-Rechner", "Kombi"), 1, 10**9),
    }
    assert lost(text) == ["row 7: period: expected a number, found bei Ereignis"]
    assert ("is read as Windows-1252" in text) == (encoding in ("cp1252", "latin-1"))


def test_signals_of_one_message_are_one_stream(tmp_path: Path) -> None:
    text = (
        "Frame Name|Signal|Sender|Receiver|Period (us)|Length (bit)\n"
        "A|s1|x|y|500|64\nA|s2|x|z|500|64\nA|s3|x|y|900|64\nB|s4|y|y|500|64\n"
    )
    found, made = imported(csv_of(tmp_path, text))
    assert told(found) == {"A": ("x", ("y", "z"), 0, 500_000), "A-2": ("x", ("y",), 0, 900_000)}
    assert lost(made) == [
        "row 4: A differs from row 2; both are written",
        "row 5: B: its sender is its only receiver",
    ]


def test_columns_of_nodes_with_signs(tmp_path: Path) -> None:
    text = (
        "PDU,Cycle [ms],Length [byte],is signed,esp,motor,hub\na,10,8,s,S,,E\nb,20,8,s,r,tx,Rx\nc,20,8,,,,r\n"
    )
    found, made = imported(csv_of(tmp_path, text))
    assert told(found) == {"a": ("esp", ("hub",), 0, 10**7), "b": ("motor", ("esp", "hub"), 0, 2 * 10**7)}
    assert lost(made) == ["row 4: no sender"]


CANMATRIX = """\
ID,Frame Name,Cycle Time [ms],Launch Type,Launch Parameter,Signal Byte No.,Signal Bit No.,Signal Name,\
Signal Function,Signal Length [Bit],Signal Default, Signal Not Available,Byteorder,is signed,esp,hub,\
Name / Phys. Range,Function / Increment Unit,Value,frame.,signal.
  1h,Steer,10,,,1,0,sigSteer,,8,0.0, ,i,s,s,r,-128..127,,,,
  2h,Door,100,,,1,0,sigDoor,,8,0.0, ,i,s,r,s,-128..127,,,,
"""
"""Written by canmatrix 1.3.3."""


def test_a_matrix_that_canmatrix_wrote_asks_for_sizes_alone(tmp_path: Path) -> None:
    book = matrix.book_of(csv_of(tmp_path, CANMATRIX))
    said, _ = matrix.proposed(book)
    assert list(said.questions()) == ["columns.payload: the header of its column, or `none`"]
    assert said.nodes == ["esp", "hub"]
    said.columns["payload"], said.defaults = ["none"], {"payload": "8 B"}
    (found,) = read_scenario(matrix.scenario(book, said), "s.yaml")
    assert told(found) == {"Steer": ("esp", ("hub",), 0, 10**7), "Door": ("hub", ("esp",), 0, 10**8)}


def test_units_in_cells_and_sizes_of_all_kinds(tmp_path: Path) -> None:
    text = (
        "Stream,Talker,Listener,Interval,Size,Protocol\n"
        "a,x,y,125 us,100 bit,UDP\nb,x,y,50 Hz,4 kB,SOME/IP\nc,x,y,0.5 s,200 byte,AVTP (L2)\n"
        "d,x,y,1 ms,8 byte,CAN FD\ne,x,y,1 ms,2000 B,L2\nf,x,y,10 ms,8 byte,TCP\ng,x,y,0 ms,8 byte,UDP\n"
    )
    _, made = imported(csv_of(tmp_path, text))
    lines = [line.strip() for line in made.partition("streams:\n")[2].splitlines()]
    assert lines == [
        "a: {from: x, to: y, period: 125 us, payload: 13 B}",
        "b: {from: x, to: y, period: 20 ms, units: [4000 B]}",
        "c: {from: x, to: y, period: 500 ms, frame: 222 B}",
        "f: {from: x, to: y, period: 10 ms, payload: 8 B}",
    ]
    assert lost(made) == [
        "row 5: a message of another bus: can fd",
        "row 6: a frame of 2022 B; at most 1522 B are possible",
        "row 7: TCP; the message is written as a periodic one over UDP",
        "row 8: period: expected a time above 0 and of at most 1000000 s, found 0 ms",
    ]


def excel(path: Path, fill: Callable[[openpyxl.Workbook], None]) -> Path:
    book = openpyxl.Workbook()
    fill(book)
    book.save(path)
    return path


def test_sheets_of_excel_with_merged_cells_and_numbers(tmp_path: Path) -> None:
    def fill(book: openpyxl.Workbook) -> None:
        book.active.title = "Deckblatt"
        book.active["A1"] = "K-Matrix"
        for domain in ("Body", "Chassis"):
            sheet = book.create_sheet(f"{domain} ")
            sheet["A1"] = f"{domain}: Ethernet"
            sheet.merge_cells("A1:F1")
            sheet.append(["Name", "Teilnehmer", None, "Zeit", None, "Daten"])
            sheet.append(
                ["Name", "Sender", "Empf\u00e4nger", "Zyklus [ms]", "Max. Latenz [ms]", "L\u00e4nge [Byte]"]
            )
            sheet.merge_cells("A2:A3")
            sheet.append([f"{domain}1", "g", "h", 0.1 + 0.2, 5, 8])
            sheet.append([None, None, "k", None, None, None])
            sheet.append([f"{domain}2", "h", "g", "=1+1", 5, 8])
            for column in "ABDEF":
                sheet.merge_cells(f"{column}4:{column}5")

    found, made = imported(excel(tmp_path / "m.xlsx", fill))
    assert told(found) == {
        "Body1": ("g", ("h", "k"), 0, 300_000),
        "Chassis1": ("g", ("h", "k"), 0, 300_000),
    }
    assert lost(made) == [
        "the sheet Deckblatt: 1 rows",
        "Body row 6: period: expected a number, found nothing",
        "Chassis row 6: period: expected a number, found nothing",
    ]


def test_what_is_not_known_is_asked_for_and_then_used(tmp_path: Path) -> None:
    csv_of(tmp_path, "Telegramm;Wer;Ziel;Takt;Größe\nt1;a;b;1.000;1.500\n")
    done = tsnbench("import", "matrix", "matrix.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "matrix.csv.columns.yaml: written" in done.stderr
    for question in (
        "columns.from: the header",
        "units.period: the unit of Takt",
        "decimal: `point` or `comma`",
    ):
        assert f"hint: {question}" in done.stderr
    kept = tmp_path / "matrix.csv.columns.yaml"
    text = kept.read_text(encoding="utf-8").replace('from: "?"', 'from: "Wer"')
    text = text.replace('period: "?"', "period: us").replace('payload: "?"', "payload: bit")
    kept.write_text(text.replace('decimal: "?"', "decimal: comma"), encoding="utf-8")
    done = tsnbench("import", "matrix", "matrix.csv", "--into", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (found,) = read_scenario((tmp_path / "out/scenario.yaml").read_text(encoding="utf-8"), "s.yaml")
    assert told(found) == {"t1": ("a", ("b",), 0, 1_000_000)}


def test_a_given_network_has_the_nodes(tmp_path: Path) -> None:
    network = tmp_path / "net.yaml"
    network.write_text(
        "name: net\nduration: 1 ms\nnetwork:\n  # of the car\n  stations: [ESP, hub, drive]\n"
        "  bridges: [sw]\n  links: {rate: 100 Mbit/s, between: [ESP -- sw, hub -- sw, drive -- sw]}\n"
        "streams: {x: {from: hub, to: drive, period: 1 ms, payload: 1 B}}\n",
        encoding="utf-8",
    )
    csv_of(tmp_path, ENGLISH)
    done = tsnbench("import", "matrix", "matrix.csv", "--network", network, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (found,) = read_scenario(done.stdout, "s.yaml")
    assert told(found) == {"steer": ("ESP", ("drive", "hub"), 6, 2_500_000)}
    assert {one.rate for one in found.network.links} == {10**8}
    assert "the network is that of net.yaml" in done.stdout
    assert lost(done.stdout) == ["row 3: speed: no such node in the network: motor"]


NUMBERS = {
    ("2,5", True): "5/2", ("2.5", False): "5/2", ("1.234,5", False): "2469/2", ("1,234.5", True): "2469/2",
    ("1.000", True): "1000", ("1.000", False): "1", ("1'000", False): "1000", ("1 000", False): "1000",
    ("1.000.000", False): "1000000", ("1 000,500", None): "2001/2",
    ("0,125", None): "1/8", (".5", None): "1/2", ("12", None): "12",
}  # fmt: skip


@pytest.mark.parametrize("given", NUMBERS)
def test_numbers_of_both_languages(given: tuple[str, bool | None]) -> None:
    assert cells.number(*given) == Fraction(NUMBERS[given])


@pytest.mark.parametrize(
    "text", ["1.000", "1,000", "1.2.3,4.5", "1" * 31, ".", "12.05.2024", "10 20", "1,2,3.5"]
)
def test_numbers_that_are_refused(text: str) -> None:
    with pytest.raises(CellError):
        cells.number(text, None)


def test_a_cell_of_excel_is_the_number_that_excel_shows() -> None:
    assert cells.time_ns(Decimal("0.3"), "ms", None) == 300_000
    with pytest.raises(CellError, match="a time with a unit"):
        cells.time_ns(Decimal(5), "", None)


KEYS = {
    "from": "Sender ECU|Source Node|Talker|Sendendes Steuerger\xe4t|Quelle|Von Ger\xe4t",
    "to": "Receiver(s)|Empf\xe4nger 2|Sink|Ziel-ECU|Nach",
    "period": "Cycle Time [ms]|Sendezyklus (ms)|Periodendauer|cycle_ms|Takt",
    "payload": "DLC|Payload Size [Byte]|Botschaftsl\xe4nge|L\xe4nge",
    "frame": "Frame Length",
    "pcp": "Priorit\xe4t|VLAN Priority|PCP|Priority (7 = highest)",
    "vlan": "VLAN-ID|VLAN",
    "deadline": "Deadline|max. E2E latency [us]",
    "protocol": "Protokoll",
    "name": "Message|Signalname|PDU-Name",
    "": "Source IP|Start Bit|Signal Length [Bit]|Remark|Destination MAC address|UDP Port|Min. Cycle|Version"
    "|Priority (DSCP)|Priority (1 = highest)|Priorit\xe4t (h\xf6chste: 0)",
}
HEADERS = {header: key for key, several in KEYS.items() for header in several.split("|")}


@pytest.mark.parametrize("header", HEADERS)
def test_headers(header: str) -> None:
    fits = {key: rank for key in words.KEYS if (rank := words.rank(key, header)) is not None}
    assert min(fits, key=fits.__getitem__, default="") == HEADERS[header]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sheets: [a]\ncolumns: {from: x}\n", "expected the sheet a"),
        ("columns: {form: x}\n", "columns: expected some of name, from, to"),
        ("columns: {from: Talker}\n", "expected a header with Talker, found none"),
        ("units: {period: h}\n", "units.period: expected a unit, found h"),
        ("decimal: dot\n", "decimal: expected point or comma, found dot"),
        ("other: 1\n", "expected the keys columns, decimal"),
        ("columns: [a]\ndefaults: {name: x}\n", "defaults: expected some of period"),
        ("columns: {from: [[a]]}\n", "columns.from: expected the text of a header, found a list"),
        ("columns: {from: Sender, to: Receivers}\n", "expected rows with messages, found none; row 2"),
    ],
)
def test_columns_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    kept = tmp_path / "c.yaml"
    kept.write_text(text, encoding="utf-8")
    book = matrix.book_of(csv_of(tmp_path, ENGLISH))
    with pytest.raises(ContentError, match=message.replace("[", r"\[")):
        matrix.scenario(book, matrix.columns_of(kept))


def test_defaults_fill_cells_without_a_number(tmp_path: Path) -> None:
    book = matrix.book_of(csv_of(tmp_path, GERMAN))
    said, _ = matrix.proposed(book)
    said.defaults = {"period": "100 ms", "vlan": "7"}
    (found,) = read_scenario(matrix.scenario(book, said), "s.yaml")
    assert told(found)["Warnung"] == ("ESP", ("Kombi",), 1, 10**8)
    assert told(found)["Lenkwinkel"][1] == ("Lenkung", "Zentral-Rechner", "Kombi")
    assert {one.vid for one in found.streams.values()} == {7}


def test_a_small_b_is_asked_for_and_dscp_is_no_priority(tmp_path: Path) -> None:
    text = "Message,Sender,Receiver,Cycle [ms],Length [b],Priority (DSCP)\na,x,y,10,64,3\nb,x,y,10,8 kb,3\n"
    book = matrix.book_of(csv_of(tmp_path, text))
    said, _ = matrix.proposed(book)
    assert list(said.questions()) == ["units.payload: the unit of Length [b], B, bit"]
    said.units["payload"] = "bit"
    made = matrix.scenario(book, said)
    assert "a: {from: x, to: y, period: 10 ms, payload: 8 B}" in made
    assert "columns that are not used: Priority (DSCP)" in made
    assert lost(made) == ["row 3: payload: expected a size in B or bit, found 8 kb"]


def test_rows_that_could_pass_unseen_are_told(tmp_path: Path) -> None:
    """Buses with numbers, an open receiver, a sender that differs in case, and what a message lacks."""
    text = (
        "Message,Sender,Receiver,Cycle [ms],Cycle [ms],Frame Size [byte],PCP,Bus\n"
        "a,x,y,10,1,100,1,CAN1\nb,x,y,10,1,100,1,HS_CAN\nc,x,y,10,1,100,1,LIN_2\n"
        'd,x,"y, ?",10,1,8,,Ethernet\ne,X,x,10,1,100,1,Ethernet\nf,x,y,10,1,0,1,Ethernet\n'
        "g,x,z,10,1,100,1,Ethernet_2\n"
    )
    found, made = imported(csv_of(tmp_path, text))
    assert told(found) == {"d": ("x", ("y",), 0, 10**7), "g": ("x", ("z",), 1, 10**7)}
    assert lost(made) == [
        "row 2: a message of another bus: can1",
        "row 3: a message of another bus: hs_can",
        "row 4: a message of another bus: lin_2",
        "row 5: a receiver that is not known yet",
        "row 5: a frame of 8 B is sent as one of 64 B",
        "row 7: frame: expected a size above 0 and of at most 1 GB, found 0",
        "row 6: e: its sender is its only receiver",
    ]
    assert "messages without a priority have PCP 0: d" in made
    assert "columns that are not used: a further Cycle [ms]" in made


def test_a_message_for_all_of_a_list_with_one_node(tmp_path: Path) -> None:
    book = matrix.book_of(csv_of(tmp_path, "Message,Sender,Receiver,Cycle [ms],Size [byte]\na,x,all,5,8\n"))
    with pytest.raises(ContentError, match="row 2: a: it is for all, and the list has no other node"):
        matrix.scenario(book, matrix.proposed(book)[0])


def test_a_name_that_is_merged_over_its_receivers(tmp_path: Path) -> None:
    def fill(book: openpyxl.Workbook) -> None:
        for row in (HEADER, ["m", "a", "b", 5, 8, 1], [None, None, "c"], ["n", "a", "c", 5, 8, 1]):
            book.active.append(row)
        book.active.merge_cells("A2:A3")

    found, made = imported(excel(tmp_path / "m.xlsx", fill))
    assert told(found) == {"m": ("a", ("b", "c"), 1, 5_000_000), "n": ("a", ("c",), 1, 5_000_000)}
    assert lost(made) == []


HEADER = ["Message", "Sender", "Receiver", "Cycle [ms]", "Size [byte]", "PCP"]


def test_what_excel_hides_and_what_it_has_not_computed(tmp_path: Path) -> None:
    def fill(book: openpyxl.Workbook) -> None:
        sheet = book.active
        sheet.title = "A"
        for row in (HEADER, ["m1", "a", "b", 10, 8, "=3+3"], ["m2", "a", "b", 5, 8, 1]):
            sheet.append(row)
        sheet.row_dimensions[3].hidden = sheet.column_dimensions["F"].hidden = True
        old = book.create_sheet("old")
        old.append(HEADER)
        old.append(["m0", "a", "b", 1, 8, 1])
        old.sheet_state = "hidden"

    found, made = imported(excel(tmp_path / "m.xlsx", fill))
    assert set(found.streams) == {"m1", "m2"}
    assert lost(made) == ["the sheet old, which is hidden: 2 rows"]
    assert "hidden rows of A are read like others" in made
    assert "hidden columns of A are read like others" in made
    assert "A has 1 formulas without a stored value, the first one in F2; " in made
    assert "messages without a priority have PCP 0: m1" in made


def test_sheets_of_one_matrix_are_one_list(tmp_path: Path) -> None:
    """A message on several sheets is sent once; a number on the last sheet shows the decimal sign."""

    def fill(book: openpyxl.Workbook) -> None:
        for name, rows in {
            "A": [["m", "a", "b", 5, 8, 1]],
            "B": [["m", "a", "c", 5, 8, 1], ["m", "a", "c", "1.000", 8, 1], ["n", "a", "c", "2,5", 8, 1]],
        }.items():
            sheet = book.create_sheet(name)
            for row in (HEADER, *rows):
                sheet.append(row)

    found, made = imported(excel(tmp_path / "m.xlsx", fill))
    assert told(found) == {
        "m": ("a", ("b", "c"), 1, 5_000_000),
        "m-2": ("a", ("c",), 1, 10**9),
        "n": ("a", ("c",), 1, 2_500_000),
    }
    assert "B row 3: m differs from A row 2; both are written" in lost(made)
    assert "messages of one name have numbers: m" in made


def test_a_number_that_no_other_explains_is_no_number(tmp_path: Path) -> None:
    """The first file has whole numbers alone; the next one could have a decimal sign or thousands."""
    said, text = matrix.proposed(matrix.book_of(csv_of(tmp_path, ENGLISH.replace("2.5", "2"))))
    assert "decimal" not in text
    book = matrix.book_of(csv_of(tmp_path, ENGLISH.replace("2.5", "1.000")))
    expected = "period: expected a number that has one reading (decimal: point or comma), found 1.000"
    assert lost(matrix.scenario(book, said)) == [f"row 2: {expected}"]


def test_a_file_of_another_program_is_named(tmp_path: Path) -> None:
    old = tmp_path / "m.xls"
    old.write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(InputError, match=r"hint: save it as \.xlsx or as CSV"):
        matrix.book_of(old)


def test_a_sign_without_blanks_is_a_part_of_a_name(tmp_path: Path) -> None:
    """`A / B` are two nodes, `A/B` is one, which is told where A or B is a node, too."""
    rows = "a,A,B / C,5,8\nb,A,B/C,5,8\nc,A,Ctrl/I,5,8\n"
    found, made = imported(csv_of(tmp_path, f"Message,Sender,Receiver,Cycle [ms],Size [byte]\n{rows}"))
    listeners = [one.listeners for one in found.streams.values()]
    assert listeners == [("B", "C"), ("B-C",), ("Ctrl-I",)]
    assert "names with a sign between other names are one node, not two: B/C\n" in made


def test_names_of_nodes_that_nearly_agree(tmp_path: Path) -> None:
    """Upper and lower case are one node, which is told; all other characters make a difference."""
    rows = "a,ESP,T\u00fcr,5,8\nb,Esp,T\u00f6r,5,8\nc,\u524d,\u540e,5,8\n"
    text = f"Message,Sender,Receiver,Cycle [ms],Size [byte]\n{rows}"
    found, made = imported(csv_of(tmp_path, text))
    assert [(one.talker, one.listeners) for one in found.streams.values()] == [
        ("ESP", ("Tuer",)),
        ("ESP", ("Toer",)),
        ("n", ("n-2",)),
    ]
    assert "names that differ in upper and lower case are one node: ESP, Esp" in made


def test_excel_without_its_reader_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = excel(tmp_path / "m.xlsx", lambda book: None)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    done = tsnbench("import", "matrix", path)
    assert done.returncode == 2
    assert "hint: pip install 'tsnbench[excel]'" in done.stderr
    assert "tsnbench explain TSN0703" in done.stderr
