"""``tsnbench`` and ``python -m tsnbench``: the entry point of the command line."""

import sys

from tsnbench.cli.console.signals import heed_signals, is_interrupt, stopped_by


def main() -> None:
    """Entry point; a signal during the imports of the command line ends it without a traceback."""
    heed_signals()
    try:
        from tsnbench.cli.main import main as command_line
    except BaseException as error:
        if not is_interrupt(error):
            raise
        sys.exit(stopped_by() or 130)
    command_line()


if __name__ == "__main__":
    main()
