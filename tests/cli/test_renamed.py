"""Old names of options do what the new names do, and say the new name on stderr."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.main import get_command

from support.commands import SCENARIO, tsnbench
from tsnbench.cli.console.renamed import RENAMED, current
from tsnbench.cli.main import app
from tsnbench.errors import InputError

EACH = [(name, old, new) for name, every in RENAMED.items() for old, new in every.items()]


@pytest.mark.parametrize(("command", "old", "new"), EACH, ids=lambda word: word.replace(" ", "_"))
def test_an_old_name_is_the_new_one_with_a_note(command: str, old: str, new: str) -> None:
    words = [*command.split(), "file", old, "value"]
    now, notes = current(words)
    assert now == [*command.split(), "file", *new.split(), "value"]
    (note,) = notes
    assert note.startswith(f"note: tsnbench {command}: {old} is now {new};")
    assert current([*command.split(), f"{old}=value"])[0] == [*command.split(), *f"{new}=value".split()]


@pytest.mark.parametrize(("command", "old", "new"), EACH, ids=lambda word: word.replace(" ", "_"))
def test_every_new_name_exists_and_no_old_one(command: str, old: str, new: str) -> None:
    found = get_command(app)
    for word in command.split():
        found = found.commands[word]  # type: ignore[attr-defined]
    options = {name for one in found.params for name in one.opts}
    assert {word for word in new.split() if word.startswith("--")} <= options
    assert old not in options


def test_other_words_stay() -> None:
    for words in (
        [],
        ["--help"],
        ["plan", "a.yaml", "--", "--export"],
        ["deploy", "--to", "x"],
        ["study", "report", "x", "--on", "y"],
        ["compare", "to", "within"],
    ):
        assert current(words) == (words, [])


def test_two_old_names_of_one_option_are_refused() -> None:
    """Otherwise one of the two folders would be lost."""
    with pytest.raises(InputError, match="--export and --report are now both --into\nhint: write two"):
        current(["plan", "a.yaml", "--export", "a", "--report", "b"])


def test_a_command_with_an_old_name_works(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SCENARIO)
    done = tsnbench("plan", "small.yaml", "--export", "out", "--to=csv", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.splitlines()[:2] == [
        "note: tsnbench plan: --export is now --into; the next version knows only the new name",
        "note: tsnbench plan: --to is now --as; the next version knows only the new name",
    ]
    new = tsnbench("plan", "small.yaml", "--into", "out", "--as", "csv", cwd=tmp_path)
    assert done.stdout == new.stdout != ""
    page = tsnbench("plan", "small.yaml", "--report", "page", cwd=tmp_path)
    assert page.stdout == "page/report.html\n"
