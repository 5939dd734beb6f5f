"""Checklists for devices that are configured by hand: exact numbers, and no run without a confirmation.

``TSNBENCH_UPDATE=1`` writes the checklists anew; check the difference before you keep it.
"""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from support.golden import matches
from tsnbench.errors import InputError
from tsnbench.hosts import Inventory, load_inventory, map_plan, read_inventory
from tsnbench.hosts.by_hand import Checklist, checklist
from tsnbench.plan.types import PlanDocument
from tsnbench.planning import plan
from tsnbench.scenario import load, load_variants

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
SCENARIOS = ("exports/policed", "exports/rich", "plans/ring")
FLEXTEST = ROOT / "scenarios/papers/flextest"


def rich() -> tuple[PlanDocument, Inventory]:
    """A Plan whose bridges filter received frames, on a lab in which all bridges are configured by hand."""
    return lab_with("exports/policed")


def lab_with(scenario: str) -> tuple[PlanDocument, Inventory]:
    """The Plan of a scenario of the tests, and a lab with the same network."""
    document = plan(load(ROOT / f"tests/{scenario}.yaml")).document
    return document, lab_of(document)


def lab_of(document: PlanDocument) -> Inventory:
    """The network of a Plan as a lab: talkers and listeners are hosts, other nodes are configured by hand."""
    ends = {one["talker"] for one in document["streams"]}
    ends |= {listener["node"] for one in document["streams"] for listener in one["listeners"]}
    own: dict[int, list[int]] = {}
    for number, port in enumerate(document["ports"]):
        own.setdefault(port["node"], []).append(number)
    text = {"hosts": "hosts:\n", "devices": "devices:\n  unused: {by-hand: x, ports: {p: x}}\n"}
    for node, one in enumerate(document["nodes"]):
        ports = ", ".join(f"p{number}: eth{number}" for number in own[node])
        kind, how = ("hosts", "ssh") if node in ends else ("devices", "by-hand")
        text[kind] += f"  {one['name']}: {{{how}: {one['name']}, ports: {{{ports}}}}}\n"
    wires = [
        f"{document['nodes'][port['node']]['name']}.p{number} - "
        f"{document['nodes'][document['ports'][port['peer']]['node']]['name']}.p{port['peer']}"
        for number, port in enumerate(document["ports"])
        if number < port["peer"]
    ]
    return read_inventory(f"{text['hosts']}{text['devices']}wires: [{', '.join(wires)}]\n")


def made(document: PlanDocument, inventory: Inventory, device: str) -> Checklist:
    found = checklist(document, map_plan(inventory, document, {}), inventory.devices[device])
    assert found is not None
    return found


def tas() -> Checklist:
    document = plan(load_variants(FLEXTEST / "tas.yaml")[0]).document
    return made(document, load_inventory(FLEXTEST / "lab.yaml"), "falcon")


def test_checklists_are_the_golden_files() -> None:
    texts = {"falcon-tas": tas().file}
    for scenario in SCENARIOS:
        document, inventory = lab_with(scenario)
        devices = [name for name in inventory.devices if name != "unused"]
        stem = scenario.rpartition("/")[2]
        texts |= {f"{stem}-{name}": made(document, inventory, name).file for name in devices}
    for name, text in texts.items():
        matches(HERE / f"checklists/{name}.txt", text)
    assert {path.stem for path in (HERE / "checklists").iterdir()} == set(texts)


def test_a_gate_list_is_there_to_the_nanosecond() -> None:
    document = plan(load_variants(FLEXTEST / "tas.yaml")[0]).document
    port = next(one for one in document["ports"] if "gates" in one and one["name"].startswith("dut"))
    text = tas().text
    for number, entry in enumerate(port["gates"]["entries"], start=1):
        assert f"entry {number}: {entry['interval_ns']} ns, open: " in text
    assert f"base time {port['gates']['base_time_ns']} ns" in text


def test_the_hash_covers_only_the_devices_own_settings() -> None:
    document, inventory = rich()
    name = next(name for name in inventory.devices if name != "unused")
    before = made(document, inventory, name).hash
    longer = copy.deepcopy(document)
    longer["duration_ns"] *= 2
    longer["seed"] += 1
    longer["name"] = "another"
    assert made(longer, inventory, name).hash == before
    node = next(place for place, one in enumerate(document["nodes"]) if one["name"] == name)
    other = copy.deepcopy(document)
    next(port for port in other["ports"] if port["node"] == node)["pcp_to_class"][0] ^= 1
    assert made(other, inventory, name).hash != before


def test_a_run_requires_the_confirmation_of_exactly_this_checklist() -> None:
    one = tas()
    assert not one.confirmed(None)
    # The file as it is written does not confirm itself.
    assert not one.confirmed(one.file)
    assert not one.confirmed(f"{one.text}\nconfirmed: {'0' * 64}\n")
    assert one.confirmed(f"{one.file}confirmed: {one.hash}\n")
    assert one.confirmed(one.file.replace("# confirmed", "confirmed"))
    one.require(f"  confirmed:  {one.hash}  \r\n".replace("\r", ""), "falcon.txt")
    for content, said in [
        (None, "found no such file"),
        (one.file, "found none"),
        (f"confirmed: {'0' * 64}", "found the confirmation of another checklist"),
        (f"not confirmed: {one.hash}", "found none"),
        (f"confirmed: {one.hash[:-1]}", "found none"),
    ]:
        with pytest.raises(InputError, match=rf"^falcon.txt: expected the line confirmed: .*{said}"):
            one.require(content, "falcon.txt")


def test_changes_during_the_run_cannot_be_made_by_hand() -> None:
    document, inventory = lab_with("exports/rich")
    changed = copy.deepcopy(document)
    port = next(one for one in changed["ports"] if one["name"] == "left -> right")
    first = port["gates"]
    entries = {key: first[key] for key in ("base_time_ns", "cycle_ns", "entries")}
    first["changes"] = [{"at_ns": 5_000_000, **entries}]
    assert made(document, inventory, "left").left_out == ()
    assert made(changed, inventory, "left").left_out == (
        "left -> right: another gate control list from 5000000 ns of the run on",
    )


def test_a_device_that_the_plan_does_not_use_has_no_checklist() -> None:
    document, inventory = rich()
    assert checklist(document, map_plan(inventory, document, {}), inventory.devices["unused"]) is None
