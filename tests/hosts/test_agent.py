"""The agent alone, on this machine: steps, their undo, and every kind of loss of the controller."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tsnbench import quantities
from tsnbench.backends.kernel import traffic
from tsnbench.errors import BackendError, InputError
from tsnbench.hosts.remote import bootstrap, connection
from tsnbench.hosts.remote.agent import Agent
from tsnbench.hosts.remote.answers import AgentLost, Step
from tsnbench.hosts.remote.reach import Space, Ssh, reach
from tsnbench.hosts.state import facts

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="hosts are worked with as root")


@dataclass(frozen=True)
class Here:
    """This machine as a host, with its own folder for states and its own folder for temporary files."""

    folder: Path
    path: str = os.environ["PATH"]
    before: str = ""
    """A shell command that a login would run first."""

    @property
    def scope(self) -> str:
        return f"-test{os.getpid()}"

    def command(self, words: list[str]) -> list[str]:
        own = ["env", "-i", f"PATH={self.path}", f"TMPDIR={self.folder}", f"HOME={self.folder}"]
        if self.before:
            return [*own, "sh", "-c", f'{self.before}; exec "$@"', "sh", *words]
        return [*own, *words]

    def explain(self, code: int, said: str) -> str:
        return ""


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Here]:
    made = Here(tmp_path)
    yield made
    assert not Path(f"/run/tsnbench-host{made.scope}").exists()
    assert [path.name for path in tmp_path.glob("tsnbench-agent*")] == []


def connect(here: Here, owner: str = "anna", **more) -> Agent:
    return Agent("host", here, owner=owner, program=traffic.program(), **more)


@pytest.fixture
def host(here: Here) -> Iterator[Agent]:
    """An agent on this machine; nothing is left that could not be undone."""
    made = connect(here)
    made.open()
    yield made
    assert made.restore() == []


def state(here: Here) -> Path:
    return Path(f"/run/tsnbench-host{here.scope}")


def touch(path: Path) -> Step:
    return Step(("touch", str(path)), undo=(("rm", str(path)),))


def agent_pid(here: Here) -> int:
    found = subprocess.run(
        ["pgrep", "-f", f"agent --state {state(here)} "], capture_output=True, text=True, check=True
    )
    return int(found.stdout.split()[0])


def gone(path: Path, within_s: float) -> float:
    began = time.monotonic()
    while path.exists():
        assert time.monotonic() - began < within_s
        time.sleep(0.02)
    return time.monotonic() - began


def test_steps_are_undone_in_reverse_and_only_those_that_succeeded(host: Agent, tmp_path: Path) -> None:
    folder, file = tmp_path / "folder", tmp_path / "folder" / "file"
    done = host.steps(
        [
            Step(("mkdir", str(folder)), undo=(("rmdir", str(folder)),)),
            touch(file),
            # The step fails, so its undo command must not run.
            Step(("mkdir", str(folder)), undo=(("touch", str(tmp_path / "harm")),)),
            touch(tmp_path / "never"),
        ]
    )
    assert [one.code for one in done] == [0, 0, 1]
    assert "exists" in done[-1].err
    assert file.exists()
    assert host.restore() == []
    assert not folder.exists()
    assert not (tmp_path / "harm").exists()
    assert not (tmp_path / "never").exists()


def test_a_failed_undo_is_reported(host: Agent, tmp_path: Path) -> None:
    host.steps([touch(tmp_path / "a"), Step(("true",), undo=(("rmdir", "/nowhere/at/all"),))])
    assert any("rmdir /nowhere/at/all" in line for line in host.restore())
    assert not (tmp_path / "a").exists()


def test_undo_keeps_the_connection(host: Agent, tmp_path: Path) -> None:
    host.steps([touch(tmp_path / "a")])
    host.start("sleeper", ["sleep", "60"])
    assert host.undo() == []
    assert not (tmp_path / "a").exists()
    assert host.wait_for_end("sleeper", time.monotonic() + 5).code == 128 + signal.SIGTERM
    host.steps([touch(tmp_path / "b")])
    assert (tmp_path / "b").exists()
    host.restore()
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_the_agent_undoes_everything(
    here: Here, host: Agent, tmp_path: Path, number: int
) -> None:
    host.steps([touch(tmp_path / "a")])
    os.kill(agent_pid(here), number)
    gone(tmp_path / "a", 5)
    gone(state(here), 5)
    with pytest.raises(AgentLost):
        host.steps([Step(("true",))])


def test_the_end_of_the_connection_undoes_everything(here: Here, host: Agent, tmp_path: Path) -> None:
    host.steps([touch(tmp_path / "a")])
    host.start("sleeper", ["sh", "-c", f"trap '' TERM; touch {tmp_path}/b; sleep 60"])
    assert host._connection._process is not None
    host._connection._process.kill()
    # In this test the killed process is the agent itself, so no process is left to undo the steps.
    host.restore()
    assert (tmp_path / "a").exists()
    again = connect(here)
    ready = again.open()
    assert ready.left == 2
    assert not (tmp_path / "a").exists()
    assert again.restore() == []


def test_silence_undoes_everything(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PATIENCE_MS", 500)
    monkeypatch.setattr(connection, "BEAT_S", 0.1)
    host = connect(here)
    host.open()
    host.steps([touch(tmp_path / "a")])
    time.sleep(1)
    assert (tmp_path / "a").exists()
    host._connection._closing.set()
    assert gone(tmp_path / "a", 5) < 2
    host.restore()


def test_a_long_step_does_not_silence_the_beats(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PATIENCE_MS", 500)
    monkeypatch.setattr(connection, "BEAT_S", 0.1)
    host = connect(here)
    host.open()
    assert host.steps([Step(("sleep", "1.5"))])[0].code == 0
    assert host.steps([Step(("sleep", "60"), limit_ms=200)])[0].code == 124
    assert host.restore() == []


def test_a_long_undo_is_no_silence_of_the_controller(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow host may take longer to undo than it waits for a beat, and it answers no beat meanwhile."""
    monkeypatch.setattr(connection, "PATIENCE_MS", 500)
    monkeypatch.setattr(connection, "BEAT_S", 0.1)
    host = connect(here)
    host.open()
    assert host.steps([Step(("true",), undo=(("sleep", "2"),))])[0].code == 0
    assert host.undo() == []
    time.sleep(1)
    assert host.steps([Step(("true",))])[0].code == 0
    assert host.lost == ""
    assert host.restore() == []


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (Step(("sleep", "60"), limit_ms=200), r"sleep 60: not finished after 0\.2 s$"),
        (
            Step(("ip-of-nobody",)),
            r"(?s)No such file.*\nhint: apt-get install iproute2, there$",
        ),
        (Step(("sh", "-c", "echo denied >&2; exit 3")), r"denied$"),
        (Step(("false",)), r"false: exit code 1$"),
    ],
)
def test_a_host_whose_state_cannot_be_read_says_why(
    here: Here, monkeypatch: pytest.MonkeyPatch, step: Step, why: str
) -> None:
    monkeypatch.setattr(facts, "_LOOK", (step, Step(("true",)), Step(("true",))))
    host = connect(here)
    ready = host.open()
    with pytest.raises(BackendError, match=why):
        facts.survey(host, ready, [])
    assert host.restore() == []


