"""Slopes and credits of a shaper as ``tc`` and devices have them: what is given, and what follows.

At 1 Gbit/s, 1542 octets in the way let 98.688 Mbit/s gather 12336 bit * 0.098688 = 1217.4 bit. A frame of
1000 octets has 1020 on the wire: 8160 bit * 0.901312 = 7354.7 bit. Of 1542 octets, 11118.6 bit.
"""

from __future__ import annotations

from typing import Any

import pytest

from support.planned import document_of, plan_of, refusal_text
from tsnbench.planning.shaping.cbs import Given, SrClass, credit_based_shapers
from tsnbench.planning.shaping.cbs_given import differing
from tsnbench.scenario.errors import ScenarioErrors

TEXT = """\
name: given
duration: 10 ms
network:
  stations: [a, b]
  links: {rate: 1 Gbit/s, between: [a-b]}
  queues: {classes: {6: 1, 0: 0}}
streams:
  s: {from: a, to: b, pcp: 6, frame: 1000 B, period: 125 us}
shapers:
  a -> b:
    cbs: {6: {GIVEN}}
"""
PASTED = (
    "idle-slope: 98688 kbit/s, send-slope: -901312 kbit/s, hi-credit: 153 octets, lo-credit: -1389 octets"
)
LINUX = {"idleslope": 98_688, "sendslope": -901_312, "hicredit": 153, "locredit": -1_389}
"""The example of tc-cbs(8)."""


def shaper(given: str, more: str = "") -> Any:
    return document_of(TEXT.replace("GIVEN", given) + more)["ports"][0]["classes"][1]["cbs"]


def warned(given: str, more: str = "") -> list[tuple[str, str, str]]:
    found = plan_of(TEXT.replace("GIVEN", given) + more).warnings
    return [(one.kind, one.text, one.hint) for one in found]


def test_the_example_of_tc_is_taken_as_it_is() -> None:
    """It counts full frames, and cuts 1389.8 octets off."""
    assert shaper(PASTED) == {
        "idle_slope_bps": 98_688_000,
        "send_slope_bps": -901_312_000,
        "hi_credit_bits": 1_224,
        "lo_credit_bits": -11_112,
        "linux": LINUX,
    }
    assert warned(PASTED) == []


def test_each_value_that_is_left_out_follows() -> None:
    follows = {"hi_credit_bits": 1_218, "lo_credit_bits": -7_355}
    assert shaper("idle-slope: 98688 kbit/s") == shaper("bandwidth: 98688 kbit/s")
    own = shaper("idle-slope: 98688 kbit/s")
    assert own == {"idle_slope_bps": 98_688_000, "send_slope_bps": -901_312_000, **follows} | {
        "linux": {**LINUX, "locredit": -920}
    }
    assert shaper("idle-slope: 98688 kbit/s, hi-credit: 1220 bit") == {**own, "hi_credit_bits": 1_220}
    # 8160 bit at -0.45: the lowest credit follows from the send slope in force.
    assert shaper("idle-slope: 98688 kbit/s, send-slope: -450 Mbit/s") == own | {
        "send_slope_bps": -450_000_000,
        "lo_credit_bits": -3_672,
        "linux": {**LINUX, "sendslope": -450_000, "locredit": -459},
        "follows": {"send_slope_bps": -901_312_000},
    }
    # From the streams: 8160 bit every 125 us.
    assert shaper("send-slope: -934720 kbit/s")["idle_slope_bps"] == 65_280_000


def test_bits_are_rounded_away_from_zero_for_tc() -> None:
    found = shaper(
        "idle-slope: 98688001 bit/s, send-slope: -901311999 bit/s, hi-credit: 1217 bit, lo-credit: -7361 bit"
    )
    assert (found["hi_credit_bits"], found["lo_credit_bits"]) == (1_217, -7_361)
    assert found["linux"] == {"idleslope": 98_689, "sendslope": -901_312, "hicredit": 153, "locredit": -921}


