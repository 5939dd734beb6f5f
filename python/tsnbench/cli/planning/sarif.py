"""SARIF 2.1.0, which services for code review show beside the lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from urllib.parse import quote

from tsnbench.messages import kinds
from tsnbench.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def log_of(
    problems: Sequence[Mapping[str, str | int]], warnings: Iterable[Mapping[str, str]]
) -> Mapping[str, object]:
    """A log with one run: a rule for each kind of message, and a result for each message.

    Args:
        problems: as ``check --json`` prints them.
        warnings: as ``check --json`` prints them.
    """
    results = [
        _result(
            str(one["code"]),
            "error",
            f"{one['path']}: expected {one['expected']}, found {one['found']}".removeprefix(": "),
            str(one["hint"]),
            (str(one["file"]), int(one["line"]), int(one["column"])),
        )
        for one in problems
    ]
    for one in warnings:
        file, line, column = (one["place"] or ":1:1").rsplit(":", 2)
        text = f"{one['where']}: {one['text']}"
        results.append(_result(one["code"], "warning", text, one["hint"], (file, int(line), int(column))))
    rules = [
        {
            "id": code,
            "shortDescription": {"text": kind.title},
            "help": {"text": f"{kind.cause} {kind.remedy}"},
        }
        for code, kind in kinds().items()
    ]
    driver = {"name": "tsnbench", "version": __version__, "rules": rules}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _result(code: str, level: str, text: str, hint: str, place: tuple[str, int, int]) -> Mapping[str, object]:
    file, line, column = place
    where: Mapping[str, object] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(PurePath(file).as_posix())},
            "region": {"startLine": line, "startColumn": column},
        }
    }
    message = {"text": f"{text}\nhint: {hint}" if hint else text}
    return {"ruleId": code, "level": level, "message": message, "locations": [where] if file else []}
