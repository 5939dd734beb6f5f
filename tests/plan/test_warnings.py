"""Each kind of warning: printed for its cause, and not printed without it."""

from __future__ import annotations

from typing import Any

import pytest

from support.networks import line, links, network, periodic, saturating, scenario
from support.planned import problems_of
from tsnbench.plan.gates import open_ns, open_windows
from tsnbench.planning import PlanningErrors, PlanWarning, plan
from tsnbench.scenario import model


def warned(made: model.Scenario) -> dict[str, PlanWarning]:
    return {warning.kind: warning for warning in plan(made).warnings}


def refused(made: model.Scenario) -> list[tuple[str, str, str, str | None]]:
    """Path, expected, found and hint of every problem."""
    return [(one.path, one.expected, one.found, one.hint) for one in problems_of(made)]


def with_streams(made: model.Scenario, **streams: model.Stream) -> model.Scenario:
    return made.model_copy(update={"streams": streams})


def shaped(*cbs: model.CbsClass, gates: model.Gates | None = None) -> dict[str, model.Shaper]:
    return {"b1 -> listener": model.Shaper(cbs=cbs or None, gates=gates)}


def test_a_quiet_line_needs_none() -> None:
    assert plan(line()).warnings == ()


def test_a_port_above_its_rate_names_its_streams() -> None:
    nodes = "a:station b:station sw:bridge l:station"
    net = network(nodes, links("a-sw b-sw sw-l"))
    streams = {
        "big": periodic("a", "l", count=6),
        "small": periodic("b", "l", count=5),
    }
    (warning,) = plan(scenario(net, streams)).warnings
    assert warning == PlanWarning(
        "port-overload",
        "sw -> l",
        "load of 1.1 Gbit/s at a rate of 1 Gbit/s: big (600 Mbit/s), small (500 Mbit/s)",
    )


def test_exactly_its_rate_is_no_overload() -> None:
    assert plan(with_streams(line(), s=periodic("talker", "listener", count=10))).warnings == ()


def test_a_class_above_its_reservation() -> None:
    made = line(shapers=shaped(model.CbsClass(pcp=3, bandwidth=99_999_999)))
    assert warned(made)["class-over-reservation"].where == "b1 -> listener"
    assert warned(line(shapers=shaped(model.CbsClass(pcp=3, bandwidth=100_000_000)))) == {}


def test_a_saturating_stream_behind_a_shaper() -> None:
    made = line(shapers=shaped(model.CbsClass(pcp=3, bandwidth=10**8)))
    assert set(warned(with_streams(made, s=saturating("talker", "listener", pcp=3)))) == {
        "saturating-reservation"
    }


def test_shapers_that_reserve_more_than_the_port_has() -> None:
    parts = [model.CbsClass(pcp=pcp, bandwidth=400_000_000) for pcp in (3, 2, 4)]
    assert warned(line(shapers=shaped(*parts)))["over-reserved"].text.startswith(
        "its shapers reserve 1.2 Gbit/s"
    )


def test_a_shaper_cannot_have_the_whole_port() -> None:
    with pytest.raises(PlanningErrors, match="a reservation below the port's 1 Gbit/s, found 1 Gbit/s"):
        plan(line(shapers=shaped(model.CbsClass(pcp=3, bandwidth=10**9))))


def test_a_saturating_stream_above_others() -> None:
    hog = saturating("talker", "listener", pcp=5)
    found = warned(with_streams(line(), hog=hog, cam=periodic("talker", "listener")))
    assert found["starvation"].where == "talker -> b1, b1 -> listener"
    assert "hog saturates class 5" in found["starvation"].text
    below = saturating("talker", "listener", pcp=0)
    assert warned(with_streams(line(), hog=below, cam=periodic("talker", "listener"))) == {}


def test_gates_that_give_the_lower_class_its_own_time_prevent_starvation() -> None:
    opened = model.Gates(
        entries=(model.GateEntry(open=(5,), duration=50_000), model.GateEntry(open=(3,), duration=50_000))
    )
    made = line(shapers={"*": model.Shaper(gates=opened)})
    hog = saturating("talker", "listener", pcp=5)
    assert warned(with_streams(made, hog=hog, cam=periodic("talker", "listener"))) == {}


def test_a_queue_that_other_streams_fill() -> None:
    net = network("a:station b:station sw:bridge l:station", links("a-sw b-sw sw-l"))
    streams = {"hog": saturating("a", "l", pcp=3), "cam": periodic("b", "l")}
    assert warned(scenario(net, streams))["full-queue"] == PlanWarning(
        "full-queue", "sw -> l", "hog may fill the queue of class 3: cam waits behind it, or is dropped"
    )
    assert warned(scenario(net, streams | {"hog": saturating("a", "l", pcp=0)})) == {}
    same_talker = {"hog": saturating("b", "l", pcp=3), "cam": periodic("b", "l")}
    assert warned(scenario(net, same_talker)) == {}, (
        "the talker's own queue never holds more than its backlog"
    )


