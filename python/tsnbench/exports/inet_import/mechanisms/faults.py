"""Failures: the scenario manager's script, error rates of channels, links that are disabled."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from xml.etree import ElementTree

from tsnbench.errors import ContentError
from tsnbench.exports.inet_import.language.expressions import Xml, parse
from tsnbench.exports.inet_import.model import Model
from tsnbench.exports.inet_import.parameters import Setting
from tsnbench.exports.inet_import.topology import Link, channels
from tsnbench.exports.scenario_text import duration, flow

MOST_SCRIPT = 1 << 20


@dataclass
class _Down:
    """A node or link that fails, and when it returns."""

    what: str
    at: Fraction
    back: Fraction | None = None


def faults(model: Model) -> list[str]:
    """The lines under ``faults``."""
    lines: list[str] = []
    path = f"{model.topology.network}.scenarioManager.script"
    setting = model.parameters.setting(path)
    if setting is not None:
        for one in _script(model, setting):
            times: dict[str, object] = {"down": one.what}
            if one.at:
                times["at"] = duration(one.at)
            if one.back is not None:
                times["for"] = duration(one.back - one.at)
            lines.append(f"  - {flow(times)}")
    return [*lines, *_channels(model)]


def _script(model: Model, setting: Setting) -> list[_Down]:
    value = model.parameters.value(setting)
    text = value.text if isinstance(value, Xml) else ""
    # Entities of a document could grow without end.
    if len(text) > MOST_SCRIPT or "<!" in text or not text.strip():
        found = "none" if not text.strip() else "one with declarations, or a long one"
        raise ContentError(f"{setting.place}: script: expected a document of XML, found {found}")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ContentError(f"{setting.place}: script: expected a document of XML, found {error}") from None
    open_ones: dict[str, _Down] = {}
    found_ones: list[_Down] = []
    for at in root:
        when = _time(at.get("t", ""), setting)
        steps = list(at) if at.tag == "at" else [at]
        for step in steps:
            _step(model, setting, step, when, open_ones, found_ones)
    return found_ones


def _step(
    model: Model,
    setting: Setting,
    step: ElementTree.Element,
    when: Fraction,
    open_ones: dict[str, _Down],
    found: list[_Down],
) -> None:
    """A step fails a node or link, or brings it back, or is listed."""
    what, fails = _what(model, step)
    if what is None:
        model.lose(f"the step <{step.tag}> at {duration(when)}", setting.place)
    elif fails:
        if what not in open_ones:
            open_ones[what] = _Down(what, when)
            found.append(open_ones[what])
    elif what in open_ones:
        open_ones.pop(what).back = when


def _what(model: Model, step: ElementTree.Element) -> tuple[str | None, bool]:
    """The node or link of a step, and whether it fails."""
    if step.tag in ("crash", "shutdown", "startup"):
        name = step.get("module", "")
        return model.names.get(name), step.tag != "startup"
    link = _link_of(model, step)
    if link is None:
        return None, True
    if step.tag in ("disconnect", "connect"):
        return _name(model, link), step.tag == "disconnect"
    if step.tag == "set-channel-param" and step.get("par") == "disabled":
        return _name(model, link), step.get("value") == "true"
    return None, True


def _link_of(model: Model, step: ElementTree.Element) -> Link | None:
    node = model.topology.nodes.get(step.get("src-module", ""))
    gate = step.get("src-gate", "")
    number = gate.partition("[")[2].rstrip("]")
    if node is None or not number.isdecimal():
        return None
    return node.links.get(int(number))


def _name(model: Model, link: Link) -> str:
    ends = {node for node, _ in link.ends}
    same = [one for one in model.topology.links if {node for node, _ in one.ends} == ends]
    (left, _), (right, _) = link.ends
    number = f"#{same.index(link) + 1}" if len(same) > 1 else ""
    return f"{model.names[left]} -- {model.names[right]}{number}"


def _time(text: str, setting: Setting) -> Fraction:
    file, _, line = setting.place.rpartition(":")
    node = parse(text or "0", file, int(line))
    number = node.number
    try:
        found = number.to("s") if number.unit else number.to("")
    except ValueError:
        found = Fraction(-1)
    if found < 0 or (node.kind != "number" and text):
        raise ContentError(f"{setting.place}: t: expected a time from 0 on, found {text[:40]}")
    return found


def _channels(model: Model) -> list[str]:
    """Errors of channels, and channels that are disabled from the beginning."""
    rates: dict[tuple[str, str], list[str]] = {}
    down: dict[str, None] = {}
    total = 0
    for path, node, other, _ in channels(model.topology):
        total += 1
        name = f"{model.names[node]} -> {model.names[other]}"
        for key, word in (("per", "loss"), ("ber", "bit-errors")):
            value = model.parameters.number(f"{path}.{key}", "")
            if value:
                said = f"{float(value * 100):.6g} %" if word == "loss" else f"{float(value):g}"
                rates.setdefault((word, said), []).append(name)
        if model.parameters.flag(f"{path}.disabled"):
            number = int(path.rpartition("[")[2].partition("]")[0])
            down[_name(model, model.topology.nodes[node].links[number])] = None
    lines = [f"  - {flow({'down': one, 'at': '0 s'})}" for one in down]
    for (word, said), names in rates.items():
        where = ["all"] if len(names) == total else names
        lines += [f"  - {flow({word: said, 'on': one})}" for one in dict.fromkeys(where)]
    return lines
