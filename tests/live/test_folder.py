"""The folder of live traffic may not be the folder of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsnbench.live.folder import make
from tsnbench.runs import FolderError


@pytest.mark.parametrize("name", ["manifest.json", "sweep.json"])
def test_the_observations_of_a_run_are_not_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(FolderError, match="holds a run, and live traffic would replace its observations"):
        make(tmp_path)


def test_both_sides_may_use_one_folder_but_no_file(tmp_path: Path) -> None:
    make(tmp_path / "deep" / "live")
    make(tmp_path / "deep" / "live")
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError, match="found a file"):
        make(tmp_path / "file")
