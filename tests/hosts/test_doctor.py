"""``tsnbench doctor --hosts`` in a lab of namespaces: its findings; the hosts stay unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import tsnbench

from .conftest import SCENARIO, Rig


def doctor(*words: str | Path) -> tuple[int, str]:
    done = tsnbench("doctor", *words)
    return done.returncode, done.stderr + done.stdout


def found(*words: str | Path) -> dict[tuple[str, str], dict[str, str]]:
    _, said = doctor(*words, "--json")
    return {(one["room"], one["name"]): one for one in json.loads(said)["findings"]}


def test_a_lab_that_can_run_the_plan(rig: Rig) -> None:
    before = rig.state()
    code, said = doctor("--hosts", rig.made.inventory, "--for", rig.scenario)
    assert code == 0, said
    assert said.rstrip().endswith("--on hosts: can run on this lab")
    for host in ("a", "b", "c", "s"):
        assert f"\n{host}\n  ok       reached" in said
    assert "missing" not in said
    assert rig.state() == before
    assert doctor("--hosts", rig.made.inventory)[0] == 0


def test_what_is_missing_is_told_with_its_remedy(rig: Rig, tmp_path: Path) -> None:
    text = rig.made.inventory.read_text().replace(
        "b: {ssh: b, ports: {eth1: eth1}", "b: {ssh: b, ports: {eth1: eth9}"
    )
    assert "eth9" in text
    lab = tmp_path / "lab.yaml"
    lab.write_text(text)
    rig.says("a", "tc qdisc add dev eth1 root handle 7: pfifo limit 77; ip link set dev eth1 up")
    try:
        words = ("--hosts", lab, "--for", rig.scenario)
        assert doctor(*words)[0] == 1
        seen = found(*words)
        assert "pfifo 7:" in seen["a", "eth1 (eth1) qdisc"]["found"]
        assert seen["a", "eth1 (eth1) qdisc"]["state"] == "missing"
        # The other end of the wire is down.
        assert seen["a", "eth1 (eth1) link"]["state"] == "missing"
        assert seen["s", "eth1 (eth1) link"]["state"] == "note"
        assert "eth1" in seen["b", "eth1 (eth9)"]["remedy"]
        assert "limit 77p" in rig.says("a", "tc qdisc show dev eth1")
    finally:
        rig.says("a", "tc qdisc del dev eth1 root; ip link set dev eth1 down")


def test_a_host_that_is_not_there_is_exit_code_3(rig: Rig, tmp_path: Path) -> None:
    text = rig.made.inventory.read_text().replace("c: {ssh: c,", 'c: {ssh: "ssh://192.0.2.1:1",')
    lab = tmp_path / "lab.yaml"
    lab.write_text(text)
    code, said = doctor("--hosts", lab, "--for", rig.scenario)
    assert (code, "c could not be examined" in said) == (3, True), said
    # The other hosts are still examined.
    assert "a\n  ok       reached" in said


def test_gates_need_a_kernel_that_has_them(rig: Rig, tmp_path: Path) -> None:
    gated = tmp_path / "gated.yaml"
    gated.write_text(
        SCENARIO + "shapers: {s -> b: {gates: {cycle: 1 ms, entries: [{open: all, for: 1 ms}]}}}\n"
    )
    words = ("--hosts", rig.made.inventory, "--for", gated)
    code, said = doctor(*words)
    assert code == 1, said
    seen = found(*words)
    assert seen["s", "qdisc taprio"]["state"] == "missing"
    assert "modprobe sch_taprio" in seen["s", "qdisc taprio"]["remedy"]
    assert seen["a", "traffic control"]["state"] == "ok"


def test_one_host_is_compared_with_every_node(rig: Rig, tmp_path: Path) -> None:
    """``a`` has one wire: it can be a station but not a bridge; ``s`` can be either."""
    before = rig.state()
    words = ("--host", "a", "--for", rig.scenario)
    code, said = doctor(*words)
    assert code == 0, said
    assert said.rstrip().endswith("--on hosts: can run at a")
    seen = found(*words)
    assert seen["a", "as b"]["state"] == "ok"
    assert "3 ports, and it has 1 free interfaces (eth1)" in seen["a", "as s: ports"]["found"]
    assert seen["a", "as s: ports"]["remedy"]
    assert found("--host", "s", "--for", rig.scenario)["s", "as s"]["state"] == "ok"
    # Gates need a capability that no kernel of the lab has, so no host can be such a node.
    gated = tmp_path / "gated.yaml"
    gates = "{gates: {cycle: 1 ms, entries: [{open: all, for: 1 ms}]}}"
    gated.write_text(SCENARIO + f"shapers: {{a -> s: {gates}, c -> s: {gates}, s -> b: {gates}}}\n")
    seen = found("--host", "a", "--for", gated)
    assert "modprobe sch_taprio" in seen["a", "as a: qdisc taprio"]["remedy"]
    assert rig.state() == before


def test_a_host_that_cannot_be_reached_is_exit_code_3(rig: Rig) -> None:
    code, said = doctor("--host", "ssh://192.0.2.1:1", "--for", rig.scenario)
    assert (code, "could not be examined" in said) == (3, True), said
    assert doctor("--host", "-oProxyCommand=x", "--for", rig.scenario)[0] == 2


@pytest.mark.parametrize(
    "words",
    [
        ("--hosts", "LAB", "--host", "a"),
        ("--map", "a=b"),
        ("--hosts", "LAB", "--map", "a=b"),
        ("--hosts", "LAB", "--for", "SCENARIO", "--map", "a"),
        ("--hosts", "LAB", "--for", "SCENARIO", "--map", "a=nobody"),
    ],
)
def test_wrong_words(rig: Rig, words: tuple[str, ...]) -> None:
    named = {"LAB": str(rig.made.inventory), "SCENARIO": str(rig.scenario)}
    assert doctor(*(named.get(word, word) for word in words))[0] == 2