def test_output_of_a_login_is_ignored(tmp_path: Path) -> None:
    host = connect(Here(tmp_path, before="echo Welcome; echo '@all'; echo warning >&2"))
    assert host.open().left == 0
    assert host.steps([Step(("echo", "x"))])[0].out == "x\n"
    host.restore()


def test_busybox_is_enough(tmp_path: Path) -> None:
    busybox = shutil.which("busybox")
    if busybox is None:
        pytest.skip("packages are missing: busybox-static")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "uname", "id", "mktemp", "chmod", "rm", "head", "env", "cat", "touch"):
        (tools / name).symlink_to(busybox)
    own = Here(tmp_path, path=str(tools))
    host = connect(own)
    assert host.open().machine == os.uname().machine
    host.put("folder/file", b"x" * 5_000_000)
    assert host.get("folder/file") == b"x" * 5_000_000
    host.steps([touch(tmp_path / "a")])
    assert host.restore() == []
    assert not (tmp_path / "a").exists()


def test_another_machine_is_refused_by_name(here: Here) -> None:
    host = connect(here, machine="s390x")
    with pytest.raises(BackendError, match=f"it is a machine of type {os.uname().machine}") as error:
        host.open()
    assert "hint:" in str(error.value)


def test_a_login_without_root_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    words = "setpriv --reuid 65534 --regid 65534 --clear-groups"

    class Nobody(Here):
        def command(self, told: list[str]) -> list[str]:
            return [*words.split(), *super().command(told)]

    with pytest.raises(BackendError, match=r"nobody is not root there\nhint: give root's login"):
        connect(Nobody(tmp_path)).open()


