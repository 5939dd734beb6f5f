"""`make mutants`: put defects into the code, one at a time, and see whether a test fails.

Rust: the mutants that cargo-mutants lists, all in one build of a crate. Python: mutmut. Both work in a copy
of the tree under `target/mutants`. What survives is compared with the lists in `survivors` beside this file:
a survivor that is not listed there makes the run fail. See docs/mutants.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from mutants.build import CRATES, build, environment_for, judge
from mutants.build import listed as listed_mutants
from mutants.planner import PLANNING_MODULES, PLANNING_TESTS
from mutants.saved import Saved
from mutants.survivors import Survivor, all_listed, is_defect, only, report

TREE = Path(__file__).parents[2]
WORK = TREE / "target" / "mutants"


def copy_of_tree(into: Path) -> None:
    """Copies what git knows and what is new; what has not changed is left alone, so that little is built."""
    git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(git, cwd=TREE, check=True, capture_output=True, text=True).stdout.split("\0")
    wanted = {name for name in names if name and (TREE / name).is_file()}
    for old in [path for path in into.rglob("*") if path.is_file()] if into.is_dir() else []:
        if str(old.relative_to(into)) not in wanted:
            old.unlink()
    for name in wanted:
        source, target = TREE / name, into / name
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def rust(name: str, which: str, shard: str | None, files: list[str]) -> tuple[list[Survivor], str]:
    """The survivors of one crate, and a line about the run. Only the crate's own tests are run."""
    crate, tree = CRATES[name], WORK / "tree"
    copy_of_tree(tree)
    environment = environment_for(WORK)
    mutants = listed_mutants(crate, tree)
    saved = Saved(WORK / "results" / f"{name}.json", mutants, TREE)
    wanted = [one for one in mutants if not files or one.file in files]
    if shard:
        first, of = (int(part) for part in shard.split("/"))
        wanted = wanted[first::of]
    ends = {"all": None, "rest": {None}, "survivors": {"survived"}, "none": set[str | None]()}[which]
    due = [one for one in wanted if ends is None or saved.end(one) in ends]
    if due:
        built, programs = build(crate, tree, mutants, environment)
        for one in due:
            if one.number not in built:
                saved.keep(one, "not built")
        there = [one for one in due if one.number in built]
        for mutant, ended in judge(crate, tree, there, programs, environment):
            saved.keep(mutant, ended)
            if ended == "survived":
                print(mutant.name, flush=True)
    counted = Counter(saved.end(one) or "not run" for one in wanted)
    found = [saved.survivor(one) for one in wanted if saved.end(one) == "survived"]
    return found, f"{crate.package}: {len(wanted)} mutants: " + ", ".join(
        f"{count} {end}" for end, count in sorted(counted.items())
    )


def planning_modules(names: list[str]) -> list[Path]:
    """The modules of `PLANNING_MODULES` that have one of these names; all of them without a name."""
    package = TREE / "python" / "tsnbench"
    every = sorted({path for pattern in PLANNING_MODULES for path in package.glob(pattern)})
    unknown = set(names) - {path.stem for path in every}
    if unknown:
        raise SystemExit(f"planning has no module {sorted(unknown)}: write one as in --file cbs")
    return [path for path in every if not names or path.stem in names]


def python(modules: list[Path], tests: list[str], children: int) -> tuple[list[Survivor], str]:
    """The survivors of these modules, and a line about the run."""
    stage = WORK / "python"
    copy_of_tree(WORK / "tree")
    for name, target in (("python/tsnbench", "src/tsnbench"), ("tests", "tests"), ("scenarios", "scenarios")):
        shutil.rmtree(stage / target, ignore_errors=True)
        shutil.copytree(WORK / "tree" / name, stage / target)
    shutil.copytree(WORK / "tree" / "docs", stage / "docs", dirs_exist_ok=True)
    shutil.copy(WORK / "tree" / "README.md", stage / "README.md")
    for native in (TREE / "python" / "tsnbench").glob("_native*.so"):
        shutil.copy(native, stage / "src" / "tsnbench")
    settings = {
        "source_paths": ["src/tsnbench"],
        "only_mutate": [f"src/{path.relative_to(TREE / 'python')}" for path in modules],
        "also_copy": ["scenarios", "docs", "README.md"],
        # Rooms have files of tests with equal names.
        "pytest_add_cli_args": ["-p", "no:cacheprovider", "--import-mode=importlib"],
        "pytest_add_cli_args_test_selection": tests,
        "use_git_change_detection": False,
        # Threads that earlier tests have started are lost in a forked process, and their pools wait for ever.
        "process_isolation": "forkserver",
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    (stage / "pyproject.toml").write_text("[tool.mutmut]\n" + "\n".join(lines) + "\n")
    shutil.rmtree(stage / "mutants", ignore_errors=True)
    mutmut = [sys.executable, "-m", "mutmut"]
    environment = {**os.environ, "PYTHONPATH": f"{WORK / 'python-tools'}:{stage / 'tests'}"}
    subprocess.run([*mutmut, "run", "--max-children", str(children)], cwd=stage, env=environment, check=True)
    results = subprocess.run(
        [*mutmut, "results", "--all", "true"],
        cwd=stage,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    states = dict(line.strip().rsplit(": ", 1) for line in results if ": " in line)
    found = []
    for name, state in states.items():
        if state in ("survived", "no tests"):
            shown = subprocess.run(
                [*mutmut, "show", name],
                cwd=stage,
                env=environment,
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            found.append(Survivor.of_mutmut(shown))
            if not is_defect(found[-1]):
                found.pop()
                states[name] = "no defect"
    counted = {state: list(states.values()).count(state) for state in sorted(set(states.values()))}
    return found, "planning: " + ", ".join(f"{state} {count}" for state, count in counted.items())


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("what", nargs="+", choices=[*CRATES, "planning"])
    arguments.add_argument(
        "--which",
        choices=["all", "rest", "survivors", "none"],
        default="all",
        help="of a crate's mutants only those that have not been run, or those that survived; "
        "none: say what earlier runs have found",
    )
    arguments.add_argument("--shard", help="k/n: every n-th mutant of a crate, from the k-th on")
    arguments.add_argument(
        "--file", action="append", default=[], help="only this file of a crate, or module of planning"
    )
    arguments.add_argument("--children", type=int, default=1, help="mutants of planning at the same time")
    arguments.add_argument("--test", action="append", default=[], help="only this test file, for planning")
    given = arguments.parse_args()
    found: list[Survivor] = []
    said = []
    for what in given.what:
        if what == "planning":
            tests = given.test or PLANNING_TESTS
            survivors, line = python(planning_modules(given.file), tests, given.children)
        else:
            survivors, line = rust(what, given.which, given.shard, given.file)
        found += survivors
        said.append(line)
    print(*said, sep="\n")
    known = all_listed()
    expected = None if given.shard or given.test else only(known, given.what, given.file)
    text, failed = report(found, known, expected)
    print(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
