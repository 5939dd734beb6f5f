"""``tsnbench import``: other tools' files as scenarios."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from tsnbench import foreign
from tsnbench.cli.console.new_file import write_new
from tsnbench.cli.console.options import option, setting
from tsnbench.cli.console.output import print_message, user_errors
from tsnbench.cli.console.overview import Group
from tsnbench.cli.parts import scenarios
from tsnbench.errors import ContentError, InputError
from tsnbench.exports import inet_import, trdp_import, tsnkit_import
from tsnbench.exports.engine import experiment as experiment_of_engine
from tsnbench.exports.engine import files
from tsnbench.exports.lists import arxml as autosar
from tsnbench.exports.lists import drawings, streams
from tsnbench.exports.lists import matrix as matrices
from tsnbench.exports.saihu import importing as network_of_saihu
from tsnbench.foreign_files import recognise
from tsnbench.foreign_files.formats import unsuitable
from tsnbench.runs.errors import writing

LARGEST_NETWORK = 1 << 22
"""Octets of a scenario whose network is taken."""

app = typer.Typer(
    cls=Group, help="Print a scenario from files of other tools.", no_args_is_help=True, rich_markup_mode=None
)


@app.callback()
def root() -> None:
    """Print a scenario from files of other tools."""


@app.command("tsnkit")
def tsnkit(
    task: Annotated[
        Path, typer.Argument(help="Streams: stream,src,dst,size,period,deadline,jitter.", show_default=False)
    ],
    topo: Annotated[Path, typer.Argument(help="Links: link,q_num,rate,t_proc,t_prop.", show_default=False)],
    table: Annotated[
        Path | None,
        option("FILE.csv", "Write the streams into this table; keep the scenario in the same folder."),
    ] = None,
) -> None:
    """Print a scenario from tsnkit's task and topology files."""
    with user_errors():
        texts = []
        for path in (task, topo):
            found = recognise(path)
            if found is not None and found.name not in ("tsnkit", "csv", "text"):
                raise unsuitable(str(path), found, "a CSV file of tsnkit")
            texts.append(foreign.read_text(path, tsnkit_import.LARGEST_FILE))
        if table is not None and table.suffix.lower() != ".csv":
            raise InputError(f"--table: expected a file that ends in .csv, found {table}")
        made = tsnkit_import.scenario(texts[0], texts[1], task.name, topo.name, table.name if table else "")
        if table is not None and not _is_same(table, made.table.encode()):
            write_new(table, made.table, "hint: name another file with --table, or remove this one first")
        sys.stdout.write(made.scenario)


def _is_same(file: Path, content: bytes) -> bool:
    """Whether a file has this content, so that it need not be written."""
    return file.is_file() and file.stat().st_size == len(content) and file.read_bytes() == content


@app.command("trdp")
def trdp(
    devices: Annotated[
        list[Path], typer.Argument(help="XML configurations of the devices.", show_default=False)
    ],
) -> None:
    """Print a scenario from TRDP's XML device configurations."""
    with user_errors():
        texts = [(path.name, foreign.read_text(path, trdp_import.LARGEST_FILE)) for path in devices]
        sys.stdout.write(trdp_import.scenario(texts))


@app.command("engine")
def engine(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder with 01-network.yml, 02-stacks.yml, 04-experiments.yml.", show_default=False
        ),
    ],
    experiment: Annotated[
        str | None, option("NAME", "Name of the experiment; needed if there are several.")
    ] = None,
) -> None:
    """Print a scenario from the experiment files of EnGINE's framework."""
    with user_errors():
        texts = {name: foreign.read_text(folder / name, files.LARGEST_FILE) for name in files.FILES}
        sys.stdout.write(experiment_of_engine.scenario(texts, experiment))


@app.command("inet")
def inet(
    file: Annotated[
        Path, typer.Argument(help="The omnetpp.ini; NED files are beside it.", show_default=False)
    ],
    config: Annotated[
        str | None,
        option("NAME", "Name of the configuration; needed if there are several.", "--config", "-c"),
    ] = None,
    run: Annotated[int, setting("N", "Number of the run, for iteration variables.", "--run", "-r")] = 0,
    into: Annotated[
        Path | None, option("DIR", "Write the scenario and its recordings into this folder.")
    ] = None,
    library: Annotated[
        Path | None,
        option("DIR", "Folder of INET, for networks of its library; by default INET_ROOT.", "--inet"),
    ] = None,
    ned: Annotated[
        list[Path] | None, option("DIR", "A further folder with NED files; may be repeated.")
    ] = None,
) -> None:
    """Print a scenario from a model of OMNeT++ and INET."""
    with user_errors():
        root = library or (Path(os.environ["INET_ROOT"]) if os.environ.get("INET_ROOT") else None)
        made = inet_import.scenario(file, config, run, root, ned or [])
        if into is None and made.files:
            raise InputError(
                "--into: expected a folder for the recordings of intervals that vary, found none for "
                f"{', '.join(list(made.files)[:4])}"
                "\n  hint: add --into DIR"
            )
        _deliver(made.text, made.files, into)


