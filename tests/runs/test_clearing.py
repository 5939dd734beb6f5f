"""Only files that tsnbench wrote are removed, whatever the names and places of others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.small_plan import small_plan
from tsnbench.backends.simulation import Simulation
from tsnbench.campaign.campaign import Options, run_one
from tsnbench.errors import InputError
from tsnbench.runs import FolderError, State
from tsnbench.runs.clearing import claim, clear
from tsnbench.runs.folder import begin
from tsnbench.runs.lock import held


def everything(folder: Path) -> dict[str, str | None]:
    """All entries of a folder: files with their content, links with their targets."""
    return {
        str(path.relative_to(folder)): f"-> {path.readlink()}"
        if path.is_symlink()
        else path.read_bytes().hex()
        if path.is_file()
        else None
        for path in sorted(folder.rglob("*"))
    }


def _notes(folder: Path) -> str:
    (folder / "notes.md").write_text("precious")
    return "notes.md"


def _capture(folder: Path) -> str:
    (folder / "captures" / "mine.pcapng").write_text("precious")
    return "captures/mine.pcapng"


def _deep(folder: Path) -> str:
    (folder / "captures" / "deep").mkdir()
    (folder / "captures" / "deep" / "a-dut-tx.pcapng").write_text("precious")
    return "captures/deep"


def _figure(folder: Path) -> str:
    (folder / "figures").mkdir()
    (folder / "figures" / "gates.svg").write_text("precious")
    return "figures/gates.svg"


def _part(folder: Path) -> str:
    (folder / "thesis.part").write_text("precious")
    return "thesis.part"


def _scenario(folder: Path) -> str:
    (folder / "scenario.yaml").write_text("precious")
    return "scenario.yaml"


def _link(folder: Path) -> str:
    precious = folder.parent / "precious.json"
    precious.write_text("precious")
    (folder / "verdict.json").symlink_to(precious)
    return "verdict.json"


def _linked_folder(folder: Path) -> str:
    precious = folder.parent / "precious"
    precious.mkdir()
    (precious / "gates.svg").write_text("precious")
    (folder / "figures").symlink_to(precious)
    return "figures"


def _folder(folder: Path) -> str:
    (folder / "verdict.json").mkdir()
    return "verdict.json"


def _page(folder: Path) -> str:
    (folder / "report.html").write_text("<html>precious</html>")
    return "report.html"


def _git(folder: Path) -> str:
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("precious")
    return ".git"


def _other_run(folder: Path) -> str:
    (folder / "nested").mkdir()
    (folder / "nested" / "manifest.json").write_bytes((folder / "manifest.json").read_bytes())
    return "nested"


@pytest.mark.parametrize(
    "put",
    [
        _notes,
        _capture,
        _deep,
        _figure,
        _part,
        _scenario,
        _link,
        _linked_folder,
        _folder,
        _page,
        _git,
        _other_run,
    ],
)
@pytest.mark.parametrize("state", ["complete", "interrupted", "running"])
def test_files_of_the_user_beside_a_run_are_named_and_stay(
    tmp_path: Path, put: Callable[[Path], str], state: str
) -> None:
    plan = small_plan(tmp_path)
    run = Simulation().execute(plan, tmp_path / "run", pcap=True)
    manifest = run.folder / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"state": state}))
    name = put(run.folder)
    before = everything(tmp_path)
    other = small_plan(tmp_path, duration="2 ms")
    for options in (Options(report=False), Options(report=False, replace=True), Options(force=True)):
        with pytest.raises(InputError) as caught:
            run_one(other, run.folder, options)
        if options.force:
            assert f"holds files that no run has written: {name}" in str(caught.value)
    with pytest.raises(FolderError):
        other.run(on=Simulation(), into=run.folder)
    after = everything(tmp_path)
    assert {key: after[key] for key in before if key != "small.yaml"} == {
        key: before[key] for key in before if key != "small.yaml"
    }
    assert not (set(after) - set(before))


OTHERS = [
    # ``tsnbench plan s.yaml --json > plan.json; tsnbench run s.yaml --into .``
    ("plan.json", None, ".git/HEAD"),
    ("plan.json", None, ""),
    *(
        ("manifest.json", text, "icons/a.png")
        for text in ('{"manifest_version": 3}', '{"state": "failed"}', "[]", "{", "")
    ),
]


@pytest.mark.parametrize(("name", "text", "beside"), OTHERS)
def test_a_plan_of_the_user_and_a_manifest_of_another_program_are_not_ours(
    tmp_path: Path, name: str, text: str | None, beside: str
) -> None:
    """None: a Plan, which is the user's, alone and beside other files: it is no unfinished run."""
    plan = small_plan(tmp_path)
    folder = tmp_path / "home"
    (folder / beside).parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(plan.to_json() if text is None else text)
    if beside:
        (folder / beside).write_text("precious")
    before = everything(folder)
    words = "expected an empty folder or a run folder" if text is None else None
    for options in (Options(), Options(force=True), Options(replace=True)):
        with pytest.raises(FolderError, match=words):
            run_one(plan, folder, options)
    assert everything(folder) == before


def test_a_manifest_cannot_have_other_files_removed(tmp_path: Path) -> None:
    """Anybody can edit a manifest, or send one."""
    plan = small_plan(tmp_path)
    (tmp_path / "precious.txt").write_text("precious")
    run = Simulation().execute(plan, tmp_path / "run")
    (run.folder / "notes.md").write_text("precious")
    names = ["notes.md", "../precious.txt", str(tmp_path / "precious.txt"), "captures/../notes.md"]
    manifest = run.folder / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"files": names}))
    with pytest.raises(FolderError, match=r"notes\.md"):
        clear(run.folder)
    (run.folder / "notes.md").unlink()
    clear(run.folder)
    assert list(run.folder.iterdir()) == []
    assert (tmp_path / "precious.txt").read_text() == "precious"


