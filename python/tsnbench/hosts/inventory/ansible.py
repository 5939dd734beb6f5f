"""The JSON of ``ansible-inventory --list`` as the tree of an inventory. Nothing of Ansible is imported.

JSON is YAML, so each value records its line and column, and the inventory's own grammar checks all of it.
"""

from __future__ import annotations

from tsnbench.scenario.errors import Problem, ScenarioErrors, failure
from tsnbench.scenario.text.tree import Mapping, Scalar, Value, describe

_OF_HOSTS = ("ports", "talkers", "tuning", "program", "clock", "folder")
"""Keys of a host that are variables ``tsnbench_…`` of that host."""
_OF_ALL = ("devices", "wires", "map", "sync")
"""Keys of an inventory that are variables ``tsnbench_…`` of the group ``all``."""


def is_list(tree: Mapping) -> bool:
    """Whether a tree is output of ``ansible-inventory --list``."""
    meta = tree.get("_meta")
    return isinstance(meta, Mapping) and meta.get("hostvars") is not None


def as_inventory(tree: Mapping, file: str) -> Mapping:
    """The inventory that the variables of the hosts describe.

    Hosts without ``tsnbench_ports`` are left out: an inventory of Ansible may have others.

    Raises:
        ScenarioErrors: the tree is no list of hosts, or two hosts have different values of a common variable.
    """
    meta = tree.get("_meta")
    variables = meta.get("hostvars") if isinstance(meta, Mapping) else None
    if not isinstance(variables, Mapping):
        hint = "write the output of ansible-inventory --list into the file"
        raise failure(file, "_meta.hostvars", describe(variables), hint, tree.place)
    hosts: list[tuple[Scalar, Value]] = []
    shared: dict[str, tuple[Scalar, Value]] = {}
    for name, values in variables.entries:
        if not isinstance(values, Mapping):
            continue
        for key in _OF_ALL:
            value = values.get(f"tsnbench_{key}")
            if value is None:
                continue
            if key in shared and _plain(shared[key][1]) != _plain(value):
                path, found = (
                    f"_meta.hostvars.{name.text}.tsnbench_{key}",
                    f"another value than {file} has above",
                )
                hint = "say it once, as a variable of the group all"
                place = value.place
                expected = "the same value for all hosts"
                raise ScenarioErrors([Problem(file, place.line, place.column, path, expected, found, hint)])
            shared.setdefault(key, (Scalar(value.place, key), value))
        if values.get("tsnbench_ports") is not None:
            hosts.append((name, _host(name, values)))
    if not hosts:
        hint = "give hosts the variable tsnbench_ports: {left: enp3s0}"
        raise failure(file, "a host with tsnbench_ports", "none", hint, variables.place)
    entries = ((Scalar(variables.place, "hosts"), Mapping(variables.place, tuple(hosts), tree.weight)),)
    return Mapping(tree.place, (*entries, *shared.values()), tree.weight)


def _host(name: Scalar, values: Mapping) -> Mapping:
    entries: list[tuple[Scalar, Value]] = [(Scalar(name.place, "ssh"), _target(name, values))]
    for key in _OF_HOSTS:
        value = values.get(f"tsnbench_{key}")
        if value is not None:
            entries.append((Scalar(value.place, key), value))
    return Mapping(values.place, tuple(entries), values.weight)


def _target(name: Scalar, values: Mapping) -> Scalar:
    """The destination as ssh takes it, from Ansible's variables of the connection."""
    written = values.get("ansible_host")
    host = written if isinstance(written, Scalar) else name
    user, port = _text(values, "ansible_user"), _text(values, "ansible_port")
    text = f"{user}@{host.text}" if user else host.text
    if port and port != "22":
        bare = f"[{host.text}]" if ":" in host.text else host.text
        text = f"ssh://{user}@{bare}:{port}" if user else f"ssh://{bare}:{port}"
    return Scalar(host.place, text, plain=False)


def _text(values: Mapping, key: str) -> str:
    value = values.get(key)
    return value.text.strip() if isinstance(value, Scalar) else ""


def _plain(value: Value) -> object:
    """A value without its places."""
    if isinstance(value, Scalar):
        return value.text
    if isinstance(value, Mapping):
        return {key.text: _plain(part) for key, part in value.entries}
    return [_plain(item) for item in value.items]
