"""Lists, parameters and alternatives: several runs from one file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tsnbench.scenario import ScenarioErrors, load, load_variants, model, read_scenario

HEAD = "name: sweep\nduration: 1 ms\n"


def runs(network: str, stream: str, more: str = "") -> list[model.Scenario]:
    return read_scenario(f"{HEAD}network: {network}\nstreams: {{s: {stream}}}\n{more}")


LINE = "{line: {hops: 1, kind: host, rate: 1 Gbit/s}}"


def test_a_list_makes_runs() -> None:
    found = runs(LINE, "{from: first, to: last, period: [1 ms, 2 ms], frame: 100 B}")
    assert [run.variant for run in found] == [{"period": "1 ms"}, {"period": "2 ms"}]
    periods = [run.streams["s"].pattern for run in found]
    assert periods == [model.Periodic(period=1_000_000), model.Periodic(period=2_000_000)]


def test_the_ellipsis_makes_seven_hops() -> None:
    found = runs(
        "{line: {hops: [1, 2, ... 7], kind: host, rate: 1 Gbit/s}}",
        "{from: first, to: last, period: 1 ms, frame: 100 B}",
    )
    assert [run.variant["hops"] for run in found] == ["1", "2", "3", "4", "5", "6", "7"]
    assert [len(run.network.links) for run in found] == [1, 2, 3, 4, 5, 6, 7]
    assert [run.streams["s"].listeners for run in found] == [(f"host{n}",) for n in range(2, 9)]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ("[100 us, 200 us, ... 500 us]", ["100 us", "200 us", "300 us", "400 us", "500 us"]),
        ("[0.5 ms, 1 ms, ... 2 ms]", ["0.5 ms", "1 ms", "1.5 ms", "2 ms"]),
        ("[400 us, 600 us, ... 1 ms]", ["400 us", "600 us", "800 us", "1000 us"]),
        ("[3 ms, 2 ms, ... 1 ms]", ["3 ms", "2 ms", "1 ms"]),
        ("[7 ms, 1 ms, 2 ms, ... 4 ms]", ["7 ms", "1 ms", "2 ms", "3 ms", "4 ms"]),
    ],
)
def test_ellipses(values: str, texts: list[str]) -> None:
    found = runs(LINE, f"{{from: first, to: last, period: {values}, frame: 100 B}}")
    assert [run.variant["period"] for run in found] == texts


def test_parameters_and_arithmetic_in_values_and_keys() -> None:
    more = "parameters: {hops: [2, 3]}\nshapers: {'host${hops} -> host${hops + 1}': {real-rate: 900 Mbit/s}}"
    found = runs(
        "{line: {nodes: '${hops + 1}', kind: host, rate: 1 Gbit/s}}",
        "{from: host${(hops - 1) // hops + 1}, to: host${hops + 1}, count: ${2 * hops}, "
        "period: 1 ms, frame: 100 B}",
        more,
    )
    assert [run.variant for run in found] == [{"hops": "2"}, {"hops": "3"}]
    assert [list(run.shapers) for run in found] == [["host2 -> host3"], ["host3 -> host4"]]
    assert [run.streams["s"].count for run in found] == [4, 6]
    assert [run.streams["s"].talker for run in found] == ["host1", "host1"]


def test_axes_multiply_the_first_varying_slowest() -> None:
    found = runs(
        LINE,
        "{from: first, to: last, period: [1 ms, 2 ms], frame: ['${size}', 300 B]}",
        "parameters: {size: [100 B, 200 B]}\nseed: [1, 2]",
    )
    assert [" ".join(run.variant.values()) for run in found] == [
        "1 ms 300 B 1", "1 ms 300 B 2", "2 ms 300 B 1", "2 ms 300 B 2",
        "100 B 1 ms ${size} 1", "100 B 1 ms ${size} 2", "100 B 2 ms ${size} 1", "100 B 2 ms ${size} 2",
        "200 B 1 ms ${size} 1", "200 B 1 ms ${size} 2", "200 B 2 ms ${size} 1", "200 B 2 ms ${size} 2",
    ]  # fmt: skip


def test_a_parameter_varies_only_where_it_is_used() -> None:
    """The runs of an alternative that does not use a parameter are not repeated for its values."""
    found = runs(
        LINE,
        "{from: first, to: last, period: 1 ms, frame: 100 B}",
        """
parameters:
  slot: [15 us, 45 us]
  port: {gated: {gates: {pattern: flextest/gcl-1, slot: "${slot}"}}, plain: {}}
shapers: {host1 -> host2: "${port}"}
""",
    )
    assert [run.variant for run in found] == [
        {"port": "plain"},
        {"slot": "15 us", "port": "gated"},
        {"slot": "45 us", "port": "gated"},
    ]


def test_named_alternatives_of_any_shape() -> None:
    found = runs(
        LINE,
        "{from: first, to: last, period: 1 ms, frame: 100 B}",
        """
