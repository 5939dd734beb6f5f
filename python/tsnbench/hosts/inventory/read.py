"""Files of inventories: the project's own YAML, and the JSON of ``ansible-inventory --list``."""

from __future__ import annotations

import os
from pathlib import Path

from tsnbench.hosts.inventory import ansible
from tsnbench.hosts.inventory.build import inventory
from tsnbench.hosts.inventory.types import Inventory
from tsnbench.scenario.text import source

_SUBJECT = source.Subject("an inventory", "hosts: {zgw6: {ssh: root@zgw6, ports: {left: enp3s0}}}")


def load_inventory(path: str | os.PathLike[str]) -> Inventory:
    """Reads an inventory from its file.

    Args:
        path: a YAML file as in ``docs/reference/inventory.md``, or a file with the output of
            ``ansible-inventory --list``.

    Raises:
        ScenarioErrors: every mistake of the file at once.
    """
    return read_inventory(source.read_file(Path(path), _SUBJECT), str(path))


def read_inventory(text: str, file: str = "lab.yaml") -> Inventory:
    """Reads the text of an inventory, as :func:`load_inventory` reads a file.

    Raises:
        ScenarioErrors: every mistake of the text at once.
    """
    tree = source.parse(text, file, _SUBJECT)
    return inventory(ansible.as_inventory(tree, file) if ansible.is_list(tree) else tree, file)


def from_ansible(text: str, file: str = "inventory.json") -> Inventory:
    """Reads the output of ``ansible-inventory --list``.

    Args:
        text: JSON with ``_meta.hostvars``; ``docs/reference/inventory.md`` names the variables.
        file: the name of the file in error messages.

    Raises:
        ScenarioErrors: every mistake of the text at once.
    """
    tree = source.parse(text, file, _SUBJECT)
    return inventory(ansible.as_inventory(tree, file), file)