def test_all_files_of_a_run_are_removed(tmp_path: Path) -> None:
    from tsnbench import report
    from tsnbench.measure import measure_run

    plan = small_plan(tmp_path)
    outcome = run_one(plan, tmp_path / "run", Options(pcap=True, figures=("svg",)))
    folder = outcome.run.folder
    measure_run(folder, "tx", "rx")
    report.write(folder, figures=("png",))
    assert len(list((folder / "captures").iterdir())) == len(plan.document["taps"]) > 0
    assert {path.suffix for path in (folder / "figures").iterdir()} == {".svg", ".png"}
    clear(folder)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("strange", ["", "hosts/mine.txt", "hosts/a/mine.txt", "hosts/a/deep/before.json"])
def test_files_of_hosts_are_removed_and_files_of_the_user_stay(tmp_path: Path, strange: str) -> None:
    folder = Simulation().execute(small_plan(tmp_path), tmp_path / "run").folder
    names = [
        "attempts.json",
        "sync.parquet",
        "hosts/deploy.json",
        "hosts/a/before.json",
        "hosts/a/commands.jsonl",
    ]
    claim(folder, names)
    for name in [*names, *([strange] if strange else [])]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    if not strange:
        clear(folder)
        assert list(folder.iterdir()) == []
        return
    before = everything(folder)
    with pytest.raises(FolderError, match="hosts/"):
        clear(folder)
    assert everything(folder) == before


def test_a_folder_after_a_kill_during_its_removal_is_still_a_run_folder(tmp_path: Path) -> None:
    """The manifest is removed last."""
    plan = small_plan(tmp_path)
    run = Simulation().execute(plan, tmp_path / "run", pcap=True)
    removed: list[str] = []
    whole = Path.unlink

    def unlink(self: Path, missing_ok: bool = False) -> None:
        removed.append(self.name)
        if len(removed) == 3:
            raise KeyboardInterrupt
        whole(self, missing_ok)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "unlink", unlink)
        with pytest.raises(KeyboardInterrupt):
            clear(run.folder)
    assert (run.folder / "manifest.json").exists()
    clear(run.folder)
    assert list(run.folder.iterdir()) == []


@pytest.mark.parametrize("name", [".tsnbench.lock", "manifest.json.4711.part"])
def test_a_new_folder_after_a_kill_can_be_used_again(tmp_path: Path, name: str) -> None:
    plan = small_plan(tmp_path)
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / name).write_text("{")
    assert run_one(plan, folder, Options(report=False)).run.state is State.COMPLETE
    assert not (folder / name).exists()


def test_a_folder_behind_a_link_is_cleared_and_the_link_stays(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    for duration in ("1 ms", "2 ms"):
        plan = small_plan(tmp_path, duration=duration)
        assert run_one(plan, tmp_path / "link", Options(report=False, force=True)).run.state is State.COMPLETE
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "disk" / "manifest.json").exists()


def test_a_run_that_is_refused_leaves_the_one_before_it(tmp_path: Path) -> None:
    """An unsupported Plan is found before the old run is removed, and the manifest keeps its command."""
    from tsnbench.backends.protocol import Backend

    class Refusing(Backend):
        name = "simulation"

        def prepare(self, plan: object, folder: Path) -> None:
            raise InputError("not here")

        def restore(self) -> None: ...

    plan = small_plan(tmp_path)
    run_one(plan, tmp_path / "run", Options(report=False), about={"command": ["tsnbench", "run", "a.yaml"]})
    before = everything(tmp_path / "run")
    about = {"command": ["tsnbench", "run", "a.yaml", "--seed", "9"]}
    other = small_plan(tmp_path, duration="2 ms")
    with pytest.raises(InputError, match="not here"):
        run_one(other, tmp_path / "run", Options(force=True), on=Refusing(), about=about)
    assert everything(tmp_path / "run") == before


def test_a_folder_that_a_refused_run_made_goes_with_it(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    with pytest.raises(InputError), held(tmp_path / "deep" / "run"):
        raise InputError("no")
    assert not (tmp_path / "deep").exists()
    with held(tmp_path / "deep" / "run"):
        begin(plan, tmp_path / "deep" / "run", "simulation")
    assert (tmp_path / "deep" / "run" / "manifest.json").exists()


def test_a_page_that_tsnbench_did_not_write_is_not_overwritten(tmp_path: Path) -> None:
    from tsnbench import report

    plan = small_plan(tmp_path)
    run = Simulation().execute(plan, tmp_path / "run")
    run.measures()
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "report.html").write_text("<html>precious</html>")
    with pytest.raises(FolderError, match=r"report\.html that tsnbench has not written"):
        report.write(run, into=tmp_path / "site")
    assert (tmp_path / "site" / "report.html").read_text() == "<html>precious</html>"
    page = report.write(run, into=tmp_path / "new")
    assert report.write(run, into=tmp_path / "new") == page


def test_files_are_noted_only_in_folders_of_ours(tmp_path: Path) -> None:
    claim(tmp_path, ["figures/a.svg"])
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_used_is_not_called_a_full_disk(tmp_path: Path) -> None:
    from tsnbench.foreign import UnusableFileError
    from tsnbench.runs.errors import writing

    with pytest.raises(UnusableFileError, match="expected a file, found a FIFO"), writing(tmp_path):
        raise UnusableFileError(tmp_path / "measures.json", "a file", "a FIFO")
