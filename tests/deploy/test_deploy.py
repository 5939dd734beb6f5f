"""Plans on a real NETCONF server: on all devices or none, with read-back and restored configurations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ncclient", reason="needs ncclient (pip install 'tsnbench[netconf]')")

from support.commands import tsnbench
from support.netconf_server import BRIDGE, PASSWORD, USER, NetconfServer
from support.planned import document_of
from support.two_servers import MODULES, Two, needs_servers, two_servers
from tsnbench.deploy import Access, Outcome, Target, deploy, restore
from tsnbench.deploy.device import Device, connect
from tsnbench.deploy.tree import Node
from tsnbench.errors import BackendError, InputError
from tsnbench.planning import plan
from tsnbench.scenario import load, load_variants

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
pytestmark = needs_servers


def rich() -> dict[str, Any]:
    return plan(load(ROOT / "tests/exports/rich.yaml")).document


def other() -> dict[str, Any]:
    """The same scenario with another, shorter gate list, and without the shaper and pre-emption."""
    text = (ROOT / "tests/exports/rich.yaml").read_text()
    text = text.replace(
        "{open: [7], for: 50 us}, {open: [3, 2, 0], for: 450 us}", "{open: [7, 3, 2, 0], for: 500 us}"
    )
    text = text.replace("  right -> robot: {cbs: [3]}\n", "").replace(
        "  right -> left: {preemption: {express: [7]}}\n", ""
    )
    return document_of(text)


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    with two_servers(tmp_path) as both:
        yield both


def access(*servers: NetconfServer, password: str = PASSWORD) -> Access:
    known = servers[0].folder / "all_hosts"
    known.write_text("".join(one.known_hosts.read_text() for one in servers))
    return Access(USER, password, known_hosts=known, timeout_s=20)


def at(node: str, server: NetconfServer) -> Target:
    return Target(node, "127.0.0.1", server.port)


def has(server: NetconfServer) -> Node:
    device: Device = connect("a", "127.0.0.1", server.port, access(server))
    try:
        return device.has().told
    finally:
        device.close()


def text(server: NetconfServer) -> str:
    """The whole configuration, without prefixes of identities, which the server loses when it restores."""
    return re.sub(r' xmlns:[\w-]+="[^"]*">[\w-]+:', ">", has(server).text_of())


def put(document: dict[str, Any], folder: Path, *where: tuple[str, NetconfServer], **more: Any) -> Outcome:
    return deploy(
        document,
        [at(node, server) for node, server in where],
        access(*(server for _, server in where)),
        folder / "before.json",
        **more,
    )


def test_two_bridges_get_the_plan_and_a_second_time_changes_nothing(two: Two, tmp_path: Path) -> None:
    left, right = two
    empty = text(left)
    done = put(rich(), tmp_path, ("left", left), ("right", right))
    assert done.done
    assert done.changes["left"]
    assert done.changes["right"]
    now = text(left), text(right)
    for word in (
        "<gate-states-value>8<",
        "<supported-list-max>2<",
        "time-transmitter<",
        "<sequence-recovery>",
    ):
        assert word in now[0], word
    assert "<admin-idle-slope>" in now[1]
    assert "<priority7>express<" in now[1]
    again = put(rich(), tmp_path, ("left", left), ("right", right))
    assert again.changes == {"left": [], "right": []}
    assert not again.done
    assert again.record is None
    # Restore the empty configuration.
    assert done.record is not None
    back = restore(done.record, access(left, right))
    assert back.done
    assert "<name>eth1" not in text(left)
    assert len(text(left)) <= len(empty) + 300
    assert restore(done.record, access(left, right)).changes == {"left": [], "right": []}


def test_a_second_plan_replaces_what_the_first_wrote_and_restoring_brings_it_back(
    two: Two, tmp_path: Path
) -> None:
    left, right = two
    put(rich(), tmp_path, ("left", left), ("right", right))
    first = text(left), text(right)
    dry = put(other(), tmp_path, ("left", left), ("right", right), dry_run=True)
    assert (text(left), text(right)) == first
    assert not dry.done
    done = put(other(), tmp_path, ("left", left), ("right", right))
    assert done.changes == dry.changes
    assert done.record == tmp_path / "before-2.json"
    assert any("remove" in line and "/cbsa" in line for line in done.changes["right"])
    assert "<gate-states-value>8<" not in text(left)
    assert "<admin-idle-slope>" not in text(right)
    assert "preemptable" not in text(right)
    assert "<index>1</index>\n<operation-name" not in text(left)
    restore(done.record, access(left, right))
    assert (text(left), text(right)) == first


def test_what_others_configured_stays(two: Two, tmp_path: Path) -> None:
    left, _ = two
    device = connect("left", "127.0.0.1", left.port, access(left))
    device._session.edit_config(
        target="candidate",
        config="""<config xmlns="urn:ietf:params:xml:ns:netconf:base:1.0">
        <interfaces xmlns="urn:ietf:params:xml:ns:yang:ietf-interfaces"><interface><name>lo</name>
        <type xmlns:x="urn:ietf:params:xml:ns:yang:iana-if-type">x:softwareLoopback</type></interface>
        <interface><name>eth1</name><description>to the camera</description>
        <type xmlns:x="urn:ietf:params:xml:ns:yang:iana-if-type">x:ethernetCsmacd</type></interface>
        </interfaces></config>""",
    )
    device._session.commit()
    device.close()
    before = text(left)
    done = put(rich(), tmp_path, ("left", left))
    assert "<name>lo</name>" in text(left)
    assert (
        "set interfaces/interface[eth1]/description to left -> camera (was to the camera)"
        in done.changes["left"]
    )
    assert done.record is not None
    restore(done.record, access(left))
    for word in ("<name>lo</name>", "to the camera", "softwareLoopback"):
        assert word in text(left)
    assert "<name>eth2</name>" not in text(left)
    assert len(text(left)) - len(before) < 300


REPLY = b"""<?xml version="1.0" encoding="UTF-8"?>
<rpc-reply message-id="%s" xmlns="urn:ietf:params:xml:ns:netconf:base:1.0">%s</rpc-reply>"""
OK = b"<ok/>"
REFUSAL = b"""<rpc-error>
<error-type>application</error-type><error-tag>operation-failed</error-tag><error-severity>error</error-severity>
<error-message>no hardware for that</error-message></rpc-error>"""


def answering(what: bytes, content: bytes = REFUSAL, after: int = 0, times: int = 1000) -> Any:
    """A rule that passes ``after`` requests with ``what``, and answers the next ``times`` itself."""
    seen = [0]

    def rule(piece: bytes) -> bytes | None:
        if what not in piece:
            return None
        seen[0] += 1
        if not after < seen[0] <= after + times:
            return None
        (number,) = re.findall(rb'message-id="([^"]+)"', piece)
        answer = REPLY % (number, content)
        return b"\n#%d\n%s\n##\n" % (len(answer), answer)

    return rule


@pytest.mark.parametrize(
    ("what", "touched"),
    [(b"edit-config", False), (b"<nc:confirmed", True)],
    ids=["when it looks", "when it acts"],
)
def test_one_device_rejects_a_change_and_all_are_restored(
    two: Two, tmp_path: Path, what: bytes, touched: bool
) -> None:
    left, right = two
    put(rich(), tmp_path, ("left", left), ("right", right))
    first = text(left), text(right)
    right.rules = answering(what)
    with pytest.raises(BackendError) as error:
        put(other(), tmp_path, ("left", left), ("right", right))
    right.rules = None
    assert "right: it refuses: no hardware for that (operation-failed)" in str(error.value)
    end = "every device has again what it had before" if touched else "nothing was changed on any device"
    assert end in str(error.value)
    assert (text(left), text(right)) == first
    assert json.loads((tmp_path / "before-2.json").read_text())["state"] == "taken back"
    # No lock is left, and the next request succeeds.
    assert put(other(), tmp_path, ("left", left), ("right", right)).done


def test_rules_of_a_device_that_forbid_a_write_are_told_with_user_and_path(tmp_path: Path) -> None:
    """Without a rule, NACM lets a user read everything and write nothing (RFC 8341, 3.5.1)."""
    with (
        NetconfServer(tmp_path / "1", MODULES) as left,
        NetconfServer(tmp_path / "2", MODULES, superuser="somebody") as right,
    ):
        empty = text(left)
        with pytest.raises(BackendError) as error:
            put(rich(), tmp_path, ("left", left), ("right", right))
        told, *others = str(error.value).splitlines()
        assert told.startswith(
            f"right: it refuses: access denied (access-denied); its user {USER} may not do that: interfaces/"
        )
        assert others[0] == "nothing was changed on any device"
        assert "let a group of this user read, create, update and delete there" in others[1]
        assert text(left) == empty


def test_a_constraint_of_the_module_rejects_a_change(two: Two, tmp_path: Path) -> None:
    """The server evaluates the module's constraint and sends the error; the message is the server's."""
    left, right = two
    document = rich()
    gates = next(port["gates"] for port in document["ports"] if "gates" in port)
    gates["entries"][0]["open"] = 256
    before = text(right)
    with pytest.raises(BackendError, match="left: it refuses: "):
        put(document, tmp_path, ("left", left), ("right", right))
    assert text(right) == before


def test_a_device_that_forgets_is_found_and_taken_back(two: Two, tmp_path: Path) -> None:
    """The device replies ok to a commit, and changes nothing: only the read-back shows this."""
    left, right = two
    empty = text(left)

    right.rules = answering(b"<nc:confirmed", OK)
    with pytest.raises(
        BackendError, match="right: it differs from the requested configuration: interfaces/interface"
    ) as error:
        put(rich(), tmp_path, ("left", left), ("right", right))
    assert len(text(left)) - len(empty) < 300, str(error.value)


def test_a_device_dies_half_way(two: Two, tmp_path: Path) -> None:
    left, right = two
    empty = len(text(left))

    def dies(piece: bytes) -> bytes | None:
        if b"<nc:confirmed" not in piece:
            return None
        right.kill()
        return b""

    right.rules = dies
    with pytest.raises(BackendError) as error:
        put(rich(), tmp_path, ("left", left), ("right", right))
    assert "right: the connection is lost" in str(error.value)
    assert f"--restore {tmp_path / 'before.json'}" in str(error.value)
    assert "<name>eth1" not in text(left)
    record = json.loads((tmp_path / "before.json").read_text())
    assert record["state"] == "broken"
    assert {one["node"] for one in record["devices"]} == {"left", "right"}
    # The device comes back at another address with its last configuration.
    with NetconfServer(tmp_path / "again", MODULES) as again:
        put(rich(), tmp_path, ("right", again))
        with pytest.raises(InputError, match="--node: expected one of left, right, found middle"):
            restore(tmp_path / "before.json", access(again), nodes=["middle"])
        restore(tmp_path / "before.json", access(again), nodes=[f"right=127.0.0.1:{again.port}"])
        assert "<name>eth1" not in text(again)
        assert json.loads((tmp_path / "before.json").read_text())["state"] == "partly restored"
    assert len(text(left)) - empty < 300


def test_without_a_candidate(tmp_path: Path) -> None:
    """The device is edited in its running datastore: a test comes first, and changes are undone by edits."""
    with (
        NetconfServer(tmp_path / "l", MODULES, target="running") as left,
        NetconfServer(tmp_path / "r", MODULES) as right,
    ):
        put(rich(), tmp_path, ("left", left), ("right", right))
        first = text(left), text(right)
        assert put(rich(), tmp_path, ("left", left)).changes == {"left": []}
        done = put(other(), tmp_path, ("left", left), ("right", right))
        assert text(left) != first[0]
        assert done.record is not None
        restore(done.record, access(left, right))
        assert (text(left), text(right)) == first
        left.rules = answering(b"get-config", after=2, times=1)
        with pytest.raises(BackendError, match="left: it refuses") as error:
            put(other(), tmp_path, ("left", left), ("right", right))
        assert "every device has again what it had before" in str(error.value)
        left.rules = None
        assert (text(left), text(right)) == first
        assert any(b"cancel-commit" in piece for piece in right.seen)


def test_modules_that_a_device_lacks_are_named_first(tmp_path: Path) -> None:
    load_only = tuple(
        name for name in BRIDGE if "frer" not in name and "gptp" not in name and "cbsa" not in name
    )
    with NetconfServer(tmp_path / "r", MODULES, load=load_only) as right:
        before = text(right)
        with pytest.raises(BackendError) as error:
            put(rich(), tmp_path, ("right", right))
        words = str(error.value)
        assert "right: it lacks 2 of the modules that the Plan needs" in words
        assert "ieee802-dot1q-cbsa-bridge, for interfaces/interface[eth2]/bridge-port/cbsa" in words
        assert "ieee802-dot1cb-frer, for frer" in words
        assert text(right) == before
        done = put(rich(), tmp_path, ("right", right), partial=True)
        assert done.done
        assert len(done.left_out["right"]) == 2
        assert put(rich(), tmp_path, ("right", right), partial=True).changes == {"right": []}


def test_messages_and_exit_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scenario = str(ROOT / "tests/exports/rich.yaml")

    def call(*more: str, password: str = PASSWORD) -> tuple[int, str]:
        monkeypatch.setenv("TSNBENCH_NETCONF_PASSWORD", password)
        done = tsnbench("deploy", *more)
        return done.returncode, done.stderr + done.stdout

    with NetconfServer(tmp_path / "l", MODULES) as left:
        here = f"127.0.0.1:{left.port}"
        empty = tmp_path / "nobody"
        empty.touch()
        base = ("--user", USER, "--known-hosts", str(left.known_hosts))
        code, words = call(scenario, *base, "--node", f"left={here}", password="wrong")
        assert code == 2
        assert f"left ({here}): user {USER} was rejected: wrong password or key" in words
        code, words = call(scenario, "--user", USER, "--known-hosts", str(empty), "--node", f"left={here}")
        assert code == 2
        assert "expected the key of" in words
        code, words = call(scenario, *base, "--netconf", here)
        assert code == 2
        assert "the Plan has 3 bridges: left, right, detour" in words
        code, words = call(scenario, *base, "--netconf", here, "--node", "left", "--dry-run")
        assert code == 0
        assert "dry run: nothing was changed" in words
        assert not list(tmp_path.glob("*.json"))
        code, words = call(scenario, *base, "--netconf", here, "--node", "left", "--yang", str(MODULES))
        assert code == 0
        assert "done, and read back as requested; the earlier state is in rich.deploy.json" in words
        code, words = call(scenario, *base, "--netconf", here, "--node", "left", "--json")
        assert code == 0
        assert json.loads(words[words.index("{") :])["changes"] == {"left": []}
        code, words = call("--restore", "rich.deploy.json", *base)
        assert code == 0
        assert "left: remove interfaces/interface[eth1]" in words
        code, words = call("--restore", scenario, *base)
        assert code == 2
        assert "expected a record of `tsnbench deploy`" in words
    code, words = call(scenario, *base, "--node", f"left={here}")
    assert code == 3
    assert "cannot be reached" in words
    assert "nothing was changed on any device" in words
    for wrong in (("--node", "nobody=1.2.3.4"), ("--node", "left=1.2.3.4:99999"), ()):
        assert call(scenario, *base, *wrong)[0] == 2


def test_a_device_that_can_only_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with NetconfServer(tmp_path / "l", MODULES) as left:
        monkeypatch.setattr(Device, "can", lambda self, name: False)
        with pytest.raises(BackendError, match="left: its NETCONF can only be read: it announces neither"):
            put(rich(), tmp_path, ("left", left))


def test_names_of_interfaces_are_the_devices(tmp_path: Path) -> None:
    with NetconfServer(tmp_path / "l", MODULES) as left:
        put(rich(), tmp_path, ("left", left), interfaces={"left -> right": "port7"})
        now = text(left)
        assert "<name>port7</name>" in now
        assert "<underlying-interface>port7</" in now
        assert "eth2" not in now


def test_one_wrong_password_among_two_changes_nothing(two: Two, tmp_path: Path) -> None:
    left, right = two
    with pytest.raises(InputError, match="nothing was changed on any device"):
        deploy(
            rich(),
            [at("left", left), at("right", right)],
            access(left, right, password="no"),
            tmp_path / "before.json",
        )
    assert not (tmp_path / "before.json").exists()


def test_someone_elses_lock_is_respected(two: Two, tmp_path: Path) -> None:
    left, right = two
    other_one = connect("left", "127.0.0.1", left.port, access(left))
    other_one.lock()
    other_one._session.edit_config(
        target="candidate",
        config="""<config xmlns="urn:ietf:params:xml:ns:netconf:base:1.0">
        <interfaces xmlns="urn:ietf:params:xml:ns:yang:ietf-interfaces"><interface><name>theirs</name>
        <type xmlns:x="urn:ietf:params:xml:ns:yang:iana-if-type">x:softwareLoopback</type></interface>
        </interfaces></config>""",
    )
    with pytest.raises(BackendError, match=r"left: it refuses: .*someone else is changing it") as error:
        put(rich(), tmp_path, ("left", left), ("right", right))
    assert "nothing was changed on any device" in str(error.value)
    assert "<name>eth1" not in text(right)
    assert not any(b"discard-changes" in piece for piece in left.seen)
    # The change that the other client prepared is still in the candidate.
    assert "theirs" in other_one._session.get_config("candidate").xml
    other_one.close()


def test_ingress_filtering_is_switched_on_where_a_device_has_it(tmp_path: Path) -> None:
    """In the standard it is off; a device may lack it, here by another module of that name."""
    others = tmp_path / "modules"
    others.mkdir()
    for one in MODULES.glob("*.yang"):
        (others / one.name).symlink_to(one)
    bridge = others / "ieee802-dot1q-bridge.yang"
    whole = bridge.read_text()
    bridge.unlink()
    bridge.write_text(
        re.sub(r"\n      leaf enable-ingress-filtering {.*?\n      }(?=\n)", "", whole, flags=re.DOTALL)
    )
    on = "<enable-ingress-filtering>true<"
    with (
        NetconfServer(tmp_path / "1", MODULES) as left,
        NetconfServer(tmp_path / "2", others) as right,
    ):
        where = (("left", left), ("right", right))
        done = put(rich(), tmp_path, *where)
        assert (done.done, text(left).count(on), text(right).count(on)) == (True, 4, 0)
        assert done.left_out == {"right": ["the leaf enable-ingress-filtering"]}
        assert "<admin-idle-slope>" in text(right)
        again = put(rich(), tmp_path, *where)
        assert (again.done, again.changes) == (False, {"left": [], "right": []})
        assert [one.name for one in tmp_path.glob("before*.json")] == ["before.json"]


def test_the_error_of_a_server_that_does_not_know_a_node_is_shown(tmp_path: Path) -> None:
    """netconfd 2.13 loads the module of stream gates, but ignores nodes that an augment of a group adds."""
    runs = load_variants(ROOT / "scenarios/tutorial/5-policing.yaml")
    document = next(one for run in runs if "policing" in (one := plan(run).document))
    node = document["nodes"][document["policing"][0]["node"]]["name"]
    with NetconfServer(tmp_path / "s", MODULES, load=(*BRIDGE, "ieee802-dot1q-psfp-bridge")) as server:
        with pytest.raises(BackendError) as error:
            put(document, tmp_path, (node, server))
        assert (
            f"{node}: it refuses: unknown object (unknown-element): psfp-bridge:numerator, at /nc:rpc"
            in str(error.value)
        )
        assert "psfp-bridge:admin-cycle-time" in str(error.value)
        assert "nothing was changed on any device" in str(error.value)
        assert "<name>eth1" not in text(server)
