"""``tsnbench prove``: whether the gate control list of one port is on, and which layer lost it."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from tsnbench.cli.console.options import (
    argument,
    duration_ns,
    flag,
    given_ns,
    json_of,
    option,
    pairs_of,
    setting,
)
from tsnbench.cli.console.output import (
    Exit,
    fail,
    print_json,
    print_line,
    print_message,
    print_table,
    user_errors,
)
from tsnbench.cli.measuring.capture_file import refuse_other
from tsnbench.conform import probes
from tsnbench.conform.prove import Layer, Wanted, first_lost, layers, probed
from tsnbench.discover import beside, probing
from tsnbench.discover.asking import Asked, ask_host
from tsnbench.discover.differences import TAI_AHEAD_NS, Difference, differences
from tsnbench.discover.running import RunningHost, RunningPort
from tsnbench.errors import InputError
from tsnbench.hosts import load_inventory, map_plan
from tsnbench.hosts.inventory.types import End, Inventory
from tsnbench.planning import plan as make_plan
from tsnbench.quantities import time as time_of
from tsnbench.scenario import load
from tsnbench.scenario.units import RATE, UnitError
from tsnbench.sheet import Column, Sheet

UNKNOWN_BPS = 10**10
"""Of a link without a rate, as veth is."""
Lab = Annotated[Path, option("FILE", "The lab (lab.yaml) with the host, which is asked over ssh.", "--hosts")]
Frames = Annotated[
    Path | None,
    option("FILE", "Frames that left the port (pcap or pcapng): whether they obey a list.", "--capture"),
]


def prove(
    host: Annotated[str, argument("HOST", "The host, as the lab names it.")],
    port: Annotated[str, argument("PORT", "Its interface, or the lab's name of the port.")],
    hosts: Lab,
    capture: Frames = None,
    probe: Annotated[
        bool, flag("--probe", "Send frames of each PCP to the host at the other end of the wire.")
    ] = False,
    rate: Annotated[
        str | None, option("RATE", "The rate that the link should have: 1Gbit/s.", "--rate")
    ] = None,
    granularity: Annotated[str | None, option("TIME", "The granularity of the card's lists: 8ns.")] = None,
    offload: Annotated[bool, flag("--offload", "The card should hold the list.")] = False,
    scenario: Annotated[
        Path | None, option("FILE", "The port should be as this scenario plans it, as diff compares it.")
    ] = None,
    place: Annotated[
        list[str] | None, setting("NODE=MACHINE", "With --scenario: the machine of a node.", "--map")
    ] = None,
    stamps: Annotated[str, setting("TIME", "Greatest error of a stamp of the capture.")] = "1us",
    as_json: Annotated[bool, json_of("The layers")] = False,
) -> None:
    """Tell whether a port's gate list is on, and which layer lost it.

    Nothing is configured. Exit code 0: no layer lost it; 1: a layer did; 3: the host did not answer.
    """
    with user_errors():
        if probe and capture is not None:
            fail(Exit.INPUT_WRONG, "expected --probe or --capture, found both")
        if capture is not None:
            refuse_other(capture, unknown=True)
        inventory = load_inventory(hosts)
        if host not in inventory.hosts:
            raise InputError(f"expected a host of the lab, found {host}\nhint: {', '.join(inventory.hosts)}")
        interface = inventory.hosts[host].ports.get(port, port)
        named = next((name for name, own in inventory.hosts[host].ports.items() if own == interface), port)
        state, (said,) = ask_host(inventory, host, [beside.step(interface)])
        if interface not in state.ports:
            raise InputError(f"expected an interface of {host}, found {port}\nhint: {', '.join(state.ports)}")
        wanted = Wanted(
            time.time_ns() + TAI_AHEAD_NS,
            None if rate is None else _rate(rate),
            given_ns("--granularity", granularity),
            offload,
            duration_ns("--stamps", stamps),
            beside.read(said),
            None if scenario is None else _differences(scenario, inventory, place or [], state, interface),
        )
        if not wanted.stamps_ns or wanted.granularity_ns == 0:
            fail(Exit.INPUT_WRONG, "--stamps, --granularity: expected more than 0")
        found = layers(state, state.ports[interface], wanted, None if capture is None else str(capture))
        if probe:
            found[-1] = _probed(inventory, End(host, named), state.ports[interface], wanted, found[-1])
    _tell(f"{host} {interface}", found, as_json)
    raise typer.Exit(Exit.REQUIREMENT_FAILED if first_lost(found) else Exit.MET)


def _differences(
    file: Path, inventory: Inventory, place: list[str], state: RunningHost, interface: str
) -> list[Difference]:
    """Of one port from the Plan, and of what the host has for all its ports."""
    plan = make_plan(load(file)).document
    mapped = map_plan(inventory, plan, pairs_of("--map", "NODE=MACHINE", place))
    asked: dict[str, Asked] = dict.fromkeys(inventory.hosts, (None, "not asked")) | {state.name: (state, "")}
    found = differences(plan, inventory, mapped, asked)
    if state.name not in mapped.machines.values():
        raise InputError(
            f"--scenario: expected a node of the network on {state.name}, found none\n"
            "hint: --map NODE=MACHINE"
        )
    return [one for one in found if one.host == state.name and one.port in (interface, "")]


def _probed(inventory: Inventory, end: End, port: RunningPort, wanted: Wanted, otherwise: Layer) -> Layer:
    """The last layer, from probes that go to the port's peer."""
    peer = probing.peer_of(inventory, end.machine, end.port)
    if port.shaping is None or port.shaping.gates is None:
        return otherwise
    rate_bps = wanted.rate_bps or port.rate_bps or UNKNOWN_BPS
    made = probes.plan_of(port.shaping, rate_bps, port.mac)
    print_message(f"probes for {time_of(made.document['duration_ns'])}: {end} to {peer}")
    with TemporaryDirectory(prefix="tsnbench-") as folder:
        file = probing.probe(inventory, end, peer, made, Path(folder))
        return probed(port.shaping, str(file), rate_bps, wanted.stamps_ns)


def _rate(text: str) -> int:
    try:
        return RATE.parse(text)
    except UnitError as error:
        raise InputError(f"--rate: expected {error.expected}, found {text}\nhint: {error.hint}") from None


def _tell(where: str, found: list[Layer], as_json: bool) -> None:
    if as_json:
        print_json("prove", {"port": where, "layers": [asdict(one) for one in found]})
        return
    columns = [Column("layer", left=True), Column("", left=True), Column(where, wraps=True)]
    print_table(Sheet("", columns, [[one.name, one.answer, one.sentence] for one in found]))
    lost = first_lost(found)
    if lost is not None:
        print_line(f"lost at: {lost.name}: {lost.sentence}")
    elif found[-1].answer == "yes":
        print_line("gates ACTIVE: frames obey the list")
    else:
        print_line("no layer lost the list; whether frames obey it was not seen")
    print_message("nothing was changed")
