"""Tables for pandas: integers stay exact, missing values stay missing, and nothing but pandas is needed."""

from __future__ import annotations

import sys

import pandas
import polars as pl
import pytest

from tsnbench import to_pandas
from tsnbench.errors import InputError

UNIX_NS = 1_700_000_000_123_456_789
"""As a float it is ...456_768: 21 ns are lost."""
TABLE = pl.DataFrame(
    {
        "stream": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
        "kind": pl.Series(["y", "x", None, "x"], dtype=pl.Enum(["x", "unused", "y"])),
        "t_ns": [UNIX_NS, None, 3, 4],
        "octets": pl.Series([1, 2, 3, 4], dtype=pl.UInt32),
        "share": [0.5, None, 1.5, 2.0],
        "late": [True, None, False, True],
        "words": ["x", None, "", "y"],
        "lists": [[1], [], None, [2, 3]],
    }
)


def test_every_value_stays_as_it_is() -> None:
    assert float(UNIX_NS) != UNIX_NS
    found = to_pandas(TABLE)
    for name in TABLE.columns:
        values = [None if one is pandas.NA or one != one else one for one in found[name].tolist()]
        assert values == TABLE[name].to_list(), name


def test_types_do_not_depend_on_missing_values() -> None:
    kinds = {name: str(kind) for name, kind in to_pandas(TABLE).dtypes.items()}
    assert kinds == {
        "stream": "category",
        "kind": "category",
        "t_ns": "Int64",
        "octets": "UInt32",
        "share": "Float64",
        "late": "boolean",
        "words": "string",
        "lists": "object",
    }
    assert {name: str(kind) for name, kind in to_pandas(TABLE.tail(1)).dtypes.items()} == kinds
    assert to_pandas(TABLE.clear()).shape == (0, 8)


def test_a_column_can_be_changed_without_a_change_of_the_first_table() -> None:
    found = to_pandas(TABLE)
    found.loc[0, "octets"] = 9
    assert TABLE["octets"].to_list() == [1, 2, 3, 4]


def test_without_pandas_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        InputError, match=r"expected pandas, found none\nhint: pip install 'tsnbench\[pandas\]'"
    ):
        to_pandas(TABLE)
