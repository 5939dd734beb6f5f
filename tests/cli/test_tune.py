"""``tsnbench tune`` on a terminal: result, neighbouring values, command and exit code, as in the guide."""

from __future__ import annotations

import json
import re
from pathlib import Path

from support.commands import Done, tsnbench

ROOT = Path(__file__).parents[2]
LINE = "scenarios/tutorial/3-cbs-line.yaml"


def tune(*arguments: str) -> Done:
    return tsnbench("tune", LINE, *arguments, cwd=ROOT)


def test_the_answer_is_what_the_guide_prints() -> None:
    done = tune("--last", "hops")
    guide = (ROOT / "docs/guides/tune.md").read_text(encoding="utf-8")
    assert done.returncode == 0
    assert done.stdout + done.stderr in guide


def test_no_answer_is_exit_code_1_with_the_reasons() -> None:
    done = tune("--first", "hops", "--only", "hops=11")
    assert done.returncode == 1
    assert done.stdout == "no hops meets every requirement (1 of 1 values judged)\n"
    assert "11: limited to zgw12: jitter" in done.stderr


def test_json_has_every_evaluation() -> None:
    done = tune("--last", "hops", "--every", "--json")
    (answer,) = json.loads(done.stdout)["answers"]
    assert (answer["value"], answer["certain"], len(answer["evaluations"])) == ("10", True, 11)


def test_one_question_with_a_known_judge_is_needed() -> None:
    for arguments in ((), ("--first", "hops", "--last", "hops"), ("--first", "hops", "--on", "luck")):
        done = tune(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "expected" in done.stderr


def test_how_many_flows_fit_is_what_the_guide_prints() -> None:
    done = tune("--count", "limited", "--only", "hops=3")
    guide = (ROOT / "docs/guides/tune.md").read_text(encoding="utf-8")
    assert done.returncode == 0
    assert done.stdout + done.stderr in guide
    told = json.loads(tune("--count", "limited", "--only", "hops=3", "--json").stdout)["answers"][0]
    assert (told["now"], told["count"], told["tightest"]["unknown"]) == (1, 9, [])


def test_options_of_counting_and_of_values_do_not_mix() -> None:
    for arguments in (
        ("--count", "limited", "--last", "hops"),
        ("--count", "limited", "--every"),
        ("--last", "hops", "--most", "3"),
        ("--count", "nobody"),
        ("--count", "limited", "--most", "0"),
    ):
        done = tune(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert "expected" in done.stderr or "only with" in done.stderr


def test_no_room_for_one_flow_is_exit_code_1() -> None:
    done = tune("--count", "limited", "--only", "hops=11")
    assert done.returncode == 1
    assert done.stdout == "hops 11: not one flow of limited fits (1 number judged)\n"


def test_what_runs_out_first_begins_with_what_is_broken() -> None:
    command = ("plan", "scenarios/tutorial/2-gates.yaml", "--tightest")
    found = json.loads(tsnbench(*command, "--json", cwd=ROOT).stdout)["runs"]
    assert [one["variant"]["port"] for one in found] == ["no-priority", "priority", "gates"]
    without, priority, gates = found
    assert (without["uses"][0]["kind"], without["uses"][0]["where"]) == (
        "requirement",
        "loop at robot: delay",
    )
    assert without["uses"][0]["share"] > 1
    first = priority["uses"][0]
    assert (first["kind"], first["where"]) == ("requirement", "loop at robot: delay")
    assert first["share"] > 1
    assert "gate" in {one["kind"] for one in gates["uses"]}
    done = tsnbench(*command, cwd=ROOT)
    told = done.stdout
    assert done.returncode == 0
    assert "148.5 %" in told


def test_answers_to_questions_of_papers_are_what_the_guide_prints(tmp_path: Path) -> None:
    guide = (ROOT / "docs/guides/tune.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"`([a-z]+\.yaml)`:\n\n```yaml\n(.*?)```", guide, re.S))
    asked = re.findall(
        r"tsnbench tune ([a-z]+\.yaml) ([^\n]*)\n```\n\nprints\n\n```text\n(.*?)```", guide, re.S
    )
    assert [name for name, _, _ in asked] == ["slots.yaml", "window.yaml"]
    for name, options, said in asked:
        (tmp_path / name).write_text(files[name], encoding="utf-8")
        done = tsnbench("tune", name, *options.split(), cwd=tmp_path)
        assert done.stdout + done.stderr == said
