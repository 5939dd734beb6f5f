"""``tsnbench doctor --host HOST``: a host of a lab of namespaces, with a real sshd."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import tsnbench
from support.planned import document_of
from tsnbench.backends.netns import sandbox
from tsnbench.doctor import examine, remote
from tsnbench.doctor.host import Host
from tsnbench.hosts import lab

UNPACKED = Path(__file__).parents[2] / ".venv/unpacked/usr/sbin/sshd"
"""The server that ``make test`` unpacks and does not install."""
SSHD = UNPACKED if UNPACKED.is_file() else None
PAIR = """
name: pair
duration: 1 ms
network: {stations: [a, b], links: {rate: 1 Gbit/s, between: [a -- b]}}
streams: {x: {from: a, to: b, frame: 100 B, period: 1 ms}}
"""


def _doctor(*words: str) -> tuple[int, str]:
    done = tsnbench("doctor", *words)
    return done.returncode, done.stderr + done.stdout


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """ssh to a host of a lab: as it should be, with a wrong key, to a closed port, to another host's key."""
    if why := lab.missing(SSHD):
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("doctor")
    made = lab.up(document_of(PAIR), folder / "lab", SSHD)
    try:
        subprocess.run(["ssh-keygen", "-q", "-N", "", "-f", folder / "strange"], check=True, timeout=30)
        known = (made.folder / "known").read_text().partition(" ")[0]
        (folder / "unknown").write_text(f"{known} {(made.folder / 'key.pub').read_text()}")
        client = (made.folder / "client").read_text()
        changes = {
            "client": ("", ""),
            "wrong": (f"{made.folder}/key", f"{folder}/strange"),
            "closed": ("Port 22\n", "Port 23\n"),
            "other": (f"{made.folder}/known", f"{folder}/unknown"),
        }
        for name, (was, now) in changes.items():
            (folder / name).write_text(client.replace(was, now) if was else client)
        yield {name: f"{made.ssh.rpartition(' ')[0]} {folder / name}" for name in changes}
    finally:
        assert lab.down(made.folder)


def test_another_host_is_found_as_this_one_is(there: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TSNBENCH_SSH", there["client"])
    code, said = _doctor("--host", "a", "--json")
    assert code == 0, said
    found = {(one["room"], one["name"]): one for one in json.loads(said)["findings"]}
    here = {(one["room"], one["name"]): one for one in json.loads(_doctor("--json")[1])["findings"]}
    # Host and machine share a kernel: all findings are the same but for the namespace's own interfaces.
    keys = {key for key in here if not key[0].startswith("interface")}
    assert {key for key in found if not key[0].startswith("interface")} == keys
    # The number of usable processors may differ, as another process is examined.
    unlike = [key for key in keys if found[key] != here[key] and key[0] not in ("processors", "clocks")]
    assert unlike == []
    assert ("kernel", "qdisc pfifo") in found
    code, said = _doctor("--host", "a")
    assert code == 0
    assert said.startswith("rights\n  ok ")


@pytest.mark.parametrize(
    ("client", "words"),
    [
        ("wrong", "it does not let us in"),
        ("closed", "nothing listens for ssh there"),
        ("other", "its host key is not the one that is known here"),
    ],
)
def test_a_failed_login_or_connection_is_reported(
    there: dict[str, str], monkeypatch: pytest.MonkeyPatch, client: str, words: str
):
    monkeypatch.setenv("TSNBENCH_SSH", there[client])
    code, said = _doctor("--host", "a")
    assert code == 3
    assert words in said
    assert "hint: " in said


def test_an_absent_host_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    program = tmp_path / "ssh"
    for words, meant in (
        ("echo 'ssh: Could not resolve hostname nowhere: Name or service not known' >&2; exit 255", "name"),
        ("echo 'ssh: connect to host h port 22: Connection timed out' >&2; exit 255", "cannot be reached"),
        ("echo 'csh: Unmatched' >&2; exit 1", "POSIX shell"),
        ("exit 255", "ssh failed"),
    ):
        program.write_text(f"#!/bin/sh\n{words}\n")
        program.chmod(0o755)
        monkeypatch.setenv("TSNBENCH_SSH", str(program))
        code, said = _doctor("--host", "nowhere")
        assert code == 3
        assert meant in said
    monkeypatch.setattr(remote, "LIMIT_S", 0.2)
    program.write_text("#!/bin/sh\nexec sleep 5\n")
    assert _doctor("--host", "nowhere")[0] == 3
    monkeypatch.setenv("TSNBENCH_SSH", str(tmp_path / "gone"))
    code, said = _doctor("--host", "nowhere")
    assert (code, "openssh-client" in said) == (3, True)


@pytest.mark.parametrize("host", ["-oProxyCommand=true", "a b", "host;ls", "", "$(ls)"])
def test_what_is_no_host_never_reaches_ssh(monkeypatch: pytest.MonkeyPatch, host: str):
    monkeypatch.setenv("TSNBENCH_SSH", "/bin/false")
    assert _doctor("--host", host)[0] == 2


def test_a_scenario_is_examined_on_this_machine_only(tmp_path: Path):
    assert _doctor("--host", "host", "--for", str(tmp_path / "x"))[0] == 2


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox"])
def test_the_script_is_for_any_shell(shell: str):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    words = ["busybox", "sh"] if shell == "busybox" else [shell]
    done = subprocess.run(
        [*words, "-s"], input=remote.script(), capture_output=True, text=True, timeout=60, check=False
    )
    found = Host(remote.read(f"Welcome!\n{done.stdout}"))
    assert "the end" in found.sections
    assert found.release() == os.uname().release
    assert (found.processors() or 0) >= 1
    assert found.privileged() == sandbox.privileged()
    assert set(found.interfaces()) == {name for _, name in socket.if_nameindex()}


def test_facts_that_a_host_does_not_report_are_unknown():
    found = Host(remote.read("@release\n|6.1\n\n@status\n|CapEff:\t0000000000000000\n\n@the end\n|\n"))
    assert (found.release(), found.privileged(), found.processors()) == ("6.1", False, None)
    assert (found.tai_s(), found.interfaces(), found.has("ip")) == (None, {}, False)
    states = {(one.room, one.name): one for one in examine(found)}
    assert states["rights", "namespaces"].remedy == "run as root for --on netns"
    assert states["kernel", "abilities"].found == "not tried: that takes root and iproute2"
