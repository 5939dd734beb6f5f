"""Notes of an import: parts of other tools' files that have no equivalent in a scenario."""

from __future__ import annotations

from collections.abc import Iterator
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
            yield f"#   {what}: {', '.join(having[:4])}{more}"
