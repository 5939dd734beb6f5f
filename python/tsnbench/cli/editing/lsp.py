"""``tsnbench lsp``: the language server for editors."""

from __future__ import annotations

from tsnbench.cli.console.output import Exit, fail
from tsnbench.cli.parts import language_server


def lsp() -> None:
    """Run a language server for editors on standard input and output.

    Editors show problems, completion and meanings with it.
    """
    try:
        serve = language_server.serve
    except ImportError as error:
        if error.name not in ("lsprotocol", "pygls"):
            raise
        fail(Exit.INPUT_WRONG, f"lsp: needs {error.name}\nhint: python -m pip install 'tsnbench[lsp]'")
    serve()
