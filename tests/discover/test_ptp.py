"""What pmc says of ptp4l, as text and in a scenario; recorded of linuxptp 3.1.1 on veth."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discover.recorded import said
from tsnbench.discover import ptp
from tsnbench.errors import ContentError
from tsnbench.hosts.remote.answers import Done

TEXT = """\
sending: GET DEFAULT_DATA_SET
sending: GET PARENT_DATA_SET
sending: GET PORT_DATA_SET
\tOWN-0 seq 0 RESPONSE MANAGEMENT DEFAULT_DATA_SET
\t\ttwoStepFlag             1
\t\tnumberPorts             1
\t\tpriority1               128
\t\tclockIdentity           OWN
\t\tdomainNumber            0
\tOWN-0 seq 1 RESPONSE MANAGEMENT PARENT_DATA_SET
\t\tparentPortIdentity                    GM-1
\t\tgrandmasterPriority1                  100
\t\tgrandmasterIdentity                   GM
\tOWN-1 seq 2 RESPONSE MANAGEMENT PORT_DATA_SET
\t\tportIdentity            OWN-1
\t\tportState               STATE
\t\tlogSyncInterval         -3
\t\tdelayMechanism          1
"""
STATES = {name: said(name) for name in "abs"}


def identity(host: str) -> str:
    digits = next(iter(STATES[host].ports.values())).mac.replace(":", "")
    return f"{digits[:6]}.fffe.{digits[6:]}"


def clock(own: str, grandmaster: str, state: str = "SLAVE") -> ptp.PtpClock:
    text = TEXT.replace("OWN", identity(own)).replace("GM", identity(grandmaster)).replace("STATE", state)
    found = ptp.read(Done(ptp.LOOK, 0, text, "", 0, 0))
    assert found is not None
    return found


def test_clocks_are_found_by_the_addresses_of_their_ports() -> None:
    clocks = {"a": clock("a", "s"), "s": clock("s", "s", "MASTER")}
    assert list(ptp.notes(clocks, STATES)) == [
        "ptp: a follows s in domain 0: port 1 SLAVE",
        "ptp: s is the grandmaster in domain 0: port 1 MASTER",
    ]
    assert ptp.keys(clocks, STATES, ["a", "b", "s"]) == {
        "grandmaster": "s", "delay": "e2e", "sync-interval": "1/8 s",
    }  # fmt: skip


def test_a_grandmaster_that_is_not_known_is_no_key() -> None:
    far = replace(clock("a", "s"), grandmaster="001122.fffe.334455")
    assert ptp.keys({"a": far}, STATES, ["a", "b", "s"]) is None
    assert list(ptp.notes({"a": far}, STATES)) == [
        "ptp: a follows 001122.fffe.334455 in domain 0: port 1 SLAVE"
    ]
    assert ptp.keys({"a": clock("a", "s"), "b": clock("b", "b")}, STATES, ["a", "b", "s"]) is None
    assert ptp.keys({}, STATES, ["a"]) is None


@pytest.mark.parametrize(("code", "text"), [(127, "pmc: not found"), (0, "sending: GET DEFAULT_DATA_SET\n")])
def test_a_host_without_ptp4l_has_no_clock(code: int, text: str) -> None:
    assert ptp.read(Done(ptp.LOOK, code, text, "", 0, 0)) is None


def test_other_output_is_refused() -> None:
    with pytest.raises(ContentError):
        ptp.read(Done(ptp.LOOK, 0, TEXT.replace("clockIdentity", "clockIdentita"), "", 0, 0))
