"""``tsnbench --help``: the commands in groups, each with one line."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

from tsnbench.cli.console.summaries import GROUPS


class Overview(TyperGroup):
    """The program, whose help lists its commands in groups and cuts no line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the commands of each group with their summaries."""
        for title, summaries in GROUPS.items():
            rows = [(name, summary) for name, summary in summaries.items() if name in self.commands]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class Group(TyperGroup):
    """A command with subcommands, whose help cuts no summary."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the subcommands with the whole first sentence of their help."""
        rows = [(name, self.commands[name].get_short_help_str(1000)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
