"""``python -m tsnbench``: the command line, where the program ``tsnbench`` is not on the path."""

from tsnbench.cli.main import main

if __name__ == "__main__":
    main()