def gated(*entries: tuple[tuple[int, ...], int]) -> model.Gates:
    return model.Gates(entries=tuple(model.GateEntry(open=pcps, duration=ns) for pcps, ns in entries))


def test_a_gate_that_never_opens() -> None:
    assert refused(line(shapers=shaped(gates=gated(((0,), 100))))) == [
        (
            "shapers.b1 -> listener.gates.entries[0].open",
            "class 3 (PCP 3) open in some entry, for cam",
            "no entry that opens it",
            "write open: [3, 0] in this entry",
        )
    ]
    by_class = model.Gates(entries=(model.GateEntry(open=(0,), duration=100),), by="class")
    queues = model.Queues(classes={3: 1})
    made = line(shapers={"*": model.Shaper(queues=queues), "b1 -> listener": model.Shaper(gates=by_class)})
    assert refused(made)[0][3] == "write open: [1, 0] in this entry"


def test_a_gate_that_never_opens_again_is_a_warning() -> None:
    later = model.GateChange(at=1_000_000, gates=gated(((0,), 20_000)))
    gates = gated(((3, 0), 20_000)).model_copy(update={"changes": (later,)})
    found = warned(line(shapers=shaped(gates=gates)))
    assert found["gate-never-open"].text == (
        "the gate of class 3 never opens in the list requested at 1 ms: cam cannot pass"
    )


def test_a_frame_that_fits_no_window() -> None:
    # 1238 octets with preamble take 9.904 us at 1 Gbit/s.
    assert refused(line(shapers=shaped(gates=gated(((3,), 9_903), ((0,), 1))))) == [
        (
            "shapers.b1 -> listener.gates.entries[0].for",
            "a window of at least 9904 ns for class 3, for a frame of cam (1230 B)",
            "9903 ns at most",
            "write for: 10 us in this entry",
        )
    ]
    assert warned(line(shapers=shaped(gates=gated(((3,), 9_904), ((0,), 1))))) == {}


def test_a_window_may_span_entries_and_the_cycle_end() -> None:
    spanning = gated(((3, 0), 5_000), ((0,), 2_000), ((3,), 5_000))
    assert warned(line(shapers=shaped(gates=spanning))) == {}


def test_a_gate_with_less_bandwidth_than_its_streams() -> None:
    found = warned(line(shapers=shaped(gates=gated(((3,), 10_000), ((0,), 190_000)))))
    assert found["gate-overload"].text == "class 3 has a load of 100 Mbit/s, its gate is open for 50 Mbit/s"


@pytest.mark.parametrize(
    ("masks", "windows"),
    [
        ([(1, 5)], None),
        ([(0, 5)], []),
        ([(1, 5), (0, 5)], [5]),
        ([(1, 1), (0, 2), (1, 4), (1, 8)], [13]),
        ([(0, 1), (1, 2), (0, 4), (1, 8)], [2, 8]),
    ],
)
def test_windows(masks: list[tuple[int, int]], windows: list[int] | None) -> None:
    entries = [{"open": mask, "interval_ns": length} for mask, length in masks]
    document: dict[str, Any] = {"cycle_ns": sum(length for _, length in masks), "entries": entries}
    assert open_windows(document, 0) == windows
    assert open_ns(document, 0) == sum(length for mask, length in masks if mask)


@pytest.mark.parametrize(
    ("requires", "hint"),
    [
        (model.Requirements(delay=19_744), None),
        (model.Requirements(delay=19_743), "write delay: 19744 ns or more"),
        (model.Requirements(percentiles={999_000: 19_743}), "write delay p99.9: 19744 ns or more"),
        (model.Requirements(percentiles={999_000: 19_744}), None),
        (model.Requirements(rate=98_400_000), None),
        (model.Requirements(rate=98_400_001), "write rate: 98400 kbit/s, or send more"),
    ],
)
def test_requirements_that_can_never_hold(requires: model.Requirements, hint: str | None) -> None:
    made = with_streams(line(), s=periodic("talker", "listener", requires=requires, count=2))
    if hint is None:
        assert plan(made).warnings == ()
    else:
        assert [found[3] for found in refused(made)] == [hint], "once per stream, not once per flow"


def test_a_stream_that_sends_nothing() -> None:
    late = periodic("talker", "listener", start=10_000_000)
    assert set(warned(with_streams(line(), s=late))) == {"silent"}


def test_a_priority_without_a_tag() -> None:
    assert set(warned(with_streams(line(), s=periodic("talker", "listener", vid=None)))) == {
        "untagged-priority"
    }
    assert warned(with_streams(line(), s=periodic("talker", "listener", vid=None, pcp=0))) == {}