def test_a_folder_mounted_with_noexec_is_not_used(tmp_path: Path) -> None:
    class Strict(Here):
        def command(self, words: list[str]) -> list[str]:
            script = 'mount -t tmpfs -o noexec tmpfs "$1" && shift && exec "$@"'
            told = ["unshare", "--mount", "sh", "-c", script, "sh", str(self.folder)]
            return [*told, *super().command(words)]

    host = connect(Strict(tmp_path))
    assert not host.open().program.startswith(str(tmp_path))
    assert host.restore() == []


def test_a_full_disk_is_told_as_that(tmp_path: Path) -> None:
    """A folder with 256 kB has no room for the program; one whose files are counted has none, either."""
    full = tmp_path / "full"
    full.mkdir()

    @dataclass(frozen=True)
    class Full(Here):
        options: str = ""

        def command(self, words: list[str]) -> list[str]:
            mount = f'mount -t tmpfs -o {self.options} none {full}; exec "$@"'
            return ["unshare", "--mount", "sh", "-c", mount, "sh", *super().command(words)]

    need = traffic.program().stat().st_size // 1024 + 64
    told = rf"its disk is full: {full} has 262144 B left, and {quantities.size(need * 1024)} are needed"
    for options, why in (("size=256k", told), ("nr_inodes=2", "its disk is full: .*No space left")):
        with pytest.raises(BackendError, match=why) as error:
            connect(Full(tmp_path, options=options), folder=str(full)).open()
        assert "hint: free space there" in str(error.value)


