"""Provenance of the tables of a study as an RO-Crate: one file of JSON-LD in its folder.

RO-Crate 1.1 is https://w3id.org/ro/crate/1.1. An archive, or a program that knows RO-Crate, reads from the
file what belongs to the study, and which build of which program made the tables from which scenario.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tsnbench.foreign import Json
from tsnbench.studies.store import LIST, SCENARIO, STUDY, Content
from tsnbench.version import __version__

NAME = "ro-crate-metadata.json"
_PROFILE = "https://w3id.org/ro/crate/1.1"
_HOME = "#tsnbench"
_TYPES = {
    ".yaml": "application/yaml",
    ".json": "application/json",
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
}
_WORDS = {
    STUDY: "The study: what varies, and how often each combination is repeated",
    SCENARIO: "The scenario: network, streams and requirements",
    LIST: "The list of all runs with their values and seeds",
    "results.parquet": "One row for each run, stream and listener, with every measure",
    "results.csv": "One row for each run, stream and listener, with every measure",
    "intervals.csv": "Estimates over repetitions, with their confidence intervals",
    "differences.csv": "Differences between combinations of values, seed by seed",
    "runs.csv": "One row for each run: whether it met its requirements, and how it was made",
    "search.csv": "The combinations that the search tried, and which of them are the best",
    "sensitivity.csv": "How much each varied value matters",
    "until.csv": "Intervals that were requested, and what is reached",
}


def crate(folder: Path, content: Content, tables: Sequence[str]) -> str:
    """The text of ``ro-crate-metadata.json`` for the files of a study that are there.

    It names no author and no license: only the people who publish the folder can name them.
    """
    sources = [STUDY, SCENARIO, LIST]
    results = [name for name in tables if (folder / name).is_file()]
    files = [_file(folder / name) for name in (*sources, *results) if (folder / name).is_file()]
    newest = max(((folder / name).stat().st_mtime for name in (*results, LIST)), default=0.0)
    ended = datetime.fromtimestamp(int(newest), UTC).isoformat()
    graph: list[Json] = [
        {
            "@id": NAME,
            "@type": "CreativeWork",
            "conformsTo": {"@id": _PROFILE},
            "about": {"@id": "./"},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": content.name,
            "description": f"{len(content.runs)} simulations of a network for Time-Sensitive Networking",
            "datePublished": ended[:10],
            "hasPart": [_link(one["@id"]) for one in files],
            "mentions": [_link("#runs")],
        },
        *files,
        {
            "@id": "#runs",
            "@type": "CreateAction",
            "name": "tsnbench study run",
            "endTime": ended,
            "instrument": _link(_HOME),
            "object": [_link(name) for name in sources],
            "result": [_link(name) for name in results],
        },
        {
            "@id": _HOME,
            "@type": "SoftwareApplication",
            "name": "tsnbench",
            "version": __version__,
            "identifier": f"engine {content.engine}",
        },
    ]
    document = {"@context": f"{_PROFILE}/context", "@graph": graph}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _file(path: Path) -> Json:
    return {
        "@id": path.name,
        "@type": "File",
        "name": path.name,
        "description": _WORDS[path.name],
        "encodingFormat": _TYPES[path.suffix],
        "contentSize": str(path.stat().st_size),
    }


def _link(name: str) -> dict[str, str]:
    return {"@id": name}
