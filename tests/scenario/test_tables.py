"""Streams from a table beside the scenario: the same scenario as from YAML, and mistakes with places.

``TSNBENCH_UPDATE=1 pytest tests/scenario/test_tables.py`` writes the messages anew.
"""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

from support.golden import messages_match
from tsnbench.planning import plan
from tsnbench.scenario import ScenarioErrors, load, load_variants

FOLDER = Path(__file__).parent.parent / "errors" / "tables"
CASES = sorted(FOLDER.glob("*.yaml"))

HEAD = """\
name: t
duration: 10 ms
network: {stations: [a, b, c], bridges: [sw], links: {rate: 1 Gbit/s, between: [a -- sw, b -- sw, c -- sw]}}
"""
WRITTEN = """\
streams:
  s1: {from: a, to: b, period: 250 us, frame: 100 B, scheduled: true,
       requires: {delay: 1 ms, jitter spread: 1 us}}
  s2: {from: b, to: [a, c], period: 500 us, frame: 200 B, requires: {delay: 2 ms}}
  s3: {from: c, to: a, poisson: 10 Mbit/s, frame: 100 B, scheduled: false}
"""
COLUMNS = "name,from,to,period (us),poisson,frame (B),scheduled,requires.delay [ms],requires.jitter spread"
ROWS = """\
s1,a,b,250,,100,true,1,1 us
s2,b,"[a, c]",500,,200,,2,
s3,c,a,,10 Mbit/s,100 B,false,,
"""


STREAMS = "streams: {table: s.csv}\n"


def written(folder: Path, text: str, **tables: str) -> Path:
    """The file of a scenario, with tables beside it."""
    for name, rows in tables.items():
        (folder / f"{name}.csv").write_text(rows, encoding="utf-8")
    file = folder / "t.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def _planned(folder: Path, streams: str, **tables: str) -> str:
    return plan(load(written(folder, HEAD + streams, **tables))).to_json()


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_rows_mean_what_lines_of_yaml_mean(tmp_path: Path, mark: str) -> None:
    text = f"{COLUMNS}\n{ROWS}"
    if mark != ",":
        text = text.replace('"[a, c]"', "[a | c]").replace(",", mark).replace("[a | c]", "[a, c]")
    rows = "\ufeff" + text.replace("\n", "\r\n")
    assert _planned(tmp_path, STREAMS, s=rows) == _planned(tmp_path, WRITTEN)


def test_parquet_has_numbers_of_its_own(tmp_path: Path) -> None:
    columns = {
        "name": ["s1", "s2", "s3"],
        "from": ["a", "b", "c"],
        "to": ["b", "[a, c]", "a"],
        "period (us)": [250, 500, None],
        "poisson": [None, None, "10 Mbit/s"],
        "frame (B)": [100, 200, 100],
        "scheduled": [True, None, False],
        "requires.delay (ms)": [1.0, 2.0, None],
        "requires.jitter spread": ["1 us", None, None],
    }
    polars.DataFrame(columns).write_parquet(tmp_path / "s.parquet")
    assert _planned(tmp_path, "streams: {table: s.parquet}\n") == _planned(tmp_path, WRITTEN)


def test_other_streams_stand_beside_the_table(tmp_path: Path) -> None:
    header, *rows = f"{COLUMNS}\n{ROWS}".splitlines(keepends=True)
    first = "".join(WRITTEN.splitlines(keepends=True)[1:3])
    beside = _planned(tmp_path, f"streams:\n{first}  table: s.csv\n", s="".join([header, *rows[1:]]))
    assert beside == _planned(tmp_path, WRITTEN)


def test_a_stream_may_be_called_table(tmp_path: Path) -> None:
    text = f"{HEAD}streams: {{table: {{from: a, to: b, period: 1 ms, frame: 100 B}}}}\n"
    assert list(load(written(tmp_path, text)).streams) == ["table"]


def test_parameters_and_sweeps_stand_in_cells(tmp_path: Path) -> None:
    rows = 'name,from,to,period,frame\ns1,a,b,"[1 ms, 2 ms]",${size}\n'
    runs = load_variants(written(tmp_path, f"{HEAD}parameters: {{size: 100 B}}\n{STREAMS}", s=rows))
    assert [dict(one.variant) for one in runs] == [{"period": "1 ms"}, {"period": "2 ms"}]
    assert [one.streams["s1"].size.octets for one in runs] == [100, 100]


