"""One experiment of EnGINE as a scenario; parts without an equivalent are listed in comments at its top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tsnbench.errors import ContentError, InputError
from tsnbench.exports import scenario_text
from tsnbench.exports.engine.files import (
    EXPERIMENTS,
    NETWORK,
    STACKS,
    TRUE,
    name_of,
    part_of,
    whole_number,
)
from tsnbench.exports.engine.links import Links, read_path
from tsnbench.exports.engine.queues import port_settings
from tsnbench.exports.engine.services import streams as streams_of
from tsnbench.exports.scenario_text import Notes, listed
from tsnbench.foreign import Part, mapping_of, parse_yaml, shown

EXPERIMENT_SECONDS, SIGNAL_SECONDS = 30, 60
"""How long an experiment takes that does not say it: defaults of EnGINE's role ``experiment``."""


def experiments(text: str) -> list[str]:
    """The names of all experiments of ``04-experiments.yml``, in their order.

    Raises:
        InputError: the file has no experiments.
    """
    return [_title(one, number) for number, one in enumerate(_experiments(text), 1)]


def scenario(texts: Mapping[str, str], wanted: str | None = None) -> str:
    """The scenario of one experiment; ``texts``: the three files by their names.

    Raises:
        InputError: a file is not as EnGINE writes it, or there is no such experiment, or there are several
            and none is named.
    """
    every = _experiments(texts[EXPERIMENTS])
    names = [_title(one, number) for number, one in enumerate(every, 1)]
    if wanted is None and len(every) > 1:
        listed = "\n".join(f"  {name}" for name in names[:20])
        more = f"\n  and {len(names) - 20} more" if len(names) > 20 else ""
        raise InputError(f"--experiment: expected one of {len(names)} experiments:\n{listed}{more}")
    if wanted is not None and wanted not in names:
        raise InputError(f"--experiment: expected one of {', '.join(names[:8])}, found {wanted}")
    place = names.index(wanted) if wanted is not None else 0
    experiment = every[place]
    notes = Notes()
    networks, stacks = parse_yaml(NETWORK, texts[NETWORK]), parse_yaml(STACKS, texts[STACKS])
    network = part_of(NETWORK, networks.get("network"), experiment.get("network"), "network")
    stack = part_of(STACKS, stacks.get("stacks"), experiment.get("stack"), "stack")
    flows = {str(key): read_path(str(key), text) for key, text in mapping_of(network.get("flows")).items()}
    if network.get("topo_flows"):
        notes.add("flows of a predefined topology (topo_flows)", str(network["topo_flows"]))
    if not flows:
        raise ContentError(f"{NETWORK}: expected flows in {experiment.get('network')}, found none")
    links = Links()
    for path in flows.values():
        for a, b in path:
            links.add(a, b)
    seconds = experiment.get("time")
    if seconds is None:
        signals = experiment.get("signal") in TRUE
        seconds = experiment.get("timeout", SIGNAL_SECONDS) if signals else EXPERIMENT_SECONDS
    seconds = whole_number(EXPERIMENTS, seconds, "time", least=1)
    streams, launches = streams_of(stack, flows, links, seconds, notes)
    if not streams:
        raise ContentError(
            f"{STACKS}: expected iperf clients or send_udp in {experiment.get('stack')}, found none"
        )
    used = {leaves for path in flows.values() for leaves, _ in path}
    ports = port_settings(network, networks, links, used, notes)
    alike = {settings["queues"] for settings in ports.values()}
    queues = alike.pop() if len(alike) == 1 else None
    if queues is not None:
        own = {name: {k: v for k, v in one.items() if k != "queues"} for name, one in ports.items()}
        ports = {name: settings for name, settings in own.items() if settings}
    software = launches or any("qdisc" in settings for settings in ports.values())
    return _written(names[place], seconds, links, queues, streams, ports, software, notes)


def _written(
    name: str,
    seconds: int,
    links: Links,
    queues: str | None,
    streams: Sequence[str],
    ports: Mapping[str, Mapping[str, str]],
    software: bool,
    notes: Notes,
) -> str:
    source = [
        f"From EnGINE's experiment {_comment(name)}.",
        "The files do not say rates or cables: here each link has 1 Gbit/s, as EnGINE's I210 cards.",
    ]
    if software:
        source.append(
            "Launch times and kernels' gates need software of hosts: here that of the paper's computers."
        )
    network = [f"hosts: {listed(dict.fromkeys(end[0] for cable in links.cables for end in cable))}"]
    network += ["links:", "  rate: 1 Gbit/s", "  between:"]
    network += [f"    - {a[0]} -- {b[0]}" for a, b in links.cables]
    if queues is not None:
        network.append(f"queues: {queues}")
    rest = ["hosts: {default: engine-zgw}", ""] if software else []
    rest += ["streams:", *streams]
    if ports:
        rest += ["", "shapers:"]
        for port, settings in ports.items():
            rest.append(f'  "{port}":' if "#" in port else f"  {port}:")
            rest += [f"    {key}: {value}" for key, value in settings.items()]
    head = {"name": name_of(name), "duration": f"{seconds} s"}
    return scenario_text.text(source, head, network, rest, notes)


def _experiments(text: str) -> list[Part]:
    written = parse_yaml(EXPERIMENTS, text).get("experiments")
    if not isinstance(written, list) or not written or not all(isinstance(one, dict) for one in written):
        raise ContentError(f"{EXPERIMENTS}: expected a list of experiments, found {shown(written)}")
    return written


def _title(experiment: Part, number: int) -> str:
    return str(experiment.get("name") or f"experiment-{number}")


def _comment(text: str) -> str:
    return "".join(one for one in text if one.isprintable())[:120]
