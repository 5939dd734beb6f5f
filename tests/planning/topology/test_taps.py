"""Which taps a Plan has, and in which order: each case of ``taps.yaml`` beside this file."""

from __future__ import annotations

from typing import Any

import pytest

from support.golden import table
from support.planned import document_of
from tsnbench.scenario.errors import ScenarioErrors

TEXT = """\
name: taps
duration: 1 ms
network:
  stations: [a, b, c]
  bridges: {x: {}, y: {}, z: {}}
  hosts: [h]
  links: {rate: 1 Gbit/s, between: [a -- x, h -- x, x -- y, b -- y, c -- y]}
hosts: {h: {send: 1 us, app-rx: 1 us}}
streams:
"""


def document(streams: list[str], settings: str, cables: list[str] | None = None) -> Any:
    """The document of a Plan; a stream is a name, or a name with keys beside or in place of others."""
    lines = []
    for one in streams:
        name, _, keys = one.partition(": ")
        ends = [f"{key}: {node}" for key, node in (("from", "a"), ("to", "b")) if f"{key}: " not in keys]
        words = [*ends, "period: 1 ms", "frame: 100 B", *filter(None, [keys[1:-1]])]
        lines.append(f"  {name}: {{{', '.join(words)}}}\n")
    text = TEXT.replace("c -- y", ", ".join(["c -- y", *(cables or [])]))
    return document_of(f"{text}{''.join(lines)}taps: {settings}\n")


@pytest.mark.parametrize("case", table(__file__, "taps.yaml"), ids=lambda case: case["case"])
def test_names_of_taps(case: dict[str, Any]) -> None:
    made = document(case["streams"], case.get("settings", "{}"), case.get("cables"))
    assert [tap["name"] for tap in made["taps"]] == case["taps"]


def test_every_setting_of_taps() -> None:
    made = document(["s"], "{ports: [x -> y], send: true, rx-point: start, granularity: 8 ns}")
    ports = [port["name"] for port in made["ports"]]
    taps = [(tap["stage"], ports[tap["port"]], tap["point"], tap["granularity_ns"]) for tap in made["taps"]]
    at_start = [("send", "a -> x"), ("tx", "a -> x"), ("tx", "x -> y"), ("rx", "y -> x"), ("rx", "b -> y")]
    assert taps == [(stage, port, "start", 8) for stage, port in at_start]
    own = {"name": "y -> b rx", "port": ports.index("b -> y"), "stage": "rx", "point": "end"}
    assert document(["s"], "{}")["taps"][1] == {**own, "granularity_ns": 1}


def test_a_named_port_that_does_not_exist_is_a_mistake_of_taps() -> None:
    with pytest.raises(ScenarioErrors, match=r"taps\.ports\[0\]: "):
        document(["s"], "{ports: [x -> z]}")