@pytest.mark.parametrize(
    ("given", "kind", "text", "write"),
    [
        (
            "send-slope: -90131 kbit/s",
            "given-send-slope",
            # 98.688 * 1000 / 188.819.
            "a send slope of -90.131 Mbit/s, idle slope less rate is -901.312 Mbit/s: "
            "in the long run it passes 522.659 Mbit/s, not 98.688 Mbit/s",
            "send-slope: -901312 kbit/s",
        ),
        (
            "hi-credit: 153 bit",
            "given-hi-credit",
            "a highest credit of 153 bit (19.1 octets), up to 1218 bit (152.2 octets) can gather: "
            "the rest is lost, and the class passes less",
            "hi-credit: 1218 bit",
        ),
        (
            "hi-credit: 1224 octets",
            "given-hi-credit",
            "a highest credit of 9792 bit (1224 octets), up to 1218 bit (152.2 octets) can gather: "
            "it is never reached",
            "hi-credit: 1218 bit",
        ),
        (
            "lo-credit: -1389 bit",
            "given-lo-credit",
            # 98.688 * 1000 / (98.688 + 901.312 * 1389 / 7355).
            "a lowest credit of -1389 bit (-173.6 octets), "
            "the debt of its largest frame is 7355 bit (919.4 octets): "
            "the rest of the debt is cancelled, and the class may pass 367.004 Mbit/s",
            "lo-credit: -7355 bit",
        ),
        (
            "lo-credit: -11112 octets",
            "given-lo-credit",
            "a lowest credit of -88896 bit (-11112 octets), "
            "the debt of its largest frame is 7355 bit (919.4 octets): "
            "it is never reached",
            "lo-credit: -7355 bit",
        ),
    ],
)
def test_a_value_that_does_not_follow_is_told_with_the_one_that_does(
    given: str, kind: str, text: str, write: str
) -> None:
    own = f"idle-slope: 98688 kbit/s, {given}"
    hint = f"write {write}, or leave it out: it follows from the idle slope"
    assert warned(own) == [(kind, f"class 1 has {text}", hint)]
    assert warned(f"idle-slope: 98688 kbit/s, {write}") == []


@pytest.mark.parametrize(
    "given", ["hi-credit: 152 octets", "hi-credit: 153 octets", "lo-credit: -1390 octets"]
)
def test_octets_may_be_rounded_in_any_direction(given: str) -> None:
    assert warned(f"idle-slope: 98688 kbit/s, {given}") == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (Given(send_slope=-900_000_999), None),
        (Given(send_slope=-900_001_000), {"send_slope_bps": -900_000_000}),
        (Given(hi_credit=1_226), {"hi_credit_bits": 1_234}),
        (Given(hi_credit=1_227), None),
        (Given(hi_credit=1_241), None),
        (Given(hi_credit=1_242), {"hi_credit_bits": 1_234}),
        (Given(lo_credit=-12_344), {"lo_credit_bits": -9_000}),
        (Given(lo_credit=-12_343), None),
        (Given(lo_credit=-8_993), None),
        (Given(lo_credit=-8_992), {"lo_credit_bits": -9_000}),
    ],
)
def test_a_whole_unit_of_tc_is_too_much(given: Given, told: Any) -> None:
    """100 Mbit/s of 1 Gbit/s, frames of 1250 octets: 1234 and -9000 bit, or -12336 for full frames."""
    (shaper,) = credit_based_shapers([SrClass(100_000_000, 1250, given)], 1_000_000_000)
    assert differing(shaper) == told


def test_a_reservation_passes_what_both_slopes_let_it() -> None:
    """65.28 Mbit/s arrive; 98.688 * 1000 / (98.688 + 1500) = 61.731 pass."""
    found = warned("idle-slope: 98688 kbit/s, send-slope: -1500 Mbit/s")
    assert [kind for kind, *_ in found] == ["class-over-reservation", "given-send-slope"]
    assert "its shaper passes 61.731 Mbit/s" in found[0][1]


GATES = "    gates: {cycle: 500 us, entries: [{open: [6, 0], for: 250 us}, {open: [0], for: 250 us}]}\n"


