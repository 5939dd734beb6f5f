"""``tsnbench doctor --on HOST``: a real sshd in a network namespace of its own, with temporary keys."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tsnbench.backends.netns import sandbox
from tsnbench.cli.main import app
from tsnbench.doctor import remote
from tsnbench.doctor.host import Host

UNPACKED = Path(__file__).parents[2] / ".venv" / "unpacked"
"""The folder where ``make test`` unpacks packages that it does not install."""
SSHD = next(
    (path for path in (UNPACKED / "usr/sbin/sshd", Path("/usr/sbin/sshd")) if path.exists()), UNPACKED
)
APART = """
mount --bind "$1/etc" /etc
exec "$2" -D -e -f "$1/config"
"""
"""An ssh server whose user this machine does not know: a mount namespace has another copy of /etc."""
SPACE = f"tsnbench-doctor-{os.getpid()}"
PORT = 2222
CONFIG = """Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/allowed
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PidFile {folder}/pid
PermitRootLogin prohibit-password
"""
CLIENT = """Host *
  Port {port}
  IdentitiesOnly yes
  IdentityFile {folder}/{key}
  UserKnownHostsFile {folder}/known
  StrictHostKeyChecking yes
"""


def _doctor(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["doctor", *words])
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a running sshd."""
    if not sandbox.privileged() or not shutil.which("ip", path=sandbox.PATH):
        pytest.skip("a namespace of the network takes root and iproute2")
    if not SSHD.is_file() or not shutil.which("ssh"):
        pytest.skip("packages are missing: openssh-server (unpacked by make packages), openssh-client")
    folder = tmp_path_factory.mktemp("sshd")
    for name in ("host", "mine", "strange"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True, timeout=30
        )
    (folder / "allowed").write_text((folder / "mine.pub").read_text())
    (folder / "known").write_text(f"[127.0.0.1]:{PORT} {(folder / 'host.pub').read_text()}")
    (folder / "unknown").write_text(f"[127.0.0.1]:{PORT} {(folder / 'mine.pub').read_text()}")
    (folder / "config").write_text(CONFIG.format(folder=folder, port=PORT))
    for name, key, port in (
        ("client", "mine", PORT),
        ("wrong", "strange", PORT),
        ("closed", "mine", PORT + 1),
    ):
        (folder / name).write_text(CLIENT.format(folder=folder, key=key, port=port))
    (folder / "other").write_text((folder / "client").read_text().replace("/known", "/unknown"))
    shutil.copytree("/etc", folder / "etc", symlinks=True, ignore_dangling_symlinks=True)
    with (folder / "etc/passwd").open("a") as users:
        users.write("sshd:x:22222:65534::/run/sshd:/usr/sbin/nologin\n")
    libraries = ":".join(str(path.parent) for path in UNPACKED.glob("usr/lib/*/libwrap.so.0"))
    apart = Path("/run/sshd")
    made = not apart.exists()
    apart.mkdir(exist_ok=True)
    subprocess.run(["ip", "netns", "add", SPACE], check=True, timeout=30)
    sshd = None
    try:
        inside = ["ip", "netns", "exec", SPACE]
        subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=True, timeout=30)
        sshd = subprocess.Popen(
            [*inside, "unshare", "--mount", "sh", "-eu", "-c", APART, "sh", folder, SSHD],
            stderr=(folder / "log").open("wb"),
            env=os.environ | ({"LD_LIBRARY_PATH": libraries} if libraries else {}),
        )
        end = time.monotonic() + 20
        while "listening" not in (folder / "log").read_text():
            assert sshd.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < end
            time.sleep(0.05)
        yield folder
    finally:
        if sshd:
            sshd.terminate()
            sshd.wait(timeout=20)
        subprocess.run(["ip", "netns", "del", SPACE], check=False, timeout=30)
        if made:
            apart.rmdir()


def _ssh(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str) -> None:
    monkeypatch.setenv("TSNBENCH_SSH", f"ip netns exec {SPACE} ssh -F {folder / name}")


def test_another_host_is_found_as_this_one_is(there: Path, monkeypatch: pytest.MonkeyPatch):
    _ssh(monkeypatch, there, "client")
    code, said = _doctor("--on", "root@127.0.0.1", "--json")
    assert code == 0, said
    found = {(one["room"], one["name"]): one for one in json.loads(said)}
    here = {(one["room"], one["name"]): one for one in json.loads(_doctor("--json")[1])}
    # Host and machine share a kernel: all findings are the same but for the namespace's own interfaces.
    keys = {key for key in here if not key[0].startswith("interface")}
    assert {key for key in found if not key[0].startswith("interface")} == keys
    # The number of usable processors may differ, as another process is examined.
    unlike = [key for key in keys if found[key] != here[key] and key[0] not in ("processors", "clocks")]
    assert unlike == []
    assert ("kernel", "qdisc pfifo") in found
    code, said = _doctor("--on", "root@127.0.0.1")
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
    there: Path, monkeypatch: pytest.MonkeyPatch, client: str, words: str
):
    _ssh(monkeypatch, there, client)
    code, said = _doctor("--on", "root@127.0.0.1")
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
        code, said = _doctor("--on", "nowhere")
        assert code == 3
        assert meant in said
    monkeypatch.setattr(remote, "LIMIT_S", 0.2)
    program.write_text("#!/bin/sh\nexec sleep 5\n")
    assert _doctor("--on", "nowhere")[0] == 3
    monkeypatch.setenv("TSNBENCH_SSH", str(tmp_path / "gone"))
    code, said = _doctor("--on", "nowhere")
    assert (code, "openssh-client" in said) == (3, True)


@pytest.mark.parametrize("host", ["-oProxyCommand=true", "a b", "host;ls", "", "$(ls)"])
def test_what_is_no_host_never_reaches_ssh(monkeypatch: pytest.MonkeyPatch, host: str):
    monkeypatch.setenv("TSNBENCH_SSH", "/bin/false")
    assert _doctor("--on", host)[0] == 2


def test_a_scenario_is_examined_on_this_machine_only(tmp_path: Path):
    assert _doctor("--on", "host", "--for", str(tmp_path / "x"))[0] == 2


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
    from tsnbench.doctor import examine

    states = {(one.room, one.name): one for one in examine(found)}
    assert states["rights", "namespaces"].remedy == "run as root for --on netns"
    assert states["kernel", "abilities"].found == "not tried: that takes root and iproute2"
