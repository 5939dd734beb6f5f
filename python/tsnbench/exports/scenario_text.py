"""The text of a scenario that an import writes, and notes of parts that have no equivalent in a scenario."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass
class Notes:
    """Parts without an equivalent, each once, with those that have them."""

    found: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, who: str) -> None:
        having = self.found.setdefault(what, [])
        if who not in having:
            having.append(who)

    def lines(self) -> Iterator[str]:
        for what, having in self.found.items():
            more = f" and {len(having) - 4} more" if len(having) > 4 else ""
            yield f"  {what}: {', '.join(having[:4])}{more}"


def flow(keys: Mapping[str, object]) -> str:
    """A mapping of YAML on one line, without keys whose value is None."""
    return f"{{{', '.join(f'{key}: {value}' for key, value in keys.items() if value is not None)}}}"


def listed(values: Iterable[object]) -> str:
    """A list of YAML on one line."""
    return f"[{', '.join(map(str, values))}]"


def text(
    source: Sequence[str], head: Mapping[str, str], network: Sequence[str], rest: Sequence[str], notes: Notes
) -> str:
    """The text of a scenario.

    Args:
        source: comments about the origin.
        head: the keys before the network.
        network: the lines of the network, without their indent.
        rest: the lines below the network.
        notes: parts that the scenario does not describe.
    """
    comments = [*source, *(["Not said here:", *notes.lines()] if notes.found else [])]
    keys = [f"{key}: {value}" for key, value in head.items()]
    parts = (*(f"  {line}" for line in network), "", *rest, "")
    return "\n".join([*(f"# {one}" for one in comments), *keys, "", "network:", *parts])
