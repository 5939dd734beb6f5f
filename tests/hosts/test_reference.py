"""docs/reference/inventory.md: its examples can be read, and it lists every key with its default."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from support.commands import tsnbench
from support.grammar import records
from tsnbench.hosts import from_ansible, read_inventory
from tsnbench.hosts.inventory import SyncBounds
from tsnbench.hosts.inventory.grammar import INVENTORY
from tsnbench.linux.tuning import settings
from tsnbench.scenario.kinds.combinators import Record
from tsnbench.scenario.text.reading import Reading
from tsnbench.scenario.text.source import parse

TEXT = (Path(__file__).parents[2] / "docs/reference/inventory.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_the_first_example_is_a_whole_inventory() -> None:
    lab = read_inventory(BLOCKS[0])
    assert [machine.name for machine in lab.machines()] == ["zgw6", "pi", "falcon", "sw1"]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda text: text[:12])
def test_every_example_is_read(block: str) -> None:
    reading = Reading("inventory.md", {})
    for key, value in parse(block, "inventory.md").entries:
        INVENTORY.fields[key.text].kind.read(reading, value, key.text)
    assert [str(problem) for problem in reading.problems] == []
    if block.startswith("hosts:"):
        assert read_inventory(block).hosts


def test_the_bounds_unless_given_are_those_of_the_page() -> None:
    (written,) = [block for block in BLOCKS if block.startswith("sync:")]
    hosts = "hosts: {a: {ssh: a, ports: {p: eth0}}}\n"
    assert read_inventory(hosts + written).sync == SyncBounds()


@pytest.mark.parametrize("record", records(INVENTORY), ids=lambda record: record.what)
def test_every_key_is_in_the_reference(record: Record) -> None:
    assert [key for key in record.fields if f"`{key}`" not in TEXT] == []


def test_the_settings_are_those_of_the_script() -> None:
    for one in settings(["eth0"], [2]):
        if one.name != "interrupts":
            assert f"| `{one.name}` | `{one.value}` |" in TEXT


def test_the_example_of_ansible_is_read() -> None:
    (text,) = re.findall(r"^```json\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)
    assert [host.ssh for host in from_ansible(text).hosts.values()] == ["root@192.0.2.6", "zgw7"]


def test_the_program_prints_the_schema(tmp_path: Path) -> None:
    done = tsnbench("schema", "--of", "inventory", cwd=tmp_path)
    assert json.loads(done.stdout)["title"] == "tsnbench inventory"
