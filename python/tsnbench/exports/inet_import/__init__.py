"""A model of OMNeT++ and INET as a scenario: an ini file with its NED files, resolved as OMNeT++ does.

The names of modules and parameters are those of INET 4.4 to 4.6. The importer asks for the parameters that it
knows. Every key of the configuration that nothing asked for is listed, or is among those that say nothing of
frames (``ignored``). Decision 0019 has the same mapping in the other direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from tsnbench import foreign
from tsnbench.errors import ContentError, InputError
from tsnbench.exports.inet_import import ignored, writing
from tsnbench.exports.inet_import.language import ini
from tsnbench.exports.inet_import.language.expressions import Quantity, parse
from tsnbench.exports.inet_import.language.ini import Entry, Ini, Variables
from tsnbench.exports.inet_import.language.library import Library
from tsnbench.exports.inet_import.mechanisms import (
    clocks,
    faults,
    filtering,
    nodes,
    paths,
    planned,
    ports,
    streams,
)
from tsnbench.exports.inet_import.model import Model
from tsnbench.exports.inet_import.parameters import Parameters
from tsnbench.exports.inet_import.topology import elaborate
from tsnbench.exports.scenario_text import duration, valid_name

__all__ = ["Imported", "scenario"]


@dataclass(frozen=True)
class Imported:
    """A scenario, and the recordings that stand beside it."""

    text: str
    files: dict[str, str]


def scenario(
    file: Path,
    config: str | None = None,
    run: int = 0,
    inet: Path | None = None,
    folders: list[Path] | None = None,
) -> Imported:
    """A scenario's YAML from an ini file.

    Args:
        file: the ini file; NED files are looked for in its folder and in those above.
        config: the name of the configuration; needed if there are several.
        run: the number of the run, which chooses the values of iteration variables.
        inet: the folder of INET; without it, tsnbench's own description of INET's networks counts.
        folders: further folders with NED files.

    Raises:
        InputError: with the line, what was expected and what was found.
    """
    read = ini.read(file.name, lambda name: foreign.read_text(file.parent / name, ini.LARGEST_FILE))
    chosen = _chosen(read, file.name, config)
    sections = ini.chain(read, chosen)
    entries = [one for name in sections for one in read.sections.get(name, [])]
    variables = Variables(chosen, run)
    variables.declare(entries)
    if not 0 <= run < variables.runs:
        raise InputError(f"--run: expected a number below {variables.runs}, found {run}")
    for one in entries:
        one.value = variables.filled(one.value)
    options = {one.key: one for one in reversed(entries) if "." not in one.key}
    model = _model(file, options, entries, inet, folders or [])
    text = _written(model, file.name, chosen, options, variables)
    return Imported(text, model.files)


def _chosen(read: Ini, file: str, config: str | None) -> str:
    names = ini.configurations(read)
    if config is not None:
        if config not in read.sections:
            raise InputError(
                f"--config: expected a configuration of {file}, found {config}"
                f"\n  hint: it has {', '.join(names) or 'none'}"
            )
        return config
    if len(names) != 1:
        raise InputError(
            f"--config: expected the name of one configuration of {file}, found none"
            f"\n  hint: it has {', '.join(names) or 'none'}"
        )
    return names[0]


def _seconds(entry: Entry) -> Fraction:
    node = parse(entry.value, entry.file, entry.line)
    value = node.number if node.kind == "number" else Quantity(Fraction(0))
    if value.unit == "":
        value = Quantity(value.value, "s")
    try:
        found = value.to("s")
    except ValueError:
        found = Fraction(0)
    if found <= 0:
        raise ContentError(f"{entry.place}: {entry.key}: expected a time above 0, found {entry.value[:40]}")
    return found


def _model(
    file: Path, options: dict[str, Entry], entries: list[Entry], inet: Path | None, folders: list[Path]
) -> Model:
    for key in ("network", "sim-time-limit"):
        if key not in options:
            raise ContentError(f"{file.name}: expected the key {key}, found none")
    library = Library(file.parent, folders, inet)
    named = options["network"]
    name = named.value.strip().strip('"')
    kind = library.find(name)
    if kind is None or kind.kind != "network":
        hint = "" if inet is not None else "\n  hint: name the folder of INET with --inet"
        raise ContentError(f"{named.place}: network: expected a network of a NED file, found {name}{hint}")
    parameters = Parameters(entries)
    topology = elaborate(kind, library, parameters)
    if not topology.nodes:
        raise ContentError(
            f"{kind.file}:{kind.line}: expected a network with stations and switches of INET, "
            f"found {topology.lost[0][0] if topology.lost else 'none'}"
        )
    seed = options.get("seed-set")
    number = int(seed.value) if seed is not None and seed.value.isdecimal() else 1
    model = Model(topology, parameters, number, _seconds(options["sim-time-limit"]))
    model.lost += topology.lost
    taken: set[str] = set()
    for node in topology.nodes:
        model.names[node] = valid_name(node, taken, "n")
    return model


def _written(model: Model, file: str, config: str, options: dict[str, Entry], variables: Variables) -> str:
    streams.streams(model)
    planned.tasks(model)
    paths.paths(model)
    egress = ports.ports(model)
    ports.prioritise(model, egress)
    ports.saturate(model, egress)
    metered = filtering.policing(model, egress)
    queues, shapers = writing.shapers(model, egress)
    until, drain = writing.stops(model)
    parts = [
        writing.streams(model, until),
        shapers,
        ["policing:", *metered] if metered else [],
        clocks.clocks(model, egress),
        ["faults:", *failed] if (failed := faults.faults(model)) else [],
        ["taps: {send: true}"],
    ]
    rest = [line for part in parts if part for line in (*part, "")][:-1]
    lines = writing.network(model, nodes.options(model), queues)
    for entry in model.parameters.entries:
        if not entry.used and not ignored.is_silent(entry):
            model.lose(f"{entry.key} = {' '.join(entry.value.split())[:60]}", entry.place)
    source = [f"From {file} of a model of INET, configuration {config}."]
    if variables.runs > 1:
        values = ", ".join(f"{name} = {value}" for name, value in variables.chosen().items())
        source.append(f"Run {variables.run} of {variables.runs}: {values}.")
    head = {"name": valid_name(config if config != "General" else model.topology.network, set(), "x")}
    if "description" in options:
        head["title"] = writing.titled(options["description"].value.strip('"'))
    head["duration"] = duration(until)
    if drain is not None:
        head["drain"] = duration(drain)
    if "warmup-period" in options:
        head["measure-from"] = duration(_seconds(options["warmup-period"]))
    if model.seed != 1:
        head["seed"] = str(model.seed)
    return writing.whole(writing.comments(model, source), head, lines, rest)
