"""The command line as users see it: messages on stderr, data on stdout, and exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from support.commands import tsnbench, uncoded

ROOT = Path(__file__).resolve().parents[2]
UCC = ROOT / "scenarios/papers/engine/ex-ucc.yaml"
GATES = ROOT / "scenarios/tutorial/2-gates.yaml"

SMALL = """\
name: small
duration: 20 ms
network:
  stations: [a, b]
  bridges: [s]
  links: {rate: 1 Gbit/s, between: [a-s, s-b]}
streams:
  x: {from: a, to: b, payload: 1000 B, period: 1 ms, pcp: 3, requires: {delay: LIMIT, loss: 0}}
"""


def small(folder: Path, limit: str = "1 ms") -> Path:
    path = folder / "small.yaml"
    path.write_text(SMALL.replace("LIMIT", limit))
    return path


def test_a_run_ends_with_a_verdict_a_report_and_zero(tmp_path: Path) -> None:
    done = tsnbench("run", small(tmp_path), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("ALL MET (PROVED): 2 requirements, closest x at b: delay ")
    folder = tmp_path / "runs/small"
    assert "report: runs/small/report.html" in done.stderr
    parts = ("plan", "manifest", "counters", "measures", "verdict")
    assert {path.name for path in folder.iterdir()} >= {
        *(f"{part}.json" for part in parts), "observations.parquet", "frames.parquet", "report.html"
    }  # fmt: skip


def test_a_requirement_that_fails_ends_with_one(tmp_path: Path) -> None:
    path = small(tmp_path, "20 us")
    text = path.read_text().replace("[a, b]", "[a, b, c]").replace("[a-s, ", "[a-s, c-s, ")
    path.write_text(text + "  y: {from: c, to: b, payload: 1000 B, period: 1 ms, pcp: 4}\n")
    done = tsnbench("run", path, "--json", "--no-report", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    rows = {row["requirement"]: row for row in run["verdict"]["rows"]}
    assert rows["delay"]["met"] == "no"
    # 1050 octets over two links: twice 8.4 us, and the second preamble and delimiter, 64 ns. The frame first
    # waits for one frame of y with preamble, delimiter and gap.
    assert rows["delay"]["found"] == 16_864 + 1_070 * 8
    assert rows["loss"]["met"] == "yes"


def test_a_limit_that_no_frame_can_keep_is_a_mistake(tmp_path: Path) -> None:
    """Every command names the place of the limit in the file, and runs nothing."""
    path = small(tmp_path, "10 us")
    for command in ("check", "plan", "run"):
        done = tsnbench(command, path.name, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith(
            "small.yaml:8:73: streams.x.requires.delay: expected a limit of at least"
        )
        assert "hint: write delay: 16864 ns or more" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_export_formats_without_a_folder_are_refused(tmp_path: Path) -> None:
    for option in (["--as", "tc"], ["--interface", "a -> s=eth0"]):
        done = tsnbench("plan", small(tmp_path), *option, cwd=tmp_path)
        assert done.returncode == 2
        said = f"{option[0]}: expected --into with it, found none\n  hint: add --into out\n"
        assert uncoded(done.stderr) == said
        assert tsnbench("plan", small(tmp_path), *option, "--into", "out", cwd=tmp_path).returncode == 0


def test_strict_makes_warnings_errors(tmp_path: Path) -> None:
    path = small(tmp_path)
    text = path.read_text().replace("period: 1 ms", "period: 10 us, count: 2").replace(", loss: 0", "")
    path.write_text(text)
    warned = tsnbench("check", path.name, cwd=tmp_path)
    assert warned.returncode == 0
    assert "small.yaml:8:3: streams.x: warning: a -> s, s -> b: load of 1.712 Gbit/s" in warned.stderr
    for command in ("check", "plan", "run"):
        strict = tsnbench(command, path.name, "--strict", cwd=tmp_path)
        assert strict.returncode == 2
        assert warned.stderr.strip() in strict.stderr
        assert "--strict" in strict.stderr
    told = json.loads(tsnbench("check", path.name, "--json", cwd=tmp_path).stdout)
    assert [(one["kind"], one["path"]) for one in told["warnings"]] == [("port-overload", "streams.x")]
    assert told["ok"]


def test_wrong_input_ends_with_two_and_no_traceback(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("name: x\nduration: 5\n")
    for arguments in (
        ["check", broken],
        ["plan", broken],
        ["run", broken],
        ["check", tmp_path / "none.yaml"],
        ["run", tmp_path],
        ["run", small(tmp_path), "--duration", "5"],
        ["run", GATES, "--only", "hops=9"],
        ["run", GATES, "--figures", "gif"],
        ["measure"],
        ["measure", tmp_path],
        ["measure", "--tx", broken],
        ["measure", "--tx", broken, "--rx", broken],
        ["measure", "--tx", tmp_path / "none", "--rx", broken],
        ["report", tmp_path],
        ["nonsense"],
    ):
        done = tsnbench(*arguments, cwd=tmp_path)
        assert done.returncode == 2, (arguments, done.stdout, done.stderr)
        assert done.stderr.strip(), arguments
        assert "Traceback" not in done.stderr, (arguments, done.stderr)


def test_a_complete_run_is_used_again_and_another_one_is_not_overwritten(tmp_path: Path) -> None:
    scenario = small(tmp_path)
    first = tsnbench("run", scenario, "--no-report", cwd=tmp_path)
    assert first.returncode == 0
    folder = tmp_path / "runs/small"
    started = json.loads((folder / "manifest.json").read_text())["started"]
    again = tsnbench("run", scenario, "--no-report", cwd=tmp_path)
    assert again.returncode == 0
    assert again.stdout == first.stdout
    assert json.loads((folder / "manifest.json").read_text())["started"] == started
    named = ("run", scenario, "--seed", "9", "--no-report", "--into", folder)
    other = tsnbench(*named, cwd=tmp_path)
    assert other.returncode == 2
    assert "--force" in other.stderr
    forced = tsnbench(*named, "--force", cwd=tmp_path)
    assert forced.returncode == 0
    assert json.loads((folder / "manifest.json").read_text())["seed"] == 9


def test_foreign_files_are_never_removed(tmp_path: Path) -> None:
    home = tmp_path / "precious"
    home.mkdir()
    (home / "thesis.tex").write_text("years of work")
    done = tsnbench("run", small(tmp_path), "--into", home, "--force", cwd=tmp_path)
    assert done.returncode == 2
    assert (home / "thesis.tex").read_text() == "years of work"


def test_a_sweep_gives_a_folder_per_run_and_one_report(tmp_path: Path) -> None:
    done = tsnbench("run", GATES, "--duration", "5ms", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    folders = sorted(path.name for path in (tmp_path / "runs/gates").iterdir() if path.is_dir())
    assert folders == ["port=gates", "port=no-priority", "port=priority"]
    assert (tmp_path / "runs/gates/report.html").exists()
    only = tsnbench("run", GATES, "--duration", "5ms", "--only", "port=gates", "--no-report", cwd=tmp_path)
    assert only.returncode == 0, only.stderr


def test_the_folder_of_a_sweep_says_where_its_runs_are(tmp_path: Path) -> None:
    tsnbench("run", GATES, "--duration", "2ms", "--no-report", cwd=tmp_path)
    for command in ("measure", "replay"):
        done = tsnbench(command, "runs/gates", cwd=tmp_path)
        assert done.returncode == 2
        assert "found 3 of them in it" in done.stderr
        assert "'runs/gates/port=gates'" in done.stderr
        assert "tsnbench report also takes all: runs/gates\n" in done.stderr
        assert "tsnbench run makes one" in tsnbench(command, "runs/nothing", cwd=tmp_path).stderr
    assert "tsnbench run makes one" in tsnbench("report", "runs/nothing", cwd=tmp_path).stderr
    # The report takes the folder, or the runs by name: the same page.
    every = sorted(path for path in (tmp_path / "runs/gates").glob("*/"))
    for folders, into in (["runs/gates"], "all"), (every, "named"):
        assert tsnbench("report", *folders, "--into", into, cwd=tmp_path).returncode == 0
    pages = [(tmp_path / into / "report.html").read_text(encoding="utf-8") for into in ("all", "named")]
    assert pages[0] == pages[1]


def test_the_command_of_the_manifest_repeats_the_run(tmp_path: Path) -> None:
    """The command does not contain the directory of the file."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/gates.yaml").write_text(GATES.read_text(encoding="utf-8"), encoding="utf-8")
    options = ("--duration", "2ms", "--seed", "3", "--no-report")
    tsnbench("run", tmp_path / "sub/gates.yaml", *options, cwd=tmp_path)
    first = json.loads((tmp_path / "runs/gates/port=gates/manifest.json").read_text())
    expected = "tsnbench run sub/gates.yaml --only port=gates --duration 2ms --seed 3"
    assert first["command"] == expected.split()
    assert first["title"]
    tsnbench(*first["command"][1:], "--into", "again", "--no-report", cwd=tmp_path)
    again = json.loads((tmp_path / "again/port=gates/manifest.json").read_text())
    assert again["plan"] == first["plan"]
    outside = tsnbench("run", tmp_path / "sub/gates.yaml", *options, cwd=tmp_path / "runs")
    assert outside.returncode in (0, 1), outside.stderr
    manifest = json.loads((tmp_path / "runs/runs/gates/port=gates/manifest.json").read_text())
    assert manifest["command"][2] == "gates.yaml"