parameters:
  port:
    plain: {}
    gated: {gates: {pattern: flextest/gcl-1, slot: [15 us, 45 us]}}
shapers: {host1 -> host2: "${port}"}
""",
    )
    assert [tuple(run.variant.values()) for run in found] == [
        ("plain",),
        ("gated", "15 us"),
        ("gated", "45 us"),
    ]
    gates = [run.shapers["host1 -> host2"].gates for run in found]
    assert gates[0] is None
    assert [gate.entries[0].duration for gate in gates[1:] if gate] == [15_000, 45_000]


def test_an_alternative_may_be_a_list_where_a_list_is_meant() -> None:
    found = runs(
        "{star: {nodes: 3, rate: 1 Gbit/s}}",
        "{from: station1, to: '${sinks}', period: 1 ms, frame: 100 B}",
        "parameters: {sinks: {one: station2, both: [station2, station3]}}",
    )
    assert [run.streams["s"].listeners for run in found] == [("station2",), ("station2", "station3")]


def test_constants_make_no_sweep() -> None:
    (found,) = runs(LINE, "{from: first, to: last, period: '${p}', frame: 100 B}", "parameters: {p: 250 us}")
    assert found.variant == {}


def test_equal_names_get_longer_paths() -> None:
    text = f"""{HEAD}
network: {LINE}
streams:
  s: {{from: first, to: last, period: [1 ms, 2 ms], frame: 100 B}}
  t: {{from: first, to: last, period: [1 ms, 2 ms], frame: 100 B}}
"""
    found = read_scenario(text)
    assert list(found[0].variant) == ["s.period", "t.period"]
    assert len(found) == 4


def test_load_refuses_a_sweep(tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(
        f"{HEAD}network: {LINE}\nstreams:\n"
        "  s: {from: first, to: last, period: [1 ms, 2 ms], frame: 99 B}\n"
    )
    assert len(load_variants(path)) == 2
    with pytest.raises(ScenarioErrors, match="found a sweep of 2 runs over period"):
        load(path)
    path.write_text(path.read_text().replace("[1 ms, 2 ms]", "1 ms"))
    assert load(path).name == "sweep"


def test_mistakes_of_every_alternative_are_found() -> None:
    with pytest.raises(ScenarioErrors) as raised:
        runs(
            LINE,
            "{from: first, to: last, period: '${p}', frame: 100 B}",
            "parameters: {p: [1 ms, 2, 3 ms, 4]}",
        )
    assert [problem.found for problem in raised.value.problems] == ["2", "4"]


@pytest.mark.parametrize(
    "values",
    [
        "{x: '${x}'}",
        "{x: {a: ['${x}', '${x}']}}",
        "{x: {a: {gates: '${x}'}}}",
        "{x: ['${y}'], y: {a: ['${x}']}}",
    ],
)
def test_parameters_within_themselves_end(values: str) -> None:
    for where in ("from: first, to: '${x}', period: 1 ms", "from: first, to: last, period: '${x}'"):
        with pytest.raises(ScenarioErrors):
            runs(LINE, f"{{{where}, frame: 100 B}}", f"parameters: {values}\nshapers: {{all: '${{x}}'}}")


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 50))
def test_arithmetic_is_pythons(a: int, b: int, c: int) -> None:
    expression = f"({a} + {b} * {c}) // {c} - -{c}"
    wanted = (a + b * c) // c - -c
    stream = f"from: first, to: last, period: 1 ms, frame: 100 B, vlan: '${{{expression}}}'"
    text = f"{HEAD}network: {LINE}\nstreams: {{s: {{{stream}}}}}\n"
    if 1 <= wanted <= 4094:
        (found,) = read_scenario(text)
        assert found.streams["s"].vid == wanted
    else:
        with pytest.raises(ScenarioErrors, match=f"found {wanted}$"):
            read_scenario(text)


def test_a_list_is_made_an_axis_once_however_many_runs_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 runs are allowed; an axis of 10,000 values in each of them would take quadratic time."""
    from tsnbench.scenario.text import sweep

    made: list[str] = []
    whole = sweep.axis_of

    def axis_of(path: str, values: sweep.Sequence) -> sweep.Axis:
        made.append(path)
        return whole(path, values)

    monkeypatch.setattr(sweep, "axis_of", axis_of)
    text = """
name: x
duration: 1 ms
parameters:
  n: [1, 2, ... 20]
network:
  stations: [a, b]
  links: {rate: 1 Gbit/s, between: [a -- b]}
streams:
  s: {from: a, to: b, period: [1 ms, 2 ms], offset: "${n} us", frame: 100 B}
"""
    assert len(read_scenario(text)) == 40
    assert sorted(made) == ["parameters.n", "streams.s.period"]
