"""A link between two namespaces for live traffic; no frame leaves this link."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tsnbench.backends.kernel import traffic
from tsnbench.errors import BackendError

PYTHON = Path(__file__).parents[2] / "python"
PATIENCE_S = 60


def until(ready: Callable[[], bool]) -> None:
    """Wait until this is so."""
    end = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < end, "this has not happened"
        time.sleep(0.02)


def until_idle(listener: int) -> None:
    """Wait until a listener has looked for frames, and waited for the next ones, several times."""
    begun = _pauses(listener)
    until(lambda: _pauses(listener) >= begun + 5)


def _pauses(process: int) -> int:
    """How often a process has given up its processor by itself."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


def _run(words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words.split(), capture_output=True, text=True, check=False)


def _connect(spaces: tuple[str, str]) -> str:
    """Make the link; returns the error of ``ip``, if there is one."""
    made = _run(f"ip -n {spaces[0]} link add v0 type veth peer name v1 netns {spaces[1]}")
    for space, device, address in zip(spaces, ("v0", "v1"), ("10.97.0.1", "10.97.0.2"), strict=True):
        _run(f"ip -n {space} link set {device} up")
        _run(f"ip -n {space} addr add {address}/24 dev {device}")
    return made.stderr.strip() if made.returncode else ""


@dataclass(frozen=True)
class Link:
    """A link with ``v0`` in the first namespace and ``v1`` in the second."""

    spaces: tuple[str, str]

    def start(self, side: int, *words: str) -> subprocess.Popen[str]:
        """Start ``tsnbench`` in a namespace."""
        code = "from tsnbench.cli.main import main; main()"
        return subprocess.Popen(
            ["ip", "netns", "exec", self.spaces[side], sys.executable, "-c", code, *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONPATH": str(PYTHON)},
        )  # fmt: skip

    def raw(self, side: int, *words: str) -> subprocess.Popen[str]:
        """Start the live program in a namespace."""
        return subprocess.Popen(
            ["ip", "netns", "exec", self.spaces[side], str(traffic.program()), *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def cut(self) -> None:
        """Remove the link, with all that is still to be sent."""
        _run(f"ip -n {self.spaces[0]} link del v0")

    def begin_again(self) -> None:
        """A new namespace at the other end, and a new link with the same addresses."""
        _run(f"ip netns del {self.spaces[1]}")
        _run(f"ip netns add {self.spaces[1]}")
        _connect(self.spaces)

    def do(self, side: int, words: str) -> subprocess.CompletedProcess[str]:
        """Run any program in a namespace."""
        return _run(f"ip netns exec {self.spaces[side]} {words}")


@pytest.fixture
def link() -> Iterator[Link]:
    """Two namespaces and a veth link between them."""
    if os.geteuid():
        pytest.skip("live traffic needs root")
    if shutil.which("ip") is None:
        pytest.skip("ip (iproute2) is missing")
    try:
        traffic.program()
    except BackendError as error:
        pytest.skip(str(error).partition("\n")[0])
    spaces = (f"tsnb-traffic-{os.getpid()}-a", f"tsnb-traffic-{os.getpid()}-b")
    try:
        for space in spaces:
            if (made := _run(f"ip netns add {space}")).returncode:
                pytest.skip(f"no network namespaces here: {made.stderr.strip()}")
        if wrong := _connect(spaces):
            pytest.skip(f"no veth here: {wrong}")
        yield Link(spaces)
    finally:
        for space in spaces:
            _run(f"ip netns del {space}")


RELAY = Path(__file__).with_name("relay.py")


@pytest.fixture
def relayed(link: Link) -> Iterator[Link]:
    """The link, through a relay in a namespace of its own that loses, repeats and swaps telegrams."""
    middle = f"{link.spaces[0]}-relay"
    try:
        _run(f"ip netns add {middle}")
        _run(f"ip -n {link.spaces[0]} link del v0")
        for space, device, address, end in zip(
            link.spaces, ("v0", "v1"), ("10.97.0.1", "10.97.0.2"), ("r0", "r1"), strict=True
        ):
            _run(f"ip -n {space} link add {device} type veth peer name {end} netns {middle}")
            _run(f"ip -n {space} link set {device} up")
            _run(f"ip -n {space} addr add {address}/24 dev {device}")
            _run(f"ip -n {middle} link set {end} promisc on up")
        relay = subprocess.Popen(
            ["ip", "netns", "exec", middle, sys.executable, str(RELAY), "r0", "r1"],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert relay.stdout is not None
            assert relay.stdout.readline() == "ready\n"
            yield link
        finally:
            relay.kill()
            relay.communicate()
    finally:
        _run(f"ip netns del {middle}")
