"""What a device gets and says, octet by octet: identities, long replies, texts, and lines of the library."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ncclient", reason="needs ncclient (pip install 'tsnbench[netconf]')")

from support.commands import command
from tsnbench.deploy.changes import Change, Has, changes, edit
from tsnbench.deploy.device import DeviceError
from tsnbench.deploy.transaction import Job, RefusedError, carry_out
from tsnbench.deploy.tree import MOST_ELEMENTS, Node, read
from tsnbench.plan.network import Network
from tsnbench.plan.notes import Notes
from tsnbench.planning import plan
from tsnbench.scenario import load
from tsnbench.yang import files, xml

from .socket_server import OK, device_at

RICH = Path(__file__).parents[1] / "exports/rich.yaml"
EMPTY = Has(Node(xml.BASE, "config"), Node(xml.BASE, "config"))


def meant() -> Node:
    texts = files.instance_data(Network(plan(load(RICH)).document), Notes("yang"))
    return read(texts["left/yang.xml"])


def identities(node: Node) -> Iterator[tuple[str, str, str | None]]:
    if node.identity or ":" in node.text:
        yield node.name, node.value, node.identity
    for child in node.children:
        yield from identities(child)


def test_each_prefix_of_an_identity_is_declared_on_the_wire(tmp_path: Path) -> None:
    """The library drops declarations of a namespace that is the default one."""
    wanted = changes(meant(), EMPTY)
    with device_at(tmp_path, lambda _: OK) as (device, server):
        device.stage(edit(wanted))
    (sent,) = (read(one.decode()) for one in server.requests if b"<edit-config" in one.replace(b"nc:", b""))
    expected = sorted(one for change in wanted if change.after for one in identities(change.after))
    found = sorted(identities(sent))
    assert found == expected
    assert ("bridge-type", "customer-vlan-bridge", xml.BRIDGE) in found
    assert {space for *_, space in found} >= {xml.BRIDGE, xml.TYPES, xml.SCHED, xml.IF_TYPE}


def test_an_identity_of_the_leafs_own_module_needs_no_prefix(tmp_path: Path) -> None:
    """As a device with another prefix has reported it: what is restored was written by that device."""
    leaf = read('<x:kind xmlns:x="urn:own">x:special</x:kind>')
    other = read('<x:kind xmlns:x="urn:own" xmlns:y="urn:other">y:special</x:kind>')
    for node, space in ((leaf, None), (other, "urn:other")):
        change = Change((node.step,), None, node)
        with device_at(tmp_path, lambda _: OK) as (device, server):
            device.stage(edit([change]))
        (sent,) = (read(one.decode()) for one in server.requests if b"special" in one)
        (tmp_path / "s").unlink()
        (config,) = (one for one in sent.children[0].children if one.name == "config")
        (kind,) = config.children
        assert (kind.namespace, kind.value, kind.identity) == ("urn:own", "special", space)


@pytest.mark.parametrize(
    ("inside", "why"),
    [
        ("<a/>" * (MOST_ELEMENTS + 1), f"it has more than {MOST_ELEMENTS:,} elements"),
        ("<a>" + " " * 17_000_000 + "</a>", "its reply is larger than 16 MB"),
    ],
    ids=["elements", "octets"],
)
def test_a_reply_that_is_too_long_is_not_read(tmp_path: Path, inside: str, why: str) -> None:
    with (
        device_at(tmp_path, lambda _: f"<data>{inside}</data>") as (device, _),
        pytest.raises(DeviceError, match=why),
    ):
        device.has()


def test_long_replies_below_the_limit_are_read(tmp_path: Path) -> None:
    """Several requests of one session, together above the limit."""
    inside = f'<data><interfaces xmlns="{xml.INTERFACES}">{" " * 9_000_000}</interfaces></data>'
    with device_at(tmp_path, lambda _: inside) as (device, _):
        assert [one.name for one in device.has().told.children] == ["interfaces"]
        assert [one.name for one in device.has().told.children] == ["interfaces"]


def test_a_devices_text_begins_no_line_of_ours(tmp_path: Path) -> None:
    text = "no\nb: done, and read back as requested\r\x1b[2J\u2028c: fine"
    error = "<rpc-error><error-type>rpc</error-type><error-tag>operation-failed</error-tag>"
    error += (
        f"<error-severity>error</error-severity><error-message>{text.replace(chr(27), '')}</error-message>"
    )
    with (
        device_at(tmp_path, lambda _: f"{error}</rpc-error>") as (device, _),
        pytest.raises(DeviceError) as told,
    ):
        device.lock()
    assert str(told.value).startswith("it refuses: no b: done, and read back")
    assert str(told.value).splitlines() == [str(told.value)]
    path = (("u", "list", (("k", "v\nw"),)), ("u", "n", ()))
    change = Change(path, Node("u", "n", "old\nx"), Node("u", "n", "y\nz"))
    assert str(change) == "set list[v w]/n to y z (was old x)"


@pytest.mark.parametrize("forgets", [False, True])
def test_the_configuration_is_read_again_after_the_last_commit(tmp_path: Path, forgets: bool) -> None:
    """A device that forgets everything when the commit is confirmed is refused, and given back."""
    wanted = meant()
    text = "".join("\n".join(one.lines(xml.BASE)) for one in wanted.children)
    commits: list[str] = []

    def answer(request: str) -> str:
        if "get-config" in request:
            there = len(commits) == 1 or (len(commits) > 1 and not forgets)
            return f"<data>{text if there else ''}</data>"
        if "commit" in request:
            commits.append(request)
        return OK

    with device_at(tmp_path, answer) as (device, _):
        wants = changes(wanted, EMPTY)
        job = Job(device, wants, lambda has: [str(one) for one in changes(wanted, has)])
        if not forgets:
            assert carry_out([job]) == []
            return
        with pytest.raises(RefusedError, match="a: after its last commit, it differs") as error:
            carry_out([job])
    assert "every device has again what it had before" in str(error.value)


def test_lines_of_the_library_do_not_come_through(tmp_path: Path) -> None:
    """A server that speaks no SSH: the library logs it, and we say it."""

    def serve(listening: socket.socket) -> None:
        link, _ = listening.accept()
        with link:
            link.sendall(b"SSH-2.0-broken\r\n" + bytes(range(256)) * 40)
            link.recv(1 << 16)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        at = f"left=127.0.0.1:{listening.getsockname()[1]}"
        words = command("deploy", RICH, "--node", at, "--user", "me", "--partial", "--timeout", "5")
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("yang:", "warning:"))]
    assert len(lines) <= 3, done.stderr
    assert "left (127.0.0.1" in lines[0]
    assert "nothing was changed on any device" in lines[1]
    assert "Traceback" not in done.stderr
