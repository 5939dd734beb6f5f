"""The folder of a study: its list of runs, leases, results and tables.

    study.json        name, engine, list of runs
    study.yaml        the study and the scenario as text, as they were when the list was made
    scenario.yaml
    leases/           one file for each run that a worker makes now
    made/             what came out, one file for each Plan
    runs/             which Plan each run is, one file for each run
    scratch/          run folders of runs under way
    results.parquet   one row for each run, stream and listener; results.csv is the same
    runs.csv          one row for each run
    search.csv        combinations that a search tried; sensitivity.csv which values matter
    intervals.csv     estimates over repetitions; differences.csv between combinations; until.csv
    report.html       the page of the study
    printed.json      numbers of a paper beside the results (tsnbench reproduce)
    kept/             run folders of the runs with the greatest delays (keep: worst)
    ro-crate-metadata.json   which program made these tables from which files

All files are written in one step. Only what is named here is ever removed.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tsnbench import foreign
from tsnbench.runs import clearing, file_names, lock
from tsnbench.runs.engine import identity
from tsnbench.runs.errors import FolderError, writing
from tsnbench.studies.design import Design, Request
from tsnbench.studies.study_file import Study, Until, Width

Row = dict[str, Any]
"""One row of a table: the columns depend on what the study varies."""
Record = Mapping[str, Any]
"""What a worker has written of a run (``made``, ``runs``): figures whose names are those of the measures."""
FORMAT = "tsnbench-study/1"
LIST, STUDY, SCENARIO = "study.json", "study.yaml", file_names.SCENARIO
KEPT = "kept"
"""The folder of the run folders that ``keep`` names."""
FOLDERS = ("leases", "made", "runs", "scratch")
_PART = re.compile(r"[0-9a-z]+\.json\.[0-9a-f]{16}\.part")


@dataclass(frozen=True)
class Content:
    """The content of a study's list."""

    name: str
    engine: str
    file: str
    scenario: str
    once: tuple[str, ...]
    runs: tuple[Request, ...]
    """With a stopping rule, all that it may ask for."""
    until: Until | None = None
    explores: str = ""
    """``search`` or ``sensitivity``: the runs are chosen combinations, and have a table of their own."""


class Store:
    """The folder of a study."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def begin(
        self, design: Design, study: Study, files: dict[str, Path], texts: Mapping[str, str] | None = None
    ) -> str:
        """Writes the list of runs; returns the changes since the last list, empty if there are none.

        ``texts``: the study and its scenario; None if they are as in the folder.

        Raises:
            FolderError: the folder holds something else, or another study.
            BackendError: the disk is full, or cannot be written.
        """
        clearing.refuse_file(self.folder)
        with writing(self.folder), lock.held(self.folder, patience_s=10):
            changed = ""
            if (self.folder / LIST).exists():
                before = self.read()
                if before.name != study.name:
                    raise FolderError(
                        self.folder, f"holds another study, {before.name}", "name another folder with --into"
                    )
                if before.engine != identity():
                    changed = f"the engine changed, {before.engine} to {identity()}: all runs are made anew"
            elif any(not one.name.startswith(lock.NAME) for one in self.folder.iterdir()):
                raise FolderError(
                    self.folder, "expected an empty folder or a study's, found other files", clearing.HINT
                )
            for one in FOLDERS:
                (self.folder / one).mkdir(exist_ok=True)
            for one, text in (texts or {}).items():
                self.write(one, text)
            content = {
                "format": FORMAT,
                "name": study.name,
                "engine": identity(),
                # Paths are relative to the study, so the folder can be moved together with its scenario.
                "files": {key: os.path.relpath(path, self.folder) for key, path in files.items()},
                "once": list(design.once),
                "until": asdict(study.until) if study.until else None,
                **({"explores": _explores(study)} if _explores(study) else {}),
                "runs": [run.as_dict() for run in design.runs],
            }
            self.write(LIST, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
        return changed

    def read(self) -> Content:
        """The list of runs.

        Raises:
            FolderError: the folder is no study's, or the list is damaged.
        """
        try:
            content = foreign.read_json(self.folder / LIST)
        except FileNotFoundError:
            raise FolderError(
                self.folder,
                f"expected the folder of a study, found no {LIST}",
                "tsnbench study run makes one",
            ) from None
        except OSError as error:
            raise FolderError(self.folder, f"its {LIST} cannot be read: {error.strerror or error}") from error
        try:
            if content["format"] != FORMAT:
                raise ValueError(content["format"])
            return Content(
                name=str(content["name"]),
                engine=str(content["engine"]),
                file=str(content["files"][STUDY]),
                scenario=str(content["files"][SCENARIO]),
                once=tuple(map(str, content["once"])),
                runs=tuple(Request(**_run(one)) for one in content["runs"]),
                until=_until(content.get("until")),
                explores=str(content.get("explores", "")),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FolderError(self.folder, f"its {LIST} is damaged: {error}") from error

    def write(self, name: str, text: str | bytes) -> None:
        """Writes a file of the study in one step, and waits until it is on the disk."""
        path = self.folder / name
        part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
        try:
            with part.open("wb") as file:
                file.write(text.encode() if isinstance(text, str) else text)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise

    def unfinished(self, age_s: float) -> list[Path]:
        """Incomplete results that no process has changed for this time."""
        parts = [path for kind in ("made", "runs") for path in (self.folder / kind).glob("*.part")]
        return [path for path in parts if _PART.fullmatch(path.name) and _age_s(path) > age_s]

    def record(self, kind: str, name: str) -> foreign.Json | None:
        """A record of ``made`` or ``runs``; None if it is missing or has another format."""
        try:
            found = foreign.read_json(self.folder / kind / f"{name}.json")
        except OSError:
            return None
        return found if isinstance(found, dict) and found.get("format") == FORMAT else None

    def result(self, run: Request) -> foreign.Json | None:
        """The result of a run, with its wall time and worker; None if the run was not made yet."""
        return self.made(run.id)

    def made(self, run: str) -> foreign.Json | None:
        """The result of the run with this ``id``, as :meth:`result`."""
        made = self.record("runs", run)
        if made is None:
            return None
        found = self.record("made", str(made.get("key")))
        return None if found is None else found | made


def _age_s(path: Path) -> float:
    """How long ago a file was written; 0 if it is gone."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _explores(study: Study) -> str:
    return "search" if study.search else "sensitivity" if study.sensitivity else ""


def _until(said: foreign.Json | None) -> Until | None:
    """The stopping rule of a list; the study's file has checked its numbers."""
    if said is None:
        return None
    widths = tuple(Width(**one) for one in said["widths"])
    if not all(type(said[key]) is int for key in ("least", "batch", "most")) or not widths:
        raise TypeError("its stopping rule")
    return Until(said["least"], said["batch"], said["most"], widths)


def _run(said: foreign.Json) -> foreign.Json:
    """The values of one run in a list, checked for their types and for characters of a file name."""
    name = said["id"]
    if not (isinstance(name, str) and name.isalnum() and name.isascii() and len(name) < 65):
        raise ValueError(f"a run is called {name}")
    for key in ("values", "variant"):
        if not all(isinstance(word, str) for pair in said[key].items() for word in pair):
            raise TypeError(f"{key} of run {name}")
    if not all(type(said[key]) is int and said[key] >= 0 for key in ("number", "seed")):
        raise TypeError(f"number or seed of run {name}")
    return said
