"""One build of a crate with all of its mutants, and what its tests say of each."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutants.source import GATE, Mutant, Source

# A mutant that never ends takes this many times as long as the unchanged tests, and at least so many seconds.
PATIENCE, LEAST = 5.0, 12.0
MARK = re.compile(rb"/\*<([\d,]+)\*/")


@dataclass(frozen=True)
class Crate:
    """A crate and its tests: quick ones first, and slow ones for what those have not seen.

    ``--lib`` are the tests beside the code, ``all`` those of the test program with this name; each other name
    is one of its modules.
    """

    name: str
    quick: tuple[str, ...]
    slow: tuple[str, ...]

    @property
    def folder(self) -> str:
        return f"crates/{self.name}"

    @property
    def package(self) -> str:
        return f"tsn-{self.name}"


CRATES = {
    crate.name: crate
    for crate in (
        Crate("bridge", ("--lib", "port", "preemption", "stages"), ("slots", "parts")),
        Crate("clock", ("--lib", "parts"), ("chain",)),
        Crate("measure", ("--lib", "run", "captures"), ("rtc_testbench", "hostile")),
        Crate("bounds", ("--lib", "all"), ()),
    )
}


def listed(crate: Crate, tree: Path) -> list[Mutant]:
    """The mutants of a crate, as cargo-mutants finds them; `.cargo/mutants.toml` leaves some out."""
    command = ["cargo", "mutants", "--package", crate.package, "--list", "--json"]
    text = subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout
    return [Mutant.of(number, one) for number, one in enumerate(json.loads(text), 1)]


def build(
    crate: Crate, tree: Path, mutants: list[Mutant], environment: dict[str, str]
) -> tuple[set[int], dict[str, Path]]:
    """The mutants that are in the build, and its test programs. Mutants that do not compile are left out."""
    sources = {}
    for file in sorted({mutant.file for mutant in mutants}):
        own = [mutant for mutant in mutants if mutant.file == file]
        sources[file] = Source((tree / file).read_text(), own)
    command = ["cargo", "test", "--locked", "--no-run", "--message-format=json", "--profile", "mutants"]
    command += ["--package", crate.package, "--lib", "--test", "all"]
    root = tree / crate.folder / "src" / "lib.rs"
    without: set[int] = set()
    while True:
        for file, source in sources.items():
            (tree / file).write_text(source.render(without))
        root.write_text(root.read_text().replace(GATE, "") + GATE)
        done = subprocess.run(command, cwd=tree, env=environment, check=False, capture_output=True, text=True)
        messages = list(_messages(done.stdout))
        if done.returncode == 0:
            break
        wrong = _mutants_of_errors(messages, {file: (tree / file).read_bytes() for file in sources})
        if not wrong - without:
            raise SystemExit(f"{crate.package} does not compile with its mutants:\n{done.stderr}")
        without |= wrong
    written = set().union(*(source.written for source in sources.values()))
    return written, dict(_programs(crate, messages))


def _messages(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{"):
            yield json.loads(line)


def _programs(crate: Crate, messages: Iterable[dict[str, Any]]) -> Iterator[tuple[str, Path]]:
    for message in messages:
        target = message.get("target", {})
        if message.get("executable") and f"{crate.folder}/" in target["src_path"]:
            yield ("--lib" if "lib" in target["kind"] else target["name"]), Path(message["executable"])


def _mutants_of_errors(messages: Iterable[dict[str, Any]], texts: dict[str, bytes]) -> set[int]:
    """For every error the innermost marked text that it is in; else all that is marked within it.

    If that is none, it is the last marked text before the place where the compiler would mend it: where an
    arm of a match is missing, this is the arm that a mutant takes away.
    """
    found: set[int] = set()
    for message in messages:
        if message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
            continue
        own = message["message"]
        at = [span for span in own["spans"] if span["is_primary"]]
        found |= _marked(at, texts) or _marked(own["spans"], texts) or _marked_before(own["children"], texts)
    return found


def _marked_before(hints: Iterable[dict[str, Any]], texts: dict[str, bytes]) -> set[int]:
    for span in (span for hint in hints for span in hint["spans"] if span["suggested_replacement"]):
        file = next((name for name in texts if name.endswith(span["file_name"])), None)
        before = [one for one in _regions(texts[file]) if one[1] <= span["byte_start"]] if file else []
        if before:
            return max(before)[2]
    return set()


def _marked(spans: Iterable[dict[str, Any]], texts: dict[str, bytes]) -> set[int]:
    found: set[int] = set()
    for span in spans:
        file = next((name for name in texts if name.endswith(span["file_name"])), None)
        if file is None:
            continue
        start, end = span["byte_start"], span["byte_end"]
        regions = list(_regions(texts[file]))
        around = [one for one in regions if one[0] <= start and end <= one[1]]
        within = [one for one in regions if start <= one[0] and one[1] <= end]
        for region in [min(around, key=lambda one: one[1] - one[0])] if around else within:
            found |= region[2]
    return found


def _regions(text: bytes) -> Iterator[tuple[int, int, set[int]]]:
    for mark in MARK.finditer(text):
        close = b"/*" + mark[1] + b">*/"
        end = text.find(close, mark.end()) + len(close)
        yield mark.start(), end, {int(number) for number in mark[1].split(b",")}


def judge(
    crate: Crate,
    tree: Path,
    mutants: Iterable[Mutant],
    programs: dict[str, Path],
    environment: dict[str, str],
) -> Iterator[tuple[Mutant, str]]:
    """Each mutant, with its end: whether a test sees it."""
    folder = tree / crate.folder
    own = {**environment, "CARGO_MANIFEST_DIR": str(folder)}
    tests = (*crate.quick, *crate.slow)
    commands = {
        name: [programs[name], "-q"] if name in programs else [programs["all"], "-q", f"{name}::"]
        for name in tests
    }
    limits = {}
    for name, command in commands.items():
        begun = time.monotonic()
        if subprocess.run(command, cwd=folder, env=own, check=False, capture_output=True).returncode:
            raise SystemExit(f"{crate.package}, {name}: the tests fail without any mutant")
        limits[name] = max(LEAST, PATIENCE * (time.monotonic() - begun))

    def end(mutant: Mutant) -> str:
        for name in tests:
            with_it = {**own, "MUTANT": str(mutant.number)}
            try:
                subprocess.run(
                    commands[name],
                    cwd=folder,
                    env=with_it,
                    check=True,
                    capture_output=True,
                    timeout=limits[name],
                )
            except subprocess.TimeoutExpired:
                return "timed out"
            except subprocess.CalledProcessError:
                return "caught"
        return "survived"

    for mutant in mutants:
        yield mutant, end(mutant)


def environment_for(work: Path) -> dict[str, str]:
    """No shrinking, few cases and no files beside the source: a mutant only has to be seen."""
    return {
        **os.environ,
        "CARGO_TARGET_DIR": str(work / "build"),
        "PROPTEST_CASES": "16",
        "PROPTEST_MAX_SHRINK_ITERS": "0",
        "RUST_BACKTRACE": "0",
    }
