"""The parts of live commands that need no interface: scenarios, launch times, logs."""

from __future__ import annotations

import shutil

import pytest

from support.commands import tsnbench
from tsnbench.errors import InputError
from tsnbench.live import device
from tsnbench.live.sending import Sending, plan_of, said, scenario

ETF = {"kind": "etf", "options": {"clockid": "TAI", "delta": 200_000, "deadline_mode": "off"}}


def test_launch_times_need_an_etf_of_the_same_mode():
    device.etf([{"kind": "mqprio"}, ETF], "eth0", deadline=False)
    with pytest.raises(InputError, match="eth0: expected a queueing discipline with launch times"):
        device.etf([{"kind": "fq_codel"}], "eth0", deadline=False)
    with pytest.raises(
        InputError, match="its etf is in strict mode and drops every frame of a socket in deadline"
    ):
        device.etf([ETF], "eth0", deadline=True)


def test_options_are_a_scenario_and_its_plan_has_this_machines_addresses(monkeypatch):
    monkeypatch.setattr(device, "mac", lambda _: "02:11:22:33:44:55")
    monkeypatch.setattr(device, "heeds_launch_times", lambda *_: None)
    asked = Sending(
        to="eth0", streams={"s": "period: 1 ms, offset: 600 us, payload: 100 B"}, mac="02:00:00:00:00:AA",
        txtime="deadline", advance="250 us", duration="20 ms",
    )  # fmt: skip
    document = plan_of(asked).document
    (stream,) = document["streams"]
    assert stream["socket"] == {"advance_ns": 250_000, "txtime": True, "deadline": True}
    # The timer is set one advance before the launch time.
    assert stream["pattern"]["offset_ns"] == 350_000
    assert stream["destination_mac"] == "02:00:00:00:00:aa"
    assert document["ports"][0]["mac"] == "02:11:22:33:44:55"
    # In the Plan, a talker that does not sleep until its time is a hardware talker.
    plain = Sending(to="eth0", streams={"s": "saturating: true, payload: 100 B"})
    assert "hosts:" not in scenario(plain)
    assert "host" not in plan_of(plain).document["nodes"][0]


def test_the_log_of_a_talker_is_read_by_stream():
    found = said("1 10 2 3000 1500 4 1\n", ["a", "b"])
    assert found["streams"] == [
        {
            "stream": "b", "frames": 10, "refused": 2, "late_mean_ns": 1500, "late_most_ns": 3000,
            "launch_times_missed": 4, "launch_times_invalid": 1,
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("lo --period 1ms --payload 100B --txtime late", "--txtime: expected strict or deadline"),
        ("lo --period 1 --payload 100B", "expected a duration with a unit, found 1"),
        ("lo --period 1ms --payload 100B --mac me", "--mac: expected an address"),
        ("lo --stream x", "--stream: expected 'name:"),
        ("lo --period 1ms", "streams.stream"),
        ("v9 --period 1ms --payload 100B", "v9: expected a network interface, found none"),
        pytest.param(
            "lo --period 1ms --payload 100B --txtime strict", "launch times (SO_TXTIME), found none",
            marks=pytest.mark.skipif(shutil.which("tc") is None, reason="tc (iproute2) is missing"),
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_sent_is_refused_in_words(words: str, expected: str):
    done = tsnbench("send", "--interface", *words.split())
    assert (done.returncode, expected in done.stderr) == (2, True), done.stderr
