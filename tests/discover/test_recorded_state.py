"""A state of hosts in a file: compared as the hosts themselves are, without a host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import tsnbench
from tsnbench.discover import recorded, running
from tsnbench.discover.recorded import Heard
from tsnbench.hosts.remote.answers import Done

from .recorded import LAB, SAID, said, texts

SCENARIO = str(SAID / "network.yaml")


def heard(host: str) -> Heard:
    own = texts(host)
    return Heard(
        "6.12.1",
        [
            Done(step, 0 if name in own else 127, own.get(name, ""), "", 0, 0)
            for name, step in zip(running.LOOK, running.steps(), strict=True)
        ],
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lab.yaml").write_text(LAB)
    (tmp_path / "then.json").write_text(recorded.text({host: heard(host) for host in "abs"}))
    return tmp_path


def diff(folder: Path, *words: str):
    return tsnbench("diff", SCENARIO, "--hosts", "lab.yaml", *words, cwd=folder)


def test_a_recorded_state_is_read_as_it_was(folder: Path) -> None:
    found = recorded.read(folder / "then.json")
    assert {host: one.state(host) for host, one in found.items()} == {
        host: (said(host), "") for host in "abs"
    }
    done = diff(folder, "--from", "then.json")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no difference on 3 hosts" in done.stderr


def test_a_change_and_a_missing_host_are_told(folder: Path) -> None:
    own = json.loads((folder / "then.json").read_text())
    link = json.loads(own["hosts"]["s"]["answers"]["link"]["out"])
    (port,) = [one for one in link if one.get("ifname") == "eth2"]
    port["mtu"] = 1400
    own["hosts"]["s"]["answers"]["link"]["out"] = json.dumps(link)
    del own["hosts"]["a"]
    (folder / "then.json").write_text(json.dumps(own))
    done = diff(folder, "--from", "then.json")
    assert done.returncode == 1
    assert "s eth2: mtu: planned" in done.stdout
    assert "a: all settings: not known (then.json has no such host)" in done.stdout


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{}", 2),
        ("[]", 2),
        ("no JSON", 2),
        (f'{{"format": "{recorded.FORMAT}"}}', 3),
        (f'{{"format": "{recorded.FORMAT}", "hosts": {{"a": 7, "b": {{"answers": []}}}}}}', 1),
    ],
)
def test_a_file_with_other_content_is_refused_or_not_known(folder: Path, text: str, code: int) -> None:
    (folder / "then.json").write_text(text)
    done = diff(folder, "--from", "then.json")
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_a_state_is_not_recorded_from_a_record(folder: Path) -> None:
    done = diff(folder, "--from", "then.json", "--record", "now.json")
    assert done.returncode == 2
    assert not (folder / "now.json").exists()


def test_a_record_replaces_no_file_and_is_refused_before_hosts_are_asked(folder: Path) -> None:
    done = diff(folder, "--record", "then.json")
    assert done.returncode == 2
    assert "expected a file that is not there yet" in done.stderr