def test_planning_names_the_row(tmp_path: Path) -> None:
    file = written(tmp_path, HEAD + STREAMS, s="name,from,to,period,frame\ns1,a,b,1 ms,100 B\n")
    assert load(file).where("streams.s1.period") == f"{tmp_path / 's.csv'}:2:4"
    assert load(file).where("streams.s1") == f"{tmp_path / 's.csv'}:2:1"


def test_rows_are_counted_in_lines_of_the_file(tmp_path: Path) -> None:
    """A quoted cell may contain line breaks."""
    text = 'name,from,to,period,frame\ns1,a,"[b,\n\n c]",1 ms,100 B\n\ns2,a,b,1 ms,100 B\n'
    file = written(tmp_path, HEAD + STREAMS, s=text)
    assert load(file).where("streams.s1.period") == f"{tmp_path / 's.csv'}:2:4"
    assert load(file).where("streams.s2.period") == f"{tmp_path / 's.csv'}:6:4"


def test_a_table_has_as_few_values_as_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, HEAD + STREAMS, s=f"{COLUMNS}\n{ROWS * 3}")
    monkeypatch.setenv("TSNBENCH_MOST_VALUES", "60")
    with pytest.raises(ScenarioErrors, match=r"s\.csv:8:1: expected at most 60 values"):
        load(file)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_wording(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    assert isinstance(messages_match(case), ScenarioErrors)


NODES = (
    "name,kind,processing (us),forwarding.mode,forwarding.after (B)\na,station,,,\nb,station,,,\nc,host,1,,\n"
    + ("sw,bridge,2,cut-through,337\n")
)
LINKS = "between,rate,cable (m),parallel,back.rate\na -- sw,100 Mbit/s,15,,\nsw -- b,,,2,10 Mbit/s\n"
NETWORK = """\
name: t
duration: 10 ms
streams: {s: {from: a, to: b, period: 1 ms, frame: 100 B}}
network:
  rate: 1 Gbit/s
"""
WRITTEN_NETWORK = """\
  stations: [a, b]
  host c: {processing: 1 us}
  bridge sw: {processing: 2 us, forwarding: {mode: cut-through, after: 337 B}}
  links:
    - {between: a -- sw, rate: 100 Mbit/s, cable: 15 m}
    - {between: sw -- b, parallel: 2, back: {rate: 10 Mbit/s}}
    - c -- sw
"""


def test_nodes_and_links_of_tables_are_those_of_yaml(tmp_path: Path) -> None:
    tables = "  nodes: {table: nodes.csv}\n  links: [{table: links.csv}, c -- sw]\n"
    from_tables = plan(load(written(tmp_path, NETWORK + tables, nodes=NODES, links=LINKS)))
    assert plan(load(written(tmp_path, NETWORK + WRITTEN_NETWORK))).to_json() == from_tables.to_json()


def test_three_tables_name_their_own_files(tmp_path: Path) -> None:
    """Each mistake names the table that has it; all mistakes of all tables' headers are told at once."""
    network = "network: {nodes: {table: n.csv}, links: {table: l.csv}}\n"

    def told(nodes: str, links: str, streams: str) -> list[str]:
        text = f"name: t\nduration: 1 ms\n{network}{STREAMS}"
        file = written(tmp_path, text, n=nodes, l=links, s=streams)
        with pytest.raises(ScenarioErrors) as raised:
            load(file)
        said = str(raised.value).replace(f"{tmp_path}/", "").splitlines()
        return sorted(line for line in said if not line.startswith("  "))

    assert told("name\na\n", "between,rat\na -- b,1\n", "name,frm\ns,a\n") == [
        "l.csv:1:2: expected a key of a link, found rat",
        "n.csv:1:1: expected a column kind, found none",
        "s.csv:1:2: expected a key of a stream, found frm",
    ]
    assert told("name,kind\na,sation\nb,\n,host\n", "between\na -- b\n", "name,from\ns,a\n") == [
        "n.csv:2:2: expected station, bridge or host, found sation",
        "n.csv:3:2: expected station, bridge or host, found nothing",
        "n.csv:4:1: expected the name of a node, found nothing",
    ]
    nodes = "name,kind\na,station\nb,station\na,bridge\n"
    assert told(
        nodes, "between,rate\na -- b,1 Gbit/s\na -- b,fast\n", "name,from,to,period,frame\ns,a,q,1 ms,9\n"
    ) == [
        "l.csv:3:2: network.links[1].rate: expected a rate with a unit, found fast",
        "n.csv:4:1: network.bridge a: expected a name of its own for each node, found a again",
        "s.csv:2:5: streams.s.frame: expected a size with a unit, found 9",
    ]


def test_a_mistake_that_only_planning_finds_names_the_table(tmp_path: Path) -> None:
    text = "name: t\nduration: 1 ms\nnetwork: {stations: [a, b], bridges: [sw], links: {table: l.csv}}\n"
    scenario = load(
        written(
            tmp_path,
            f"{text}{STREAMS}shapers: {{sw -> b: {{cbs: from-streams}}}}\n",
            l="between,rate\na -- sw,1 Gbit/s\nsw -- b,10 Mbit/s\n",
            s="name,from,to,class,period,frame\ns,a,b,sr/A,125 us,1000 B\n",
        )
    )
    assert scenario.where("network.links[1].rate") == f"{tmp_path}/l.csv:3:2"
    assert scenario.where("streams.s.period") == f"{tmp_path}/s.csv:2:5"


def test_links_may_be_the_table_alone_and_need_a_row(tmp_path: Path) -> None:
    text = NETWORK + "  stations: [a, b]\n  links: {table: l.csv}\n"
    assert len(load(written(tmp_path, text, l="between\na -- b\n")).network.links) == 1
    for changed, said in (
        (text, r"network\.links\.table: expected a row for each link, found the header"),
        (text.replace("l.csv", "l.txt"), r"write links: \{table: links\.csv\}"),
    ):
        with pytest.raises(ScenarioErrors, match=said):
            load(written(tmp_path, changed, l="between\n"))


def test_a_scenario_has_at_most_a_hundred_tables(tmp_path: Path) -> None:
    def with_tables(number: int) -> Path:
        links = ", ".join(["{table: l.csv}"] * number)
        text = f"{NETWORK}  stations: [a, b]\n  links: [{links}]\n"
        return written(tmp_path, text, l="between\na -- b\n")

    assert len(load(with_tables(100)).network.links) == 100
    with pytest.raises(ScenarioErrors, match="expected at most 100 tables, found more"):
        load(with_tables(101))


def test_rows_that_differ_in_their_ends_only_are_lines_of_yaml(tmp_path: Path) -> None:
    ends = [(n, "ab"[n % 2], "bc"[n % 2]) for n in range(6)]
    rows = "".join(f"s{n},{a},{b},250,100\n" for n, a, b in ends)
    lines = "".join(f"  s{n}: {{from: {a}, to: {b}, period: 250 us, frame: 100 B}}\n" for n, a, b in ends)
    table = f"name,from,to,period (us),frame (B)\n{rows}"
    assert _planned(tmp_path, STREAMS, s=table) == _planned(tmp_path, f"streams:\n{lines}")


@pytest.mark.parametrize(
    ("row", "place", "found"),
    [
        ("s3,a,x,250,100", "4:3", "found x"),
        ("s3,a,a,250,100", "4:3", "found a"),
        ("s3,,b,250,100", "4:1", "found none"),
        ("s3,a,b,250,100,7", "4:6", "found 6"),
        (",a,b,250,100", "4:1", "found nothing"),
        ("s3,a,b,[1 ms,100", "4:4", "found [1 ms"),
    ],
)
def test_a_mistake_in_a_row_like_others_is_noted_once_at_its_cell(
    tmp_path: Path, row: str, place: str, found: str
) -> None:
    text = f"name,from,to,period (us),frame (B)\ns1,a,b,250,100\ns2,b,c,250,100\n{row}\n"
    with pytest.raises(ScenarioErrors) as raised:
        load(written(tmp_path, HEAD + STREAMS, s=text))
    (problem,) = raised.value.problems
    assert f"s.csv:{place}:" in str(problem)
    assert found in str(problem)