@app.command("saihu")
def saihu(
    file: Annotated[
        Path,
        typer.Argument(help="Output-port network (.json) or physical network (.xml).", show_default=False),
    ],
) -> None:
    """Print a scenario from a network of Saihu, with its servers and token buckets."""
    with user_errors():
        text = foreign.read_text(file, network_of_saihu.LARGEST_FILE)
        sys.stdout.write(network_of_saihu.scenario(file.name, text))


@app.command("matrix")
def matrix(
    file: Annotated[Path, typer.Argument(help="The matrix: CSV or Excel's .xlsx.", show_default=False)],
    columns: Annotated[
        Path | None,
        option("FILE.yaml", "What its columns mean; by default FILE.columns.yaml, which is written first."),
    ] = None,
    network: Annotated[
        Path | None,
        option("SCENARIO", "A scenario with the network; by default all nodes are at one bridge."),
    ] = None,
    into: Annotated[Path | None, option("DIR", "Write scenario.yaml into this folder.")] = None,
) -> None:
    """Print a scenario from a communication matrix in CSV or Excel."""
    with user_errors():
        book = matrices.book_of(file)
        kept = columns or file.with_name(f"{file.name}.columns.yaml")
        if not kept.exists():
            said, text = matrices.proposed(book)
            write_new(kept, text, "hint: name another file with --columns")
            print_message(f"{kept}: written: what the columns of {file.name} mean")
        said = matrices.columns_of(kept)
        if questions := list(said.questions()):
            told = "\n".join(f"hint: {one}" for one in questions)
            raise ContentError(
                f"{kept}: expected an answer in place of each ?, found {len(questions)}\n{told}"
            )
        given = None if network is None else _network(network)
        _deliver(matrices.scenario(book, said, given), {}, into)


@app.command("arxml")
def arxml(
    parts: Annotated[
        list[Path], typer.Argument(help="The files of a system description.", show_default=False)
    ],
    network: Annotated[
        Path | None, option("SCENARIO", "A scenario with the network; by default all ECUs are at one bridge.")
    ] = None,
) -> None:
    """Print a scenario from the Ethernet PDUs of AUTOSAR files."""
    with user_errors():
        sys.stdout.write(autosar.scenario(parts, None if network is None else _network(network)))


@app.command("drawio")
def drawio(
    file: Annotated[Path, typer.Argument(help="A drawing of draw.io.", show_default=False)],
    page: Annotated[str | None, option("NAME", "Name of the page; needed if there are several.")] = None,
) -> None:
    """Print a scenario from a network that is drawn in draw.io."""
    with user_errors():
        sys.stdout.write(drawings.scenario(drawings.drawio.read(file, page)))


@app.command("graphml")
def graphml(
    file: Annotated[Path, typer.Argument(help="A network of yEd, NetworkX or others.", show_default=False)],
) -> None:
    """Print a scenario from a network in GraphML."""
    with user_errors():
        sys.stdout.write(drawings.scenario(drawings.graphml.read(file)))


@app.command("containerlab")
def containerlab(
    file: Annotated[Path, typer.Argument(help="The topology: *.clab.yml.", show_default=False)],
    into: Annotated[
        Path | None, option("DIR", "Write scenario.yaml and the inventory lab.yaml into this folder.")
    ] = None,
) -> None:
    """Print a scenario from a topology of containerlab."""
    with user_errors():
        made = drawings.containerlab.read(file)
        _deliver(drawings.scenario(made.drawing), {"lab.yaml": made.lab} if made.lab else {}, into)


def _network(file: Path) -> streams.Network:
    """The network of a scenario, line by line as it is written there."""
    nodes = scenarios.load(file).network.nodes
    text = foreign.read_text(file, LARGEST_NETWORK)
    block = re.search(
        r"^network:[ \t]*(?:#.*)?\n((?:[ \t]+.*\n|[ \t]*(?:#.*)?\n)+)", f"{text}\n", re.MULTILINE
    )
    if block is None:
        raise ContentError(f"{file}: expected `network:` and its keys on the lines below, found another form")
    talking = [name for name, one in nodes.items() if one.kind != "bridge"]
    return streams.Network(str(file), textwrap.dedent(block[1]).rstrip().splitlines(), talking)


def _deliver(text: str, files: dict[str, str], into: Path | None) -> None:
    """Prints a scenario, or writes it into a folder with the files beside it."""
    if into is None:
        sys.stdout.write(text)
        return
    with writing(into):
        into.mkdir(parents=True, exist_ok=True)
    # The scenario comes last: where it is, its recordings are. A file that is in the way comes first.
    whole = {into / name: one for name, one in {**files, "scenario.yaml": text}.items()}
    new = [file for file, one in whole.items() if not _is_same(file, one.encode())]
    for file in sorted(new, key=lambda file: not file.exists()):
        write_new(file, whole[file], "hint: name another folder with --into, or remove this file")
    print(into / "scenario.yaml")
