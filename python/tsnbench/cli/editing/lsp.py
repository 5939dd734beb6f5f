"""``tsnbench lsp``: the language server for editors."""

from __future__ import annotations

from tsnbench.cli.console.output import Exit, fail


def lsp() -> None:
    """Run a language server on standard input and output, for editors: problems, completion, meanings."""
    try:
        from tsnbench.editing.language_server import server
    except ImportError as error:
        if error.name not in ("lsprotocol", "pygls"):
            raise
        fail(Exit.INPUT_WRONG, f"lsp: needs {error.name}\nhint: python -m pip install 'tsnbench[lsp]'")
    server().start_io()
