"""A stimulus without a valid run, and an error that ends the command: what is told, and what is kept.

The backend is the simulator, whose runs end as those of a kernel or of hosts do. tests/hosts has the same
with a talker that is killed and a host that is gone.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from support.commands import Done, tsnbench
from support.devices import lab
from tsnbench import Simulation
from tsnbench.backends.protocol import Progress
from tsnbench.cli.running.place import Place
from tsnbench.errors import BackendError, UnmeasuredError
from tsnbench.plan.document import Plan
from tsnbench.runs.folder import under_way


class Flawed(Simulation):
    """Runs of these folders end with an error."""

    def __init__(self, problems: dict[str, BackendError]) -> None:
        super().__init__()
        self.problems = problems

    def run(self, plan: Plan, folder: Path, *, pcap: bool = False, progress: Progress | None = None) -> None:
        with under_way(folder):
            if problem := self.problems.get(folder.name):
                raise problem
        super().run(plan, folder, pcap=pcap, progress=progress)


LATE = UnmeasuredError("h1", "the talker of x was up to 3 ms late", "1 attempt was rejected\nhint: again")
GONE = BackendError("h2: there is no answer in 30 s")


def conformed(
    folder: Path, problems: dict[str, BackendError], monkeypatch: pytest.MonkeyPatch
) -> tuple[Done, dict[str, list[str]]]:
    monkeypatch.setattr(Place, "backend", lambda _: Flawed(problems))
    done = tsnbench(
        "conform", "lab.yaml", "--dut", "switch", "--suite", "gates,forwarding,vlan.member", "--port",
        "switch -> robot", "--into", "out", cwd=folder,
    )  # fmt: skip
    told = json.loads((folder / "out/conform.json").read_text())
    return done, {one["id"]: [one["verdict"], one["reason"], one["sentence"]] for one in told["tests"]}


def test_a_rejected_stimulus_and_an_error_leave_the_results_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lab.yaml").write_text(lab(), encoding="utf-8")
    done, found = conformed(tmp_path, {"forwarding-2": LATE}, monkeypatch)
    words = f"no valid run: h1, {LATE.at}: the talker of x was up to 3 ms late"
    assert found["forwarding.line"] == ["not-decidable", "rejected", words]
    assert found["gates.edge"][0] == found["vlan.member"][0] == "pass"
    assert (done.returncode, words in " ".join(done.stdout.split())) == (0, True)
    assert "the talker of x" in (tmp_path / "out/report.html").read_text()
    before = {one: one.read_bytes() for one in tmp_path.glob("out/[gv]*/manifest.json")}
    # An error that other stimuli would meet, too, ends the command.
    done, found = conformed(tmp_path, {"forwarding-2": GONE}, monkeypatch)
    assert (done.returncode, "h2: there is no answer in 30 s\nhint: the same" in done.stderr) == (3, True)
    assert found["gates.edge"][:2] == ["pass", None]
    assert found["forwarding.line"][1] == found["vlan.member"][1] == "ended"
    assert "ended" in json.loads((tmp_path / "out/conform.json").read_text())
    # The next command runs what is missing, and nothing else.
    done, found = conformed(tmp_path, {}, monkeypatch)
    assert done.returncode == 0
    assert {one: one.read_bytes() for one in before} == before
    assert found["forwarding.residence"][1] == "no-limit"


def test_an_error_of_another_process_has_its_place_and_time() -> None:
    found = pickle.loads(pickle.dumps(LATE))
    assert (str(found), vars(found)) == (str(LATE), vars(LATE))


def test_an_error_before_the_first_result_is_all_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lab.yaml").write_text(lab(), encoding="utf-8")
    with pytest.raises(FileNotFoundError):
        conformed(tmp_path, {"gates-2": GONE}, monkeypatch)
