"""``tsnbench lab down`` removes only what ``lab up`` made, whatever the note in the folder says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.planned import document_of
from tsnbench.errors import InputError
from tsnbench.hosts import lab
from tsnbench.hosts.lab.record import MARK

from .conftest import SCENARIO


def note(folder: Path, **told: object) -> None:
    folder.mkdir(exist_ok=True)
    (folder / MARK).write_text(json.dumps({"namespaces": [], "processes": [], "hosts": ["a"]} | told))


def test_files_of_others_stay(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    note(folder)
    for name in ("a.sshd", "a.log", "key", "mine.sshd", "mine.log", "notes.md"):
        (folder / name).write_text("x")
    assert lab.down(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["mine.log", "mine.sshd", "notes.md"]


def test_a_note_cannot_have_other_files_removed(tmp_path: Path) -> None:
    (tmp_path / "precious.log").write_text("x")
    note(tmp_path / "lab", hosts=["../precious", str(tmp_path / "precious")])
    lab.down(tmp_path / "lab")
    assert (tmp_path / "precious.log").exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"namespaces": 5, "processes": []}'])
def test_a_note_of_something_else_is_no_lab(tmp_path: Path, text: str) -> None:
    (tmp_path / MARK).write_text(text)
    assert not lab.down(tmp_path)
    assert (tmp_path / MARK).exists()


def test_a_folder_with_files_is_no_place_for_a_lab(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("x")
    with pytest.raises(InputError, match="expected a folder that is empty or not there"):
        lab.up(document_of(SCENARIO), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.md"]
