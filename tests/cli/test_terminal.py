"""Control characters in names from other sources are printed as escapes on every way to a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.table import Table

from support.commands import started
from tsnbench.cli.console import net, output
from tsnbench.cli.console.visible import visible
from tsnbench.errors import InputError
from tsnbench.sheet import Column, Sheet

STRIKE = "a\x1b[2J\x9b31m\r\x07\u202eb\udcff"
SHOWN = "a\\x1b[2J\\x9b31m\\x0d\\x07\\u202eb\\xff"


def test_line_feeds_and_tabs_stay_and_all_else_is_shown() -> None:
    assert visible(STRIKE + "\n\tä µ→“”") == SHOWN + "\n\tä µ→“”"


def test_messages_tables_and_json_have_no_control_character(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(title=STRIKE)
    table.add_column(STRIKE)
    table.add_row(STRIKE + " [/b][fe80::1] :x:")
    output.print_message(STRIKE)
    output.data().rule(STRIKE)
    output.print_table(table)
    output.print_table(Sheet(STRIKE, [Column(STRIKE, name=True)], [[STRIKE]], [STRIKE]))
    output.print_line(STRIKE)
    output.print_json("test", {STRIKE: STRIKE})
    told = capsys.readouterr()
    assert told.err == f"{SHOWN}\n"
    table_part, _, document = told.out.partition("\n{")
    # The text is not cut to the width of the text before it, and is not read as markup.
    assert f" {SHOWN} [/b][fe80::1] :x: " in table_part
    assert json.loads("{" + document) == {"format": "tsnbench-test/1", STRIKE: STRIKE}
    assert visible(told.out) == told.out


def test_the_name_of_a_file_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    path = str(tmp_path / "\x1b]0;owned\x07.yaml")
    done = started("check", path, text=False)
    assert done.returncode == 2
    assert b"\x1b" not in done.stderr + done.stdout
    assert b"\\x1b]0;owned\\x07.yaml" in done.stderr


def test_errors_that_no_command_handles_are_escaped_too(capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> None:
        raise InputError(STRIKE)

    assert net.ended(fails) == 2
    assert capsys.readouterr().err == f"{SHOWN}\n"
