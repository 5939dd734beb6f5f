"""Streams from a table beside the scenario: the same scenario as from YAML, and mistakes with places.

``TSNBENCH_UPDATE=1 pytest tests/scenario/test_tables.py`` writes the messages anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import polars
import pytest

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


def _planned(folder: Path, streams: str) -> str:
    file = folder / "t.yaml"
    file.write_text(HEAD + streams, encoding="utf-8")
    return plan(load(file)).to_json()


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_rows_mean_what_lines_of_yaml_mean(tmp_path: Path, mark: str) -> None:
    text = f"{COLUMNS}\n{ROWS}"
    if mark != ",":
        text = text.replace('"[a, c]"', "[a | c]").replace(",", mark).replace("[a | c]", "[a, c]")
    (tmp_path / "s.csv").write_text("\ufeff" + text.replace("\n", "\r\n"), encoding="utf-8")
    assert _planned(tmp_path, "streams: {table: s.csv}\n") == _planned(tmp_path, WRITTEN)


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
    (tmp_path / "s.csv").write_text("".join([header, *rows[1:]]), encoding="utf-8")
    first = "".join(WRITTEN.splitlines(keepends=True)[1:3])
    beside = _planned(tmp_path, f"streams:\n{first}  table: s.csv\n")
    assert beside == _planned(tmp_path, WRITTEN)


def test_a_stream_may_be_called_table(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(
        f"{HEAD}streams: {{table: {{from: a, to: b, period: 1 ms, frame: 100 B}}}}\n", encoding="utf-8"
    )
    assert list(load(tmp_path / "t.yaml").streams) == ["table"]


def test_parameters_and_sweeps_stand_in_cells(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(
        'name,from,to,period,frame\ns1,a,b,"[1 ms, 2 ms]",${size}\n', encoding="utf-8"
    )
    file = tmp_path / "t.yaml"
    file.write_text(f"{HEAD}parameters: {{size: 100 B}}\nstreams: {{table: s.csv}}\n", encoding="utf-8")
    runs = load_variants(file)
    assert [dict(one.variant) for one in runs] == [{"period": "1 ms"}, {"period": "2 ms"}]
    assert [one.streams["s1"].size.octets for one in runs] == [100, 100]


def test_planning_names_the_row(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("name,from,to,period,frame\ns1,a,b,1 ms,100 B\n", encoding="utf-8")
    file = tmp_path / "t.yaml"
    file.write_text(f"{HEAD}streams: {{table: s.csv}}\n", encoding="utf-8")
    assert load(file).where("streams.s1.period") == f"{tmp_path / 's.csv'}:2:4"
    assert load(file).where("streams.s1") == f"{tmp_path / 's.csv'}:2:1"


def test_rows_are_counted_in_lines_of_the_file(tmp_path: Path) -> None:
    """A quoted cell may contain line breaks."""
    text = 'name,from,to,period,frame\ns1,a,"[b,\n\n c]",1 ms,100 B\n\ns2,a,b,1 ms,100 B\n'
    (tmp_path / "s.csv").write_text(text, encoding="utf-8")
    file = tmp_path / "t.yaml"
    file.write_text(f"{HEAD}streams: {{table: s.csv}}\n", encoding="utf-8")
    assert load(file).where("streams.s1.period") == f"{tmp_path / 's.csv'}:2:4"
    assert load(file).where("streams.s2.period") == f"{tmp_path / 's.csv'}:6:4"


def test_a_table_has_as_few_values_as_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s.csv").write_text(f"{COLUMNS}\n{ROWS * 3}", encoding="utf-8")
    (tmp_path / "t.yaml").write_text(f"{HEAD}streams: {{table: s.csv}}\n", encoding="utf-8")
    monkeypatch.setenv("TSNBENCH_MOST_VALUES", "60")
    with pytest.raises(ScenarioErrors, match=r"s\.csv:8:1: expected at most 60 values"):
        load(tmp_path / "t.yaml")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_wording(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    with pytest.raises(ScenarioErrors) as raised:
        load_variants(case.name)
    golden, words = case.with_suffix(".txt"), f"{raised.value}\n"
    if os.environ.get("TSNBENCH_UPDATE"):
        golden.write_text(words, encoding="utf-8")
    assert words == golden.read_text(encoding="utf-8")
