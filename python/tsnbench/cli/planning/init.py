"""``tsnbench init``: a commented starter scenario."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from tsnbench.cli.console.new_file import write_new
from tsnbench.cli.console.options import argument
from tsnbench.cli.console.output import Exit, fail, print_line, print_message, user_errors
from tsnbench.scenario.text.reading import meant
from tsnbench.templates import names, text


def init(
    template: Annotated[str, argument("TEMPLATE", "small, zonal, ring, line, star, train or audio.")],
    file: Annotated[
        Path | None, argument("FILE", "Output file; default TEMPLATE.yaml; - for stdout.")
    ] = None,
) -> None:
    """Write a commented starter scenario.

    It is a small network, a zonal car, a ring, a line of drives, a star, a train or a concert hall. An
    existing file is never overwritten.
    """
    if template not in names():
        fail(
            Exit.INPUT_WRONG,
            f"expected one of {', '.join(names())}, found {template}\n  hint: {meant(template, names())}",
        )
    if file == Path("-"):
        sys.stdout.write(text(template))
        return
    path = file or Path(f"{template}.yaml")
    with user_errors():
        write_new(
            path, text(template), f"  hint: name another one: tsnbench init {template} my-{template}.yaml"
        )
    print_line(str(path))
    print_message(
        f"next: edit it, then tsnbench check {path}, tsnbench plan {path} --bounds, tsnbench run {path}"
    )
