"""Tables for pandas, without pyarrow, which polars needs for its own ``to_pandas``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsnbench.errors import InputError
from tsnbench.libraries import load, pandas
from tsnbench.libraries import polars as pl

if TYPE_CHECKING:
    from pandas import DataFrame

MISSING = "expected pandas, found none\nhint: pip install 'tsnbench[pandas]'"


def to_pandas(table: pl.DataFrame) -> DataFrame:
    """A table of tsnbench, such as ``run.frames()``, for pandas.

    Integers stay integers: a column has a nullable type (``Int64``), and a missing value is ``NA``. The
    ``to_pandas`` of polars needs pyarrow, and makes floats of columns with missing values, which loses the
    nanoseconds of Unix times. Names are categories, texts have the type ``string``.

    Args:
        table: a polars data frame.

    Raises:
        InputError: pandas is not installed; the message names the extra that brings it.

    Example:
        >>> from tsnbench import Run, to_pandas
        >>> str(to_pandas(Run.open("runs/first").frames())["delay_ns"].dtype)
        'Int64'
    """
    try:
        load(pandas)
    except ImportError as error:
        raise InputError(MISSING) from error
    return pandas.DataFrame({name: _column(table[name]) for name in table.columns})


def _column(column: pl.Series) -> Any:
    """One column as pandas has it."""
    kind = column.dtype
    if isinstance(kind, pl.Categorical | pl.Enum):
        names = column.drop_nulls().unique(maintain_order=True).cast(pl.String).to_list()
        places = column.cast(pl.String).cast(pl.Enum(names)).to_physical().cast(pl.Int64).fill_null(-1)
        return pandas.Categorical.from_codes(places.to_numpy(), names)
    mask = column.is_null().to_numpy()
    if kind.is_integer():
        return pandas.arrays.IntegerArray(column.fill_null(0).to_numpy(writable=True), mask.copy())
    if kind.is_float():
        return pandas.arrays.FloatingArray(column.fill_null(0).to_numpy(writable=True), mask.copy())
    if kind == pl.Boolean:
        return pandas.arrays.BooleanArray(column.fill_null(False).to_numpy().copy(), mask.copy())
    if kind == pl.String:
        return pandas.array(column.to_list(), dtype="string")
    return pandas.Series(column.to_list(), dtype=object)
