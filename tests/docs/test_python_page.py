"""Every public name is on the page of the Python API, with an example that gives what it says."""

from __future__ import annotations

import doctest
import inspect
import re
import shutil
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

import tsnbench
from tsnbench import Simulation, load
from tsnbench.scenario import read_scenario

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/python.md").read_text(encoding="utf-8")
NAMES = re.findall(r"^\.\. auto(?:function|class|exception):: (\S+)$", PAGE, re.MULTILINE)
MEMBERS = dict(
    re.findall(r"^\.\. auto\w+:: (\S+)\n   :members: (.+)$", PAGE, re.MULTILINE),
)
"""Documented members by class."""
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
CLOCKS = "\nclocks: {robot: {drift: 10 ppm}}\n"
TRAIN = """
name: train
duration: 200 ms
network: {stations: [a, b], links: {rate: 100 Mbit/s, between: [a -- b]}}
streams:
  doors: {from: a, to: b, period: 20 ms, trdp: {com-id: 2000, data-set: 64 B}}
"""


def test_all_public_names_are_on_the_page() -> None:
    public = {name for name in tsnbench.__all__ if not name.startswith("_")}
    assert len(NAMES) > 20
    assert public <= {name.rpartition(".")[2] for name in NAMES}


def object_of(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def errors() -> list[str]:
    """The names of the module that the page has as a whole."""
    module = import_module("tsnbench.errors")
    return [f"tsnbench.errors.{name}" for name, one in vars(module).items() if inspect.isclass(one)]


def examples(name: str) -> list[doctest.DocTest]:
    """The examples of a name, and of its own documented members."""
    found = object_of(name)
    members = [part.strip() for part in MEMBERS.get(name, "").split(",") if part.strip()]
    texts = {name: inspect.getdoc(found)} | {
        f"{name}.{member}": inspect.getdoc(own)
        for member in members
        # The docstring of a value is that of its type.
        if isinstance(own := vars(found).get(member), FunctionType | property | classmethod | cached_property)
    }
    parser = doctest.DocTestParser()
    made = [parser.get_doctest(text or "", {}, where, None, 0) for where, text in texts.items()]
    return [one for one in made if one.examples]


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that examples name: as the page says."""
    folder: Path = tmp_path_factory.mktemp("examples")
    (text,) = re.findall(r"^```yaml\n(name: first\n.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (folder / "first.yaml").write_text(text, encoding="utf-8")
    study = (
        "study: windows\nscenario: first.yaml\nvary: {streams.loop.period: [250 us, 500 us]}\nrepeat: 10\n"
    )
    (folder / "study.yaml").write_text(study, encoding="utf-8")
    scenario = load(folder / "first.yaml")
    (second,) = scenario.vary({"streams.video.payload": "1000 B"})
    made = {
        "first": scenario,
        "second": second,
        "clocks": read_scenario(text + CLOCKS)[0],
        "train": read_scenario(TRAIN)[0],
    }
    for name, one in made.items():
        run = Simulation().execute(one.plan(), folder / "runs" / name, pcap=name in ("first", "train"))
        run.verdict()
    (capture,) = (folder / "runs/train/captures").glob("*rx*")
    shutil.copy(capture, folder / "train.pcapng")
    return folder


@pytest.fixture
def here(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of these files as the current folder."""
    monkeypatch.chdir(files)


@pytest.mark.parametrize("name", ["tsnbench", *NAMES, *errors()])
def test_the_examples_of_a_name_give_what_they_say(name: str, here: None) -> None:
    found = examples(name) if name != "tsnbench" else _of_package()
    assert found, "no example"
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    said: list[str] = []
    for one in found:
        runner.run(one, out=said.append)
    assert not runner.failures, "".join(said)


def _of_package() -> list[doctest.DocTest]:
    text = tsnbench.__doc__ or ""
    return [doctest.DocTestParser().get_doctest(text, {}, "tsnbench", None, 0)]


@pytest.mark.parametrize("name", sorted(MEMBERS))
def test_every_member_on_the_page_is_in_an_example_of_its_class(name: str) -> None:
    source = "".join(one.source for test in examples(name) for one in test.examples)
    lacking = [
        member
        for part in MEMBERS[name].split(",")
        if not re.search(rf"\.{(member := part.strip())}\b", source)
    ]
    assert lacking == []
