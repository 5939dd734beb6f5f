"""The job's script: a shell parses its templates, values are quoted, and no value becomes a command."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from support.kernel_text import script_of, understood
from support.planned import document_of, plan_of
from support.star import GATES, STAR
from tsnbench.backends.kernel.environment import Environment
from tsnbench.backends.kernel.shell import after_epoch, heredoc, on_wall
from tsnbench.backends.kernel.tsnport import TSNPORT
from tsnbench.backends.kernel.unsupported import unsupported
from tsnbench.backends.kernel.veth import VETH
from tsnbench.errors import BackendError

CHANGING = GATES.replace("gates: {", "gates: {before: [6], changes: [{at: 5 ms, base-time: 8 ms, ").replace(
    "changes: [{at: 5 ms, base-time: 8 ms, cycle",
    "changes: [{at: 5 ms, base-time: 8 ms, entries: [{open: all, for: 1 ms}]}], cycle",
)
FAULTS = "faults: [{loss: 1 %, on: controller -> switch}, {down: disk -> switch, at: 5 ms, for: 1 ms}]\n"
STAGES = "hosts: {controller: low-latency, robot: low-latency}\ntaps: {stages: [wakeup, app-rx]}\n"
CLOCKS = "clocks: {gptp: {grandmaster: switch, pcp: 6}}\n"
TEXTS = {
    "veth": (VETH, STAR.replace("SHAPER", GATES) + FAULTS + STAGES),
    "tsnport": (TSNPORT, STAR.replace("SHAPER", CHANGING) + FAULTS + STAGES),
    "clocks": (TSNPORT, STAR.replace("SHAPER", GATES) + FAULTS + CLOCKS),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_shell_understands_every_part_of_the_templates(name):
    device, text = TEXTS[name]
    script = script_of(plan_of(text), device)
    whole = {
        "veth": ("tcpdump", "--sights", "listen", "cat >/tmp/steps <<END"),
        "tsnport": ("/initial", "p0/faults", "--sights", "cat >/tmp/steps-n3 <<END", "/lists"),
        "clocks": ("--phc", "chrt -f 45", "clock-3/samples", " $control/clock-0/granularity_ns "),
    }
    for part in whole[name]:
        assert part in script, part
    understood(script)
    if shutil.which("shellcheck"):
        words = ["shellcheck", "-s", "sh", "-S", "warning", "-e", "SC2086,SC2046", "-"]
        checked = subprocess.run(words, input=script.encode(), capture_output=True, check=False)
        assert checked.returncode == 0, checked.stdout.decode()


def test_a_path_is_one_word(tmp_path):
    place = tmp_path / "a folder; touch $(echo struck)"
    place.mkdir()
    program = place / "ip"
    program.write_text('#!/bin/sh\necho "$@" >"$(dirname "$0")/told"\n')
    program.chmod(0o755)
    plan = plan_of(TEXTS["tsnport"][1])
    script = script_of(
        plan, TSNPORT, own=Environment(ip=str(program), scratch=str(place), results=str(place))
    )
    head, told, _ = script.partition("\nEND\n")
    # The shell's own set-up and the call of the program are the only commands.
    done = subprocess.run(["sh", "-c", head + told], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (place / "told").read_text() == f"-batch {place}/told\n"
    assert not (tmp_path / "struck").exists()


def test_lines_hold_no_shell_syntax_but_instants():
    line = f"base-time {after_epoch(-5)} from {on_wall(7)}"
    assert heredoc([line]) == "base-time $((EPOCH-5)) from $((STAMPED+7))"
    for text in ("$(reboot)", "`reboot`", "$HOME", "a\\b", "$((EPOCH+1+$(reboot)))", "a\nEND\nreboot"):
        with pytest.raises(BackendError, match="expected a line"):
            heredoc([f"fdb add {text} dev p0"])


def _in_order(script: str, *parts: str) -> None:
    places = [script.index(f"\n{part}") for part in parts]
    assert places == sorted(places)
    assert script.count("\nchoose ") == 1


def test_the_zero_is_chosen_once_captures_and_talkers_are_ready():
    script = script_of(plan_of(STAR.replace("SHAPER", "{queues: {classes: {6: 1, 0: 0}}}")), VETH)
    _in_order(
        script, "say captures begin", "say talkers begin", "while set -- ", "choose 2\n", "say measuring"
    )
    assert " --epoch-from /tmp/epoch " in script
    # Two stations of three are talkers; the steps of a fault and a listener with stages are programs, too.
    assert "[ $# -lt 2 ]" in script
    assert "[ $# -lt 4 ]" in script_of(plan_of(TEXTS["veth"][1]), VETH)


def test_commands_with_instants_follow_the_choice_of_the_zero():
    script = script_of(plan_of(TEXTS["veth"][1]), VETH)
    head, _, told = script.partition("\nchoose $took\n")
    assert "base-time $((EPOCH-2000000000))" in told
    assert "$((EPOCH" not in head.partition("say captures begin")[0]
    # The device's own set-up names instants from the beginning on, so the zero is chosen first.
    script = script_of(plan_of(TEXTS["tsnport"][1]), TSNPORT)
    _in_order(script, "choose 2\n", "netns add n0", "say talkers begin", "say measuring")


def test_an_address_of_a_plan_is_a_mac_address():
    document = document_of(STAR.replace("SHAPER", "{}"))
    for device in (VETH, TSNPORT):
        document["streams"][0]["destination_mac"] = "$(reboot)"
        assert unsupported(document, device) == [
            "stream loop: an address that is no MAC address: '$(reboot)'"
        ]


def test_a_dilated_run_has_the_gate_changes_before_its_end():
    plan = plan_of(TEXTS["tsnport"][1])
    script = script_of(plan, TSNPORT, 10)
    steps = script.partition("cat >/tmp/steps-n3 <<END\n")[2].partition("END")[0].splitlines()
    # The first word is in the Plan's time, the list in the kernel's time.
    assert [line.partition("\t")[0] for line in steps] == ["5000000"]
    assert "base-time $((EPOCH+80000000)) sched-entry S 03 10000000 cycle-time 10000000" in steps[0]
