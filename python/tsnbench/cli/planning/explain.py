"""``tsnbench explain``: the page of a message."""

from __future__ import annotations

from typing import Annotated

from tsnbench.cli.console.options import argument, json_of
from tsnbench.cli.console.output import Exit, fail, print_json, print_line, print_prose
from tsnbench.messages import kinds


def explain(
    codes: Annotated[
        list[str] | None,
        argument(
            "CODE...",
            "Codes, such as TSN0301; without one, all are listed.",
            autocompletion=lambda: list(kinds()),
        ),
    ] = None,
    as_json: Annotated[bool, json_of("Titles, causes, examples and remedies")] = False,
) -> None:
    """Explain a message by its code: cause, example and remedy."""
    every = kinds()
    # As people write them: tsn0301, 301.
    codes = [f"TSN{one.upper().removeprefix('TSN'):0>4}" for one in codes or ()]
    if unknown := [code for code in codes if code not in every]:
        fail(
            Exit.INPUT_WRONG,
            f"{unknown[0]}: expected a code such as TSN0301\nhint: tsnbench explain lists all",
        )
    if as_json:
        told = {
            code: {
                "title": one.title,
                "cause": one.cause,
                "example": one.shown,
                "remedy": one.remedy,
            }
            for code, one in every.items()
            if not codes or code in codes
        }
        print_json("messages", {"messages": told})
        return
    if not codes:
        for code, one in every.items():
            print_line(f"{code}  {one.title}")
    for number, code in enumerate(codes):
        one = every[code]
        if number:
            print_line("")
        print_prose(f"{code}: {one.title}\n\n{one.cause}\n\nExample:\n")
        for line in one.shown.splitlines():
            print_line(f"    {line}")
        print_prose(f"\nRemedy: {one.remedy}")