@pytest.mark.parametrize("killed", [True, False])
def test_a_controller_that_is_killed_while_it_sends_leaves_nothing_for_ever(
    here: Here, tmp_path: Path, killed: bool
) -> None:
    """If the host's shell notices the end, it removes its folder; otherwise the next controller does."""
    words = bootstrap.words(bytes(10**6), platform.machine(), "bert", 3000, here.scope)
    with subprocess.Popen(here.command(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as sending:
        assert sending.stdin is not None
        assert sending.stdout is not None
        assert sending.stdout.readline().strip() == bootstrap.GIVE
        sending.stdin.write(bytes(1000))
        sending.stdin.flush()
        (own,) = tmp_path.glob("tsnbench-agent*")
        # The folder of a controller that is still sending stays.
        connect(here).restore_leftovers()
        assert own.exists()
        if killed:
            sending.kill()
    assert own.exists() == killed
    assert sending.returncode == (-signal.SIGKILL if killed else bootstrap.NOT_WHOLE)
    connect(here).restore_leftovers()
    assert not own.exists()


@pytest.mark.parametrize("same", [True, False])
def test_a_host_is_asked_for_its_own_program_if_that_is_the_same(tmp_path: Path, same: bool) -> None:
    (bin_folder := tmp_path / "bin").mkdir()
    installed = bin_folder / "tsnbench-traffic"
    installed.write_bytes(traffic.program().read_bytes() + bytes(not same))
    installed.chmod(0o755)
    there = Here(tmp_path, f"{bin_folder}:{os.environ['PATH']}")
    words = bootstrap.words(traffic.program().read_bytes(), platform.machine(), "anna", 3000, there.scope)
    done = subprocess.run(there.command(words), input=b"", stdout=subprocess.PIPE)
    assert done.stdout.split()[0] == (bootstrap.STORED if same else bootstrap.GIVE)
    if same:
        host = connect(there)
        host.open()
        assert host.program_path != str(installed)
        assert host.restore() == []
    assert [*tmp_path.glob("tsnbench-agent*")] == []


def test_a_host_that_was_not_reserved_is_left_without_an_order(here: Here) -> None:
    waiting = connect(here)
    waiting.connect()
    connect(here, "bert").restore_leftovers()
    assert waiting.restore() == []


def test_two_controllers(here: Here) -> None:
    first, second = connect(here), connect(here, "bert")
    first.open()
    with pytest.raises(BackendError, match=r"anna has had this host for \d+ s"):
        second.open()
    assert second.restore() == []
    with pytest.raises(AgentLost):
        second.undo()
    first.restore()
    with pytest.raises(AgentLost):
        first.undo()
    assert connect(here, "bert").restore_leftovers() == 0


def test_the_host_of_a_lost_controller_is_free_only_after_its_undo(here: Here, tmp_path: Path) -> None:
    """The first controller is gone; its agent needs a while to undo, and keeps the host until then."""
    first = connect(here)
    first.open()
    first.steps([touch(tmp_path / "a"), Step(("true",), undo=(("sleep", "2"),))])
    os.kill(agent_pid(here), signal.SIGTERM)
    said, ready = [], None
    until = time.monotonic() + 30
    while ready is None and time.monotonic() < until:
        second = connect(here, "bert")
        try:
            ready = second.open()
        except BackendError as error:
            said.append(str(error))
    assert all(re.search(r"anna has had this host for \d+ s", one) for one in said)
    assert ready is not None
    # Nothing was left for the second agent: the first one had undone all of its steps before.
    assert (said != [], (tmp_path / "a").exists(), ready.left) == (True, False, 0)
    assert second.restore() == []
    first.restore()


def test_an_undo_leaves_nothing_for_the_next_agent(here: Here, host: Agent, tmp_path: Path) -> None:
    """The controller orders the undo, and the agent is killed later: only its own folder is left."""
    host.steps([touch(tmp_path / "a")])
    assert host.undo() == []
    os.kill(agent_pid(here), signal.SIGKILL)
    host.restore()
    again = connect(here)
    assert again.open().left == 1
    assert again.restore() == []


def test_paths_stay_in_the_work_folder(host: Agent) -> None:
    for path in ("../x", "/etc/passwd", "a/../../x", "", "."):
        with pytest.raises(BackendError, match="expected a path within the work folder"):
            host.put(path, b"")
        with pytest.raises(BackendError, match="expected a path within the work folder"):
            host.get(path)


def test_unknown_requests_are_errors_and_garbage_ends_the_connection(host: Agent, tmp_path: Path) -> None:
    host.steps([touch(tmp_path / "a")])
    with pytest.raises(BackendError, match="dance"):
        host._connection.ask({"do": "dance"})
    with pytest.raises(BackendError):
        host._connection.ask({"do": "start", "name": "../x", "argv": ["true"]})
    with pytest.raises(BackendError, match="no such program runs"):
        host.tell("nobody", "x")
    assert host._connection._process is not None
    assert host._connection._process.stdin is not None
    host._connection._process.stdin.write(b"\x00garbage\n" * 3)
    host._connection._process.stdin.flush()
    gone(tmp_path / "a", 5)


def test_the_log_has_every_command_with_its_code(host: Agent) -> None:
    host.steps([Step(("sh", "-c", "echo no >&2; exit 4"), may_fail=True), Step(("cat",), stdin="x")])
    host.restore()
    assert [one["code"] for one in host.log] == [4, 0]
    assert host.log[0]["said"] == "no\n"
    assert host.log[1]["stdin"] == "x"
    assert all(one["at_ns"] > 10**18 for one in host.log)
    json.dumps(host.log)


@pytest.mark.parametrize("name", ["-oProxyCommand=x", "a b", "a;b", "$(a)", "", "a\nb"])
def test_no_name_of_a_host_is_an_option_or_a_command(name: str) -> None:
    with pytest.raises(InputError):
        Ssh(name)
    with pytest.raises(InputError):
        reach(f"netns://{name}" if name != "" else "netns://")


def test_words_are_quoted_for_the_remote_shell() -> None:
    words = Ssh("root@host").command(["sh", "-c", "echo $1", "x", "a b'; reboot"])
    assert words[-1] == """sh -c 'echo $1' x 'a b'"'"'; reboot'"""
    assert words[-3:-1] == ["--", "root@host"]
    assert Space("n1").command(["true"]) == ["ip", "netns", "exec", "n1", "true"]
