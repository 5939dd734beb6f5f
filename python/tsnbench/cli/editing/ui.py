"""``tsnbench ui``: scenarios and runs of a folder in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tsnbench.cli.console.options import argument, setting
from tsnbench.cli.console.output import Exit, fail, print_line, print_message
from tsnbench.cli.parts import ui_server


def ui(
    folder: Annotated[Path, argument("FOLDER", "Folder with scenarios and runs.")] = Path(),
    port: Annotated[
        int, setting("NUMBER", "Port of 127.0.0.1; a free one by default.", min=0, max=65535)
    ] = 0,
) -> None:
    """Open a folder of scenarios and runs in the browser.

    The page edits scenarios, shows their problems as you type, and lists runs and reports. It answers this
    machine only, at the printed address. From another machine, use ssh -L.
    """
    try:
        serve = ui_server.serve
    except ImportError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        fail(Exit.INPUT_WRONG, f"ui: needs {error.name}\nhint: python -m pip install 'tsnbench[ui]'")
    if not folder.is_dir():
        fail(Exit.INPUT_WRONG, f"{folder}: expected a folder")

    def opened(address: str) -> None:
        print_message("open this address in a browser; Ctrl-C ends the server")
        print_line(address)

    try:
        serve(folder, port, opened)
    except OSError as error:
        fail(Exit.INPUT_WRONG, f"--port {port}: {error.strerror or error}")
