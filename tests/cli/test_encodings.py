"""Commands where standard output is not UTF-8, and where names of files and folders are not."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from support.commands import SCENARIO, started, tsnbench, uncoded

LOCALES = {
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
COMMANDS = (
    "catalogue",
    "plan small.yaml --bounds",
    "run small.yaml --no-report --all --force",
    "init zonal -",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scenario with a title that is not ASCII, and a wrong one."""
    here = tmp_path_factory.mktemp("encodings")
    (here / "small.yaml").write_text("title: Küche → Keller\n" + SCENARIO, encoding="utf-8")
    (here / "wrong.yaml").write_text(SCENARIO.replace("name: small", "name: küche"), encoding="utf-8")
    return here


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("words", COMMANDS)
def test_any_encoding_of_the_output_takes_the_results(words: str, locale: str, folder: Path) -> None:
    env = os.environ | LOCALES[locale]
    done = started(*words.split(), cwd=folder, env=env, text=False)
    assert b"defect" not in done.stderr
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout
    if locale != "latin-1":
        assert done.stdout.isascii()


@pytest.mark.parametrize("locale", LOCALES)
def test_json_keeps_its_values_in_any_encoding(locale: str, folder: Path) -> None:
    env = os.environ | LOCALES[locale]
    done = started("check", "wrong.yaml", "--json", cwd=folder, env=env, text=False)
    assert json.loads(done.stdout.decode("latin-1"))["problems"][0]["found"] == "küche"


def test_lines_and_units_stay_readable_in_ascii(folder: Path) -> None:
    env = os.environ | LOCALES["ascii"]
    done = started("run", "small.yaml", "--no-report", "--force", cwd=folder, env=env)
    assert "-" * 40 in done.stdout
    assert "\\u" not in done.stdout
    assert " us" in done.stdout


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    """A scenario with such a name runs; a run folder with one is refused before the run."""
    odd = os.fsdecode(b"z\xfe")
    (tmp_path / odd).mkdir()
    here = tmp_path / odd
    (here / f"{odd}.yaml").write_text(SCENARIO)
    for words in (
        "check {}",
        "plan {} --bounds",
        "run {} --into run --figures svg",
        "plan {} --as html --into page",
    ):
        done = tsnbench(*words.format(f"{odd}.yaml").split(), cwd=here)
        assert done.returncode in (0, 1), (words, done.stderr)
    manifest = json.loads((here / "run/manifest.json").read_text(encoding="utf-8"))
    assert manifest["command"][2] == "z\\xfe.yaml"
    (here / "run").rename(here / odd)
    hint = "hint: rename it, or set a locale with UTF-8: LC_ALL=C.UTF-8"
    said = f"z\\xfe: expected a folder with a name in UTF-8\n{hint}\n"
    for words in ("measure {}", "report {}", "replay {}", "compare {} {}", f"run {odd}.yaml --into {{}}"):
        done = tsnbench(*words.format(odd, odd).split(), cwd=here)
        assert (done.returncode, uncoded(done.stderr)) == (2, said), words
    shutil.copy(here / odd / "frames.parquet", here / f"{odd}.parquet")
    scenario = SCENARIO.replace("streams:", f"streams:\n  more: {{table: {odd}.parquet}}")
    (here / "table.yaml").write_text(scenario, encoding="utf-8", errors="surrogateescape")
    assert tsnbench("check", "table.yaml", cwd=here).returncode == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.update(simulated_ns=-1),
        lambda found: found.update(ports=[{}]),
        lambda found: found["ports"][0].update(classes=[{}]),
        lambda found: found["ports"][0]["classes"][0].update({"class": None}),
        lambda found: found["ports"][0]["classes"][0].update({"sent_frames": "x"}),
        lambda found: found["ports"][0].update(gates=[1]),
        lambda found: found["streams"][0].pop("name"),
    ],
)
def test_altered_counters_are_an_error_of_the_input(change, tmp_path: Path, folder: Path) -> None:
    tsnbench("run", folder / "small.yaml", "--no-report", "--into", "run", cwd=tmp_path)
    file = tmp_path / "run/counters.json"
    found = json.loads(file.read_text())
    change(found)
    file.write_text(json.dumps(found))
    done = tsnbench("report", "run", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("run/counters.json: expected ")
