"""PTP beside TAPRIO with the wires of the COTS lessons (Solutions I to III): the configuration of hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.exports import export
from tsnbench.plan.notes import SHOWN
from tsnbench.planning import plan
from tsnbench.scenario import load_variants

L1 = Path(__file__).parents[2] / "scenarios/papers/cots/l1"
SHEBANG = "#!/bin/sh\n# The kernel's CLOCK_TAI is CLOCK_REALTIME and the offset that ptp4l has learned.\n"
CARDS = "# Both ends count TAI. Ports of one card have one clock: leave out lines of the same card.\n"


def follow(first: str, other: str) -> str:
    return f"phc2sys -f phc2sys.conf -s {first} -c {other} -O 0 -m &\n"


SCRIPTS = {
    ("solution-1", "n1"): ("-rr", CARDS + follow("eth2", "eth1")),
    ("solution-1", "n2"): ("-r", CARDS + follow("eth2", "eth1")),
    # The clock comes from the neighbour that is nearer to the grandmaster; two more links carry PTP.
    ("solution-2", "n3"): ("-r", CARDS + follow("eth3", "eth2")),
    ("solution-3", "master"): ("-rr", ""),
}


@pytest.mark.parametrize(("where", "expected"), SCRIPTS.items(), ids=lambda one: "-".join(one[:2]))
def test_cards_with_gates_follow_the_card_with_ptp(where: tuple[str, str], expected: tuple[str, str]) -> None:
    scenario, node = where
    files = export(plan(load_variants(L1 / f"{scenario}.yaml")[0]).document, ["ptp4l"]).files
    own, others = expected
    assert files[f"{node}/ptp.sh"] == (
        f"{SHEBANG}ptp4l -f ptp4l.conf -m &\nphc2sys -f phc2sys.conf -a {own} -m &\n{others}wait\n"
    )


@pytest.mark.parametrize("scenario", ["solution-1", "solution-2", "solution-3"])
def test_ptp4l_has_no_port_with_gates(scenario: str) -> None:
    document = plan(load_variants(L1 / f"{scenario}.yaml")[0]).document
    done = export(document, ["ptp4l"])
    gated = {port["name"] for port in document["ports"] if "gates" in port}
    assert gated
    for name, text in done.files.items():
        if name.endswith("ptp4l.conf"):
            assert not gated & {line.removeprefix("# ") for line in text.splitlines()}
    assert not any("share a port" in str(note) for note in done.notes)


def test_a_port_with_both_is_pointed_out() -> None:
    runs = load_variants(L1 / "taprio.yaml")
    (run,) = [one for one in runs if one.variant["ports"] == "own window"]
    notes = [note.line(SHOWN) for note in export(plan(run).document, ["ptp4l"]).notes]
    assert (
        "ptp4l: ptp4l and taprio share a port (6: n1 -> n2, n2 -> n1, n2 -> n3 and 3 more): its messages "
        "wait for the gate of the class of socket_priority 0, and under txtime-assist some versions lose "
        "synchronisation; cure: links of their own for PTP (`gptp: {links: ...}`)"
    ) in notes
    (bare,) = [one for one in runs if one.variant["ports"] == "below the rest"]
    assert not any("share a port" in str(note) for note in export(plan(bare).document, ["ptp4l"]).notes)
