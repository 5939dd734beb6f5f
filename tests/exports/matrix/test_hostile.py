"""Hostile matrices: every mistake ends in one message, no file takes long, and names stay names."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from pathlib import Path
from random import Random

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.exports.matrix.test_matrix import imported

from support.examples import examples
from tsnbench.errors import InputError
from tsnbench.exports.lists import matrix

HEADER = ["Message", "Sender", "Receiver", "Cycle [ms]", "Size [byte]"]
SHEET = "xl/worksheets/sheet1.xml"


def workbook() -> bytes:
    book = openpyxl.Workbook()
    for row in (HEADER, ["m", "a", "b", 5, 100]):
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


WORKBOOK = workbook()


def changed(path: Path, part: str, old: bytes, new: bytes) -> Path:
    """The workbook with other bytes in one of its parts."""
    with (
        zipfile.ZipFile(io.BytesIO(WORKBOOK)) as before,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for one in before.namelist():
            content = before.read(one)
            assert one != part or old in content
            after.writestr(one, content.replace(old, new) if one == part else content)
    return path


BOMBS = {
    "octets": (
        b"<sheetData>",
        b" " * (1 << 26) + b"<sheetData>",
        "expected at most 1000 parts and 64 MiB unpacked",
    ),
    "laughs": (
        b"<worksheet",
        b'<!DOCTYPE a [<!ENTITY b "c">]><worksheet',
        "found a document type definition",
    ),
    "rows": (b'<row r="2"', b'<row r="999999999"', "expected rows up to 1048576, found row 999999999"),
    "merged": (b'ref="A2:A3"', b'ref="A1:XFD1048576"/><mergeCell ref="A1:XFD1048576"', ""),
    "cells": (b'r="A2"', b'r="XFD2"', ""),
    "nesting": (
        b"<sheetData>",
        b"<a>" * 100_000 + b"<sheetData>",
        "expected a file of Excel, found a damaged one",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_with_a_message(name: str, tmp_path: Path) -> None:
    old, new, message = BOMBS[name]
    path = changed(tmp_path / "m.xlsx", SHEET, old, new)
    with pytest.raises(InputError) if message else suppress(InputError) as error:
        imported(path)
    assert message in str(getattr(error, "value", ""))


def test_many_parts_and_merged_areas_are_refused(tmp_path: Path) -> None:
    path = changed(
        tmp_path / "m.xlsx", SHEET, b"<mergeCells", b'<mergeCell ref="A1:CV9"/>' * 20_000 + b"<mergeCells"
    )
    with pytest.raises(InputError, match="expected at most 1000000 merged cells, found more"):
        matrix.book_of(path)
    with zipfile.ZipFile(path, "w") as packed:
        for number in range(1001):
            packed.writestr(f"{number}.xml", "")
    with pytest.raises(InputError, match="expected at most 1000 parts"):
        matrix.book_of(path)


@pytest.mark.parametrize("seed", range(60))
def test_damaged_files_of_excel_end_with_a_message(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    part = random.choice(zipfile.ZipFile(io.BytesIO(WORKBOOK)).namelist())
    with zipfile.ZipFile(io.BytesIO(WORKBOOK)) as packed:
        content = bytearray(packed.read(part))
    for _ in range(random.randrange(1, 9)):
        at = random.randrange(len(content))
        content[at : at + random.randrange(4)] = random.randbytes(random.randrange(3))
    path = changed(tmp_path / "m.xlsx", part, b"", b"") if not content else tmp_path / "m.xlsx"
    with zipfile.ZipFile(io.BytesIO(WORKBOOK)) as before, zipfile.ZipFile(path, "w") as after:
        for one in before.namelist():
            after.writestr(one, bytes(content) if one == part else before.read(one))
    with suppress(InputError):
        imported(path)


def test_a_truncated_file_of_excel_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "m.xlsx"
    path.write_bytes(WORKBOOK[:3000])
    with pytest.raises(InputError, match="expected a file of Excel, found a damaged one"):
        matrix.book_of(path)


ROWS = {
    "one message": ("m,a,n{n},5,100", "to: [n0, n1, "),
    "one name": ("m,a,b,{n},100", "m-10000: "),
    "like names": ("m{q},a,b,{n},100", "m-10000: "),
    "like nodes": ("m{n},a{q},b,5,100", "from: a-10001"),
    "all": ("m{n},n{n},all,5,100", "expected at most 1000000 listeners, found more"),
    "many": ("m{n},a,{s},5,100", "expected at most 1000000 listeners, found more"),
}


@pytest.mark.parametrize("kind", ROWS)
def test_many_rows_take_no_long_search(kind: str, tmp_path: Path) -> None:
    form, result = ROWS[kind]
    path = tmp_path / "m.csv"
    several = "; ".join(f"n{n}" for n in range(100))
    rows = [form.format(n=n, q=chr(0x4E00 + n), s=several) for n in range(10_001)]
    path.write_text("\n".join([",".join(HEADER), *rows]), encoding="utf-8")
    book = matrix.book_of(path)
    said, _ = matrix.proposed(book)
    if "expected" in result:
        with pytest.raises(InputError, match=result):
            matrix.scenario(book, said)
    else:
        assert result in matrix.scenario(book, said)


NAMES = [
    "$(reboot)", "`id`", "a; rm -rf /", "../../etc/passwd", "{a: b}", "- x", "# c", "!!python/object:x",
    "&a *a", "null", "true", "all", "none", "x" * 200, "\u202eabc", "\U0001f697", "'", '"', "a: b", "%s",
    "",
]  # fmt: skip


def test_names_stay_names(tmp_path: Path) -> None:
    rows = "".join(
        f'"{name.replace(chr(34), chr(34) * 2)}","n{name.replace(chr(34), "")}",hub,5,100\n' for name in NAMES
    )
    path = tmp_path / "m.csv"
    path.write_text(f"{','.join(HEADER)}\n{rows}", encoding="utf-8")
    found, text = imported(path)
    # The receiver `all` and empty names are no names.
    assert len(found.streams) == len(NAMES)
    assert all(len(name) <= 64 for name in (*found.streams, *found.network.nodes))
    assert "\u202e" not in text.partition("\nname:")[2]


def test_headers_stay_headers(tmp_path: Path) -> None:
    odd = ['Message ["]', "Sender [: #]", "Receiver\t[a]", "Cycle \u2028[ms]", "Size [{x} byte]"]
    path = tmp_path / "m.csv"
    path.write_text(
        "\n".join([";".join(f'"{one.replace(chr(34), chr(34) * 2)}"' for one in odd), "m;a;b;5;6"])
    )
    book = matrix.book_of(path)
    _, text = matrix.proposed(book)
    kept = tmp_path / "c.yaml"
    kept.write_text(text, encoding="utf-8")
    said = matrix.columns_of(kept)
    assert "m: {from: a, to: b, period: 5 ms, payload: 6 B}" in matrix.scenario(book, said)


WORDS = st.sampled_from(
    [*HEADER, "a", "b", "S", "R", "x;y", "1,5", "1.000", "5 ms", "9 B", "8 bit", "all", "-", "\x00"]
)


@examples(2)
@given(st.lists(st.lists(WORDS | st.text(max_size=4), max_size=7), max_size=9), st.sampled_from(",;\t|"))
def test_any_table_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], mark: str
) -> None:
    path = tmp_path_factory.mktemp("any") / "m.csv"
    path.write_bytes(
        "\n".join([mark.join(HEADER), *(mark.join(row) for row in rows)]).encode("utf-8", "replace")
    )
    with suppress(InputError):
        book = matrix.book_of(path)
        said, text = matrix.proposed(book)
        (kept := path.with_name("c.yaml")).write_text(text, encoding="utf-8")
        assert matrix.columns_of(kept).columns == said.columns
        matrix.scenario(book, said)


def test_columns_with_aliases_end_with_a_message(tmp_path: Path) -> None:
    laughs = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{two}: &{two} [{', '.join([f'*{one}'] * 9)}]\n"
        for one, two in zip("abcdefgh", "bcdefghi", strict=True)
    )
    kept = tmp_path / "c.yaml"
    kept.write_text(f"{laughs}columns: {{from: *i}}\n", encoding="utf-8")
    with pytest.raises(InputError, match="expected the keys"):
        matrix.columns_of(kept)
    kept.write_text("columns: {from: &x [*x]}\n", encoding="utf-8")
    with pytest.raises(InputError):
        matrix.columns_of(kept)
