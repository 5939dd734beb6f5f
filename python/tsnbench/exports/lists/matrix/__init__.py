"""A communication matrix, as a CSV file or a sheet of Excel, as a scenario.

What the columns mean is proposed once, and kept in a file beside the matrix (:mod:`.columns`).
"""

from __future__ import annotations

from pathlib import Path

from tsnbench import foreign
from tsnbench.exports.lists import streams
from tsnbench.exports.lists.matrix import columns, sheets
from tsnbench.exports.lists.matrix.columns import Columns
from tsnbench.exports.lists.matrix.messages import messages
from tsnbench.exports.lists.matrix.sheets import Book
from tsnbench.exports.scenario_text import one_line

__all__ = ["book_of", "columns_of", "proposed", "scenario"]

book_of = sheets.read


def columns_of(path: Path) -> Columns:
    """The meaning of columns from their file.

    Raises:
        InputError: it is wrong.
        OSError: it cannot be read.
    """
    return columns.read(str(path), foreign.read_text(path, columns.LARGEST_FILE))


def proposed(book: Book) -> tuple[Columns, str]:
    """The proposed meaning of columns, and the text of the file that keeps it.

    Raises:
        ContentError: no row looks like a header.
    """
    said = columns.propose(book)
    return said, columns.written(said, book.file)


def scenario(book: Book, said: Columns, network: streams.Network | None = None) -> str:
    """A scenario's YAML.

    Args:
        book: the matrix.
        said: the meaning of its columns.
        network: the network; without one, all nodes are at one bridge.

    Raises:
        ContentError: with the place, what was expected and what was found.
    """
    source = f"From the communication matrix {one_line(book.file)}."
    taken = [one for one in book.sheets if not said.sheets or one.name in said.sheets]
    decided = [one for one in (book.decided, *(told for sheet in taken for told in sheet.told)) if one]
    return streams.scenario(book.file, source, decided, messages(book, said), network)
