"""``tsnbench tune`` on a terminal: answer, neighbours, command and exit code, as the guide shows them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINE = "scenarios/tutorial/3-cbs-line.yaml"


def tune(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tsnbench", "tune", LINE, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)


def test_the_answer_is_what_the_guide_prints() -> None:
    done = tune("--last", "hops")
    guide = (ROOT / "docs/guides/tune.md").read_text(encoding="utf-8")
    assert done.returncode == 0
    assert done.stdout + done.stderr in guide


def test_no_answer_is_exit_code_1_with_the_reasons() -> None:
    done = tune("--first", "hops", "--only", "hops=7")
    assert done.returncode == 1
    assert done.stdout == "no hops meets every requirement (1 of 1 values judged)\n"
    assert "7: limited to zgw8: jitter" in done.stderr


def test_json_has_every_evaluation() -> None:
    done = tune("--last", "hops", "--every", "--json")
    (answer,) = json.loads(done.stdout)["answers"]
    assert (answer["value"], answer["certain"], len(answer["evaluations"])) == ("6", True, 7)


def test_one_question_with_a_known_judge_is_needed() -> None:
    for arguments in ((), ("--first", "hops", "--last", "hops"), ("--first", "hops", "--by", "luck")):
        done = tune(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "expected" in done.stderr