def test_beside_gates_the_send_slope_moves_with_the_idle_slope_and_given_credits_stay() -> None:
    """Open half of the time: 197.376 Mbit/s. Behind the frame in the way 2434.8 bit gather."""
    found = shaper(PASTED, GATES)
    assert (found["idle_slope_bps"], found["send_slope_bps"]) == (197_376_000, -802_624_000)
    assert (found["hi_credit_bits"], found["lo_credit_bits"], found["linux"]) == (1_224, -11_112, LINUX)
    needed = shaper("idle-slope: 98688 kbit/s", GATES)["hi_credit_bits"]
    assert found["follows"] == {"hi_credit_bits": needed}
    assert needed >= 2_435
    own = f"idle-slope: 98688 kbit/s, hi-credit: {needed} bit"
    assert "follows" not in shaper(own, GATES)
    # A warning has the slopes that are written. 197.376 * 1000 / (197.376 + 901.312) pass half of the time.
    (told,) = warned("idle-slope: 98688 kbit/s, send-slope: -1 Gbit/s", GATES)
    assert told[1] == (
        "class 1 has a send slope of -1 Gbit/s, idle slope less rate is -901.312 Mbit/s: "
        "in the long run it passes 89.823 Mbit/s, not 98.688 Mbit/s"
    )
    assert told[2].startswith("write send-slope: -901312 kbit/s")
    # It owes 8160 bit * 0.802624 = 6550: half of 197.376 * 1000 / (197.376 + 802.624 * 1000 / 6550).
    (told,) = warned("idle-slope: 98688 kbit/s, lo-credit: -1000 bit", GATES)
    assert told[1].endswith("the class may pass 308.483 Mbit/s")
    problem = refusal_text(shaper, "idle-slope: 98688 kbit/s, send-slope: -98688 kbit/s", GATES)
    assert problem.endswith(
        "expected a send slope below -98.688 Mbit/s, by which gates raise the idle slope of class 1, "
        "found -98.688 Mbit/s\n  hint: leave send-slope out"
    )


def test_a_class_without_frames_has_no_warning() -> None:
    """No frame of class 1 leaves b, and the credits are those of a's frames."""
    every = TEXT.replace("a -> b:\n", "all:\n")
    given = "{idle-slope: 98688 kbit/s, hi-credit: 1218 bit, lo-credit: -7355 bit}"
    assert list(plan_of(every.replace("{GIVEN}", given)).warnings) == []


def test_a_kernel_of_a_host_gets_the_given_numbers() -> None:
    more = "    qdisc: {cbs: software}\nhosts: {default: low-latency}\n"
    text = TEXT.replace("GIVEN", PASTED) + more
    (_, child) = document_of(text)["ports"][0]["qdisc"]["children"]
    assert child == {"kind": "cbs", **LINUX, "limit_frames": 1_000}
    wrong = TEXT.replace("GIVEN", PASTED.replace("153 octets", "1224 octets")) + more
    (found,) = [one for one in plan_of(wrong).warnings if one.kind.startswith("given")]
    assert found.text.endswith("(152.2 octets) can gather: after a pause the class sends more at once")


@pytest.mark.parametrize(
    ("given", "expected", "hint"),
    [
        ("send-slope: 901312 kbit/s", "a negative rate with a unit", "write -901312 kbit/s"),
        ("send-slope: -901312", "a negative rate with a unit", "write -901312kbit/s"),
        ("send-slope: 0 kbit/s", "a negative rate with a unit", ""),
        ("lo-credit: 1389 B", "a negative credit with a unit", "write -1389 B"),
        ("lo-credit: -2 Mbit", "a negative credit with a unit", "write it like"),
        ("lo-credit: -1100000000 kB", "a credit from -137438953472 B to 0", ""),
        ("hi-credit: 153", "a credit with a unit", "write 153B"),
        ("hi-credit: 8 b", "a credit with a unit", "write 8B"),
        ("idle-slope: 7 Mbit/s, bandwidth: 7 Mbit/s", "idle-slope or bandwidth", "both are the same"),
        ("idleslope: 98688 kbit/s", "a key of a CBS class", "did you mean idle-slope?"),
    ],
)
def test_mistakes_are_told_with_what_to_write(given: str, expected: str, hint: str) -> None:
    with pytest.raises(ScenarioErrors) as raised:
        shaper(given)
    problem = str(raised.value)
    assert f"expected {expected}" in problem
    assert hint in problem


def test_slopes_without_a_class_are_told_where_they_belong() -> None:
    with pytest.raises(ScenarioErrors) as raised:
        document_of(TEXT.replace("{6: {GIVEN}}", "{idle-slope: 7 Mbit/s}"))
    problem, hint = str(raised.value).splitlines()
    assert problem.endswith("expected a mapping of classes to bandwidth, found the keys of a CBS class")
    assert hint == "  hint: write cbs: {6: {idle-slope: 7 Mbit/s}}"
