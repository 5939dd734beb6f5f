"""One run of a scenario: its parts in the order in which each needs the ones before it."""

from __future__ import annotations

from typing import NamedTuple

from tsnbench.scenario import model, sections
from tsnbench.scenario.build import clock_faults, clocks, faults, hosts, network, policing, shapers, streams
from tsnbench.scenario.build.net import Net
from tsnbench.scenario.grammar import SCENARIO
from tsnbench.scenario.kinds.parameters import read_parameters
from tsnbench.scenario.text.origin import Origin
from tsnbench.scenario.text.reading import Bad, Reading
from tsnbench.scenario.text.tree import Mapping


class Known(NamedTuple):
    """What streams need that are added to a scenario which was read before."""

    net: Net
    worst_case: bool
    """As for :func:`streams.build`."""


def read_known(tree: Mapping, reading: Reading) -> Known:
    """The known parts of a scenario without mistakes."""
    read_parameters(reading, tree)
    top = SCENARIO.read(reading, tree, "")
    assert not isinstance(top, Bad)
    worst_case = top.get("requirements", {}).get("worst-case", False)
    return Known(network.build(reading, top["network"]).ready(), worst_case)


def read_streams(written: Mapping, reading: Reading, known: Known) -> dict[str, model.Stream] | None:
    """The streams of a section alone. None after a mistake, or if a list stands where one value belongs."""
    found = SCENARIO.fields["streams"].kind.read(reading, written, "streams")
    if isinstance(found, Bad):
        return None
    built = streams.build(reading, known.net.read_by(reading), found, known.worst_case)
    return None if reading.problems or reading.axes else built


def read_run(tree: Mapping, reading: Reading) -> model.Scenario | None:
    """One run; None where a mistake was noted."""
    tree = sections.apart(reading, tree)
    entries = tuple((key, value) for key, value in tree.entries if key.text != "parameters")
    read_parameters(reading, tree)
    top = SCENARIO.read(reading, Mapping(tree.place, entries, tree.weight), "")
    if isinstance(top, Bad):
        return None
    net = Net(reading)
    net.named = net.whole = False
    if "network" in top:
        net = network.build(reading, top["network"])
    # A stream whose name is a mistake is reported already.
    misnamed = any(problem.path.startswith("streams.") for problem in reading.problems)
    if "streams" in top and not top["streams"] and not misnamed:
        hint = "write streams: {s: {from: a, to: b, period: 1 ms, frame: 500 B}}"
        reading.problem(top.at("streams"), "streams", "at least one stream", "none", hint)
    overall = top.get("requirements", {})
    built = streams.build(reading, net, top.get("streams", {}), overall.get("worst-case", False))
    reading.unread = tuple(str(n) for n in top["streams"] if n not in built) if "streams" in top else None
    shaped = shapers.build(reading, net, top.get("shapers", {}), built.values())
    tapped = top["taps"].part(net) if "taps" in top else model.Taps()
    stop = top.get("duration")
    times = None if stop is None else (stop, stop + top.get("drain", model.Scenario.drain))
    broken = faults.faults(reading, net, top.get("faults", []), built, times)
    filters = policing.build(reading, net, top.get("policing", []), built)
    timed = clocks.build(reading, net, top["clocks"]) if "clocks" in top else None
    timed = clock_faults.build(reading, net, top.get("faults", []), timed)
    planned = top["schedule"].part(net) if "schedule" in top else model.Schedule()
    windows = top["windows"].part(net) if "windows" in top else model.Windows()
    policy = top["policy"].part(net) if "policy" in top else model.Policy()
    software = hosts.build(reading, net, top["hosts"]) if "hosts" in top else {}
    if top.bad or reading.problems:
        return None
    scenario = model.Scenario(
        network=model.Network(nodes=net.nodes, links=tuple(net.links), queues=net.queues),
        streams=built,
        shapers=shaped,
        faults=broken,
        policing=filters,
        schedule=planned,
        windows=windows,
        taps=tapped,
        policy=policy,
        clocks=timed,
        hosts=software,
        **top.given(net, model.Scenario),
    )
    origin = Origin(reading.file, tree, reading.tables, reading.choices)
    return scenario.read_from(origin, tuple(dict.fromkeys(reading.doubts)))