def test_plan_prints_what_the_run_folder_holds(tmp_path: Path) -> None:
    printed = json.loads(tsnbench("plan", small(tmp_path), "--json").stdout)
    tsnbench("run", small(tmp_path), "--no-report", cwd=tmp_path)
    assert printed == json.loads((tmp_path / "runs/small/plan.json").read_text())


def test_measuring_a_run_folder_again_gives_the_same(tmp_path: Path) -> None:
    tsnbench("run", small(tmp_path), "--no-report", cwd=tmp_path)
    folder = tmp_path / "runs/small"
    kept = json.loads((folder / "measures.json").read_text())
    done = tsnbench("measure", folder, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["measures"] == kept


def test_listings_name_every_entry() -> None:
    assert json.loads(tsnbench("schema").stdout)["type"] == "object"
    key = tsnbench("schema", "streams.cam.period").stdout
    assert "streams.*.period" in key
    assert "range    1 ns to 240 h" in key
    assert "example  ssh: root@zgw6" in tsnbench("schema", "ssh", "--of", "inventory").stdout
    unknown = tsnbench("schema", "streams.*.perio")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "did you mean period?" in unknown.stderr
    names = [line.split()[0] for line in tsnbench("catalogue", "engine/").stdout.splitlines()]
    assert len(names) == 16
    assert tsnbench("--version").stdout.strip()


def test_bounds_hold_for_the_run(tmp_path: Path) -> None:
    bounds = json.loads(tsnbench("plan", UCC, "--bounds", "--json").stdout)
    upper = {(flow["stream"], flow["listener"]): flow["upper_ns"] for flow in bounds["flows"]}
    done = tsnbench("run", UCC, "--duration", "100ms", "--no-report", "--into", tmp_path / "ucc")
    assert done.returncode == 0, done.stderr
    measures = json.loads((tmp_path / "ucc/measures.json").read_text())
    for path in measures["paths"]:
        assert path["delay"]["max"] <= upper[path["stream"], path["listener"]]
    assert "no bound" in tsnbench("plan", UCC, "--bounds").stdout


def test_unsupported_parts_are_named_before_a_guest_starts(tmp_path: Path) -> None:
    scenario = tmp_path / "small.yaml"
    scenario.write_text(SMALL.replace("LIMIT", "1 ms"))
    cuts = tmp_path / "cuts.yaml"
    cuts.write_text(scenario.read_text() + "shapers: {a -> s: {preemption: {express: [7]}}}\n")
    found = tsnbench("run", cuts, "--on", "vm", "--into", tmp_path / "run")
    assert found.returncode == 2
    assert "port a -> s: preemption" in found.stderr
    assert not (tmp_path / "run").exists()
    for words, said in (
        (("--on", "moon"), "expected simulation, vm, netns or hosts, found moon"),
        (("--dilate", "10"), "--dilate: only for --on vm"),
    ):
        found = tsnbench("run", scenario, *words)
        assert (found.returncode, said in found.stderr) == (2, True)


def test_help_names_what_options_take_and_what_exit_codes_mean() -> None:
    assert "2 the input is wrong" in " ".join(tsnbench("--help").stdout.split())
    for command in ("plan", "run", "measure", "report", "compare", "deploy", "send", "receive", "doctor"):
        options = tsnbench(command, "--help").stdout.partition("Options:")[2]
        assert not re.search(r"--[a-z-]+ <", options), command


def test_catalogue_and_report_as_json(tmp_path: Path) -> None:
    found = tsnbench("catalogue", "sr/", "--json")
    assert "PCP 3" in json.loads(found.stdout)["names"]["sr/A"]
    assert tsnbench("catalogue", "nobody/").returncode == 2
    tsnbench("run", small(tmp_path), "--into", tmp_path / "run", "--no-report")
    found = tsnbench("report", tmp_path / "run", "--json")
    assert json.loads(found.stdout)["report"] == str(tmp_path / "run" / "report.html")


def test_progress_as_json_goes_from_zero_to_the_end_and_names_the_steps(tmp_path: Path) -> None:
    text = SMALL.replace("LIMIT", "1 ms").replace("period: 1 ms", "period: [500 us, 600 us]")
    (tmp_path / "small.yaml").write_text(text.replace("duration: 20 ms", "duration: 2000 s"))
    done = tsnbench("run", "small.yaml", "--progress", "json", cwd=tmp_path)
    assert done.returncode == 0
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    for number, name in ((1, "period 500 us"), (2, "period 600 us")):
        own = [line for line in lines if line.get("number") == number]
        assert {(line["run"], line["count"]) for line in own} == {(name, 2)}
        times = [line["ns"] for line in own if "ns" in line]
        assert times == sorted(times)
        assert times[-1] <= 2_000_000_000_000
        assert {line["of_ns"] for line in own if "ns" in line} == {2_000_000_000_000}
        assert {"measuring"} <= {line.get("step") for line in own}
    assert lines[-1] == {"step": "report of 2 runs"}
    assert "run folder: runs/small" in done.stderr
    wrong = tsnbench("run", "small.yaml", "--progress", "loud", cwd=tmp_path)
    assert (wrong.returncode, uncoded(wrong.stderr)) == (2, "--progress: expected bar or json, found loud\n")


def test_what_cannot_be_measured_is_refused_with_what_is_expected(tmp_path: Path) -> None:
    """``--output`` of a run folder once ended with exit code 0, and wrote nothing."""
    tsnbench("run", small(tmp_path), "--no-report", cwd=tmp_path)
    frames = "hint: runs/small/frames.parquet has one row per frame, once the run is measured"
    for words, said in {
        "runs/small --output x.parquet": f"--output: expected captures of both ends\n{frames}",
        "runs/small --offset 37s": "--offset: expected captures of both ends",
        "small.yaml --output x.parquet": "--output: expected captures of both ends",
        "--tx small.yaml --offset 37s": "--offset: expected captures of both ends",
        "--tx small.yaml": "expected captures of both ends: --tx and --rx",
        "": "expected a run folder, or captures with --tx and --rx",
        "runs/small --tx a --rx b": "expected a run folder, or captures with --tx and --rx",
        "runs/small --below 1us": "--below: expected --sync",
        "runs/small --sync a": "--sync: expected one log and no run folder or capture",
        "--stages": "--stages: expected a run folder, or one of tsnbench send and receive",
        "runs/small --timeout 1s": "--timeout: expected one capture with TRDP telegrams",
    }.items():
        done = tsnbench("measure", *words.split(), cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert uncoded(done.stderr) == f"{said}\n", words
    assert not (tmp_path / "x.parquet").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["report", "small.yaml"], "small.yaml: expected a run folder, found a file"),
        (["study", "run", "small.yaml"], "expected a study, found a scenario"),
        (["check", "study.yaml"], "study.yaml:1:8: expected a scenario, found a study"),
        (["run", "plan.json"], "expected a scenario, found a file of the format tsnbench-plan/1"),
    ],
)
def test_a_file_of_another_kind_gives_one_message(words: list[str], expected: str, tmp_path: Path) -> None:
    tsnbench("init", "small", cwd=tmp_path)
    (tmp_path / "study.yaml").write_text("study: many\nscenario: small.yaml\nrepeat: 2\n", encoding="utf-8")
    (tmp_path / "plan.json").write_text(tsnbench("plan", "small.yaml", "--json", cwd=tmp_path).stdout)
    done = tsnbench(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert expected in done.stderr.splitlines()[0]
    assert done.stderr.count("expected") == 1
