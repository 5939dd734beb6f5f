"""The facts about keys as text: one key for a terminal, all keys as a page."""

from __future__ import annotations

from tsnbench.scenario.reference.keys import Key, Section, path_text

FACTS = ("type", "unit", "default", "range", "clause", "since", "example")
"""The facts about a key, in the order in which they are printed."""
_MOST_PATHS = 3


def in_words(key: Key) -> str:
    """A key with its facts, one in each line."""
    paths = list(dict.fromkeys(path_text(path) for path in key.paths))
    lines = [paths[0], f"  {key.field.doc}", ""]
    lines += [f"  {fact:<8} {getattr(key, fact)}" for fact in FACTS]
    if key.name != "*":
        lines[-1] = f"  example  {key.name}: {key.example}"
    if paths[1:]:
        lines.append(f"  also     {_listed(paths[1:])}")
    return "\n".join(lines)


def page(sections: list[Section]) -> str:
    """All keys as tables in Markdown, one table for each mapping."""
    return "\n".join(line for section in sections for line in _section(section)) + "\n"


def _section(section: Section) -> list[str]:
    paths = [path_text(path) for path in section.paths]
    where = f"In {_listed([f'`{path}`' for path in paths])}." if paths[0] else "At the top of the file."
    title = section.record.what if paths[0] else "a scenario"
    heading = f"## {title[0].upper()}{title[1:]}" + (f": `{paths[0]}`" if paths[0] else "")
    head = [
        "",
        heading,
        "",
        where,
        "",
        "| key and example | meaning | type, unit, range | default, clause, since |",
    ]
    return [*head, f"|{'---|' * 4}", *map(_row, section.keys)]


def _row(key: Key) -> str:
    name = "any name" if key.name == "*" else f"`{key.name}`"
    example = key.example if key.name == "*" else f"{key.name}: {key.example}"
    unit = "" if key.unit == "none" else f" ({key.unit})"
    cells = [
        f"{name}<br>`{example}`",
        key.field.doc,
        f"{key.type}{unit}<br>{key.range}",
        f"{key.default}<br>{key.clause}<br>since {key.since}",
    ]
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - _MOST_PATHS} more" if len(paths) > _MOST_PATHS else ""
    return ", ".join(paths[:_MOST_PATHS]) + more
