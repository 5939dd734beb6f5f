"""Runs on kernels that the page starts: what is possible here, the run itself, and that nothing is left."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.commands import tsnbench
from support.planned import plan_of
from tsnbench.backends import netns, vm
from tsnbench.backends.netns import state
from tsnbench.doctor import answers
from tsnbench.ui.jobs import BusyError, Jobs
from tsnbench.ui.places import HOSTS, NETNS, VM, Place, chosen
from ui.conftest import SCENARIO, Server, serving
from ui.test_jobs import _in, ended, jobs_of, until
from ui.test_jobs import state as state_of

SLOW = SCENARIO.replace("1 Gbit/s", "100 Mbit/s").replace("500 us}", "500 us, requires: {delay: 1 ms}}")
LAB = """\
hosts:
  one: {ssh: root@one, ports: {net: eth1}}
  b: {ssh: root@b, ports: {left: eth1, right: eth2}}
  two: {ssh: root@two, ports: {net: eth1}}
wires: [one.net - b.left, b.right - two.net]
"""


@pytest.fixture
def guests() -> None:
    if why := vm.unavailable():
        pytest.skip(f"this machine runs no guests: {why}")


@pytest.fixture
def spaces() -> None:
    if why := netns.unavailable():
        pytest.skip(f"this kernel makes no networks: {why}")


def offers(server: Server, text: str, **more: Any) -> dict[str, dict[str, Any]]:
    asked = json.dumps({"text": text, **more}).encode()
    status, _, content = server.ask("POST", "/api/places/two.yaml", asked)
    assert status == 200, content
    return {one["on"]: one for one in json.loads(content)["places"]}


def test_what_is_possible_here_is_what_the_command_answers(server: Server) -> None:
    for text in (SCENARIO, SCENARIO + "  back: {answers: cam, payload: 50 B}\n"):
        expected = {one.backend: asdict(one) for one in answers([plan_of(text)])}
        found = offers(server, text)
        for on, one in expected.items():
            assert (found[on]["can"], found[on]["reasons"]) == (one["can"], list(one["reasons"]))
    assert (found[VM]["can"], found[VM]["reasons"]) == (False, ["stream back: answers"])
    assert offers(server, SCENARIO + "wrong: 1\n") == {}


def test_clocks_in_slow_motion_are_refused_before_the_start(server: Server) -> None:
    text = SCENARIO + "clocks: {one: {drift: 10 ppm}}\n"
    assert "clocks: --dilate" not in str(offers(server, text)[VM]["reasons"])
    assert "clocks: --dilate" in str(offers(server, text, dilate=10)[VM]["reasons"])


def test_hosts_need_a_lab_of_the_folder_that_fits(server: Server) -> None:
    (server.folder / "lab.yaml").write_text(LAB)
    (server.folder / "small.yaml").write_text(LAB.split("  two:")[0])
    assert not offers(server, SCENARIO)[HOSTS]["can"]
    assert offers(server, SCENARIO, lab="lab.yaml")[HOSTS]["can"]
    found = offers(server, SCENARIO, lab="small.yaml")[HOSTS]
    assert not found["can"]
    assert any(
        one.startswith("small.yaml: node b: expected a host or device with 2 wires")
        for one in found["reasons"]
    )
    for name in ("../secret.yaml", "away/secret.yaml", "none.yaml"):
        asked = json.dumps({"text": SCENARIO, "lab": name}).encode()
        assert server.ask("POST", "/api/places/two.yaml", asked)[0] == 404
        asked = json.dumps({"on": HOSTS, "lab": name}).encode()
        assert server.ask("POST", "/api/run/two.yaml", asked)[0] == 404
    answer = json.loads(server.ask("POST", "/api/places/two.yaml", b'{"text": ""}')[2])
    assert answer == {"places": [], "labs": ["lab.yaml", "small.yaml"]}


@pytest.mark.parametrize(
    "wanted", ["[]", "{", '{"on": "x"}', '{"on": "hosts"}', '{"dilate": 0}', '{"dilate": true}', '{"lab": 1}']
)
def test_no_run_starts_at_a_place_that_does_not_exist(server: Server, wanted: str) -> None:
    before = len(jobs_of(server))
    assert server.ask("POST", "/api/run/two.yaml", wanted.encode())[0] == 400
    assert len(jobs_of(server)) == before


def test_the_words_of_a_place_are_options_of_the_command() -> None:
    assert Place().words() == []
    assert Place(VM, 10).words() == ["--on", "vm", "--dilate", "10"]
    assert Place(HOSTS, lab="-x.yaml").words() == ["--on", "hosts", "--hosts", "./-x.yaml"]
    assert chosen({"dilate": 5, "lab": "lab.yaml"}) == Place()
    assert chosen({"on": VM, "lab": "lab.yaml"}) == Place(VM)


def _give_up_rights() -> None:
    """Ends all rights of root but for access to files (capabilities(7), capset(2))."""
    access = 1 << 1 | 1 << 2
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    content = (ctypes.c_uint32 * 6)(access, access, 0, 0, 0, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    for number in range(3, 41):
        libc.prctl(24, number, 0, 0, 0)
    if libc.capset(header, content):
        raise OSError(ctypes.get_errno(), "capset")


def test_without_root_there_are_no_namespaces_and_the_reason_is_told(tmp_path: Path, spaces: None) -> None:
    (tmp_path / "two.yaml").write_text(SCENARIO)
    with serving(tmp_path, preexec_fn=_give_up_rights) as server:
        found = offers(server, SCENARIO)[NETNS]
        assert not found["can"]
        assert found["reasons"] == ["namespaces need root (CAP_SYS_ADMIN, CAP_NET_ADMIN)"]
        # The child that is started nevertheless tells the same.
        status, _, content = server.ask("POST", "/api/run/two.yaml", b'{"on": "netns"}')
        assert status == 201
        job = ended(server, json.loads(content)["job"])
        assert job["code"] == 3
        assert "--on netns: namespaces need root" in job["words"]


@pytest.mark.kernel
def test_a_run_on_this_kernel_is_alone(tmp_path: Path, spaces: None) -> None:
    (tmp_path / "long.yaml").write_text(SLOW.replace("duration: 5 ms", "duration: 60 s"))
    jobs = Jobs(tmp_path)
    try:
        jobs.start("long.yaml")
        with pytest.raises(BusyError, match="a run on netns must be alone"):
            jobs.start("long.yaml", Place(NETNS))
        jobs.start("long.yaml", Place(VM))
        jobs.close()
        before = set(state.folder().glob("tsnb-*.json"))
        jobs.start("long.yaml", Place(NETNS))
        with pytest.raises(BusyError, match="a run on netns is running"):
            jobs.start("long.yaml")
        mine = until(lambda: set(state.folder().glob("tsnb-*.json")) - before)
        content = json.loads(next(iter(mine)).read_text())
        mark, scratch = content["mark"], Path(content["scratch"])
        until(lambda: state.marked(mark))
    finally:
        jobs.close()
    # The run was stopped in the middle: no process, no namespace, no file is left.
    assert jobs.told()[0]["code"] == 130
    assert state.marked(mark) == []
    assert not scratch.exists()
    assert set(state.folder().glob(f"{mark}*")) == set()
    until(lambda: not _processes(tmp_path))


def _processes(folder: Path) -> list[str]:
    """The programs that run in a folder."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        # A program may end between both looks.
        with suppress(FileNotFoundError, ProcessLookupError):
            if _in(one, folder):
                found.append((one / "comm").read_text().strip())
    return found


def test_a_scenario_runs_in_a_guest_and_is_compared_with_its_simulation(
    page: Page, server: Server, guests: None
) -> None:
    page.locator("#text").fill(SLOW.replace("two\n", "guest\n", 1))
    page.keyboard.press("Control+s")
    _choose(page, VM)
    expect(page.locator("#command")).to_contain_text("tsnbench run --keep-runs --on vm two.yaml")
    page.locator("#run").click()
    item = page.locator("#jobs li").first
    expect(item).to_contain_text("on vm, ")
    expect(item).to_have_attribute("data-state", "ended")
    # The guest's kernel takes a time of its own, which the Plan does not have.
    expect(item).to_contain_text(
        "THE PLAN DOES NOT DESCRIBE THIS NETWORK: 10 of 10 frames of cam at two beyond "
    )
    assert json.loads((server.folder / "runs/guest/manifest.json").read_text())["backend"] == "vm"
    expect(page.locator("#runs [data-run='runs/guest']")).to_contain_text("on vm")
    item.get_by_role("button", name="Simulate two.yaml").click()
    page.get_by_role("link", name="runs/guest: compare with its simulation runs/guest-2").click()
    expect(page.locator("#view-compare h2")).to_have_text("2 runs side by side")
    for name in ("simulator", "(vm)"):
        expect(page.locator("#view-compare table").first).to_contain_text(name)
    told = tsnbench("compare", "--json", "runs/guest-2", "runs/guest", cwd=server.folder)
    found = json.loads(told.stdout)["agreements"]
    expect(page.locator("#view-compare")).to_contain_text(
        f"{sum(one['agrees'] for one in found)} of {len(found)} quantities agree with simulator"
    )


def test_a_guest_that_is_stopped_in_the_middle_leaves_nothing(
    page: Page, server: Server, guests: None
) -> None:
    long = SLOW.replace("duration: 5 ms", "duration: 60 s").replace("two\n", "halted\n", 1)
    page.locator("#text").fill(long)
    page.keyboard.press("Control+s")
    _choose(page, VM)
    page.keyboard.press("Control+Enter")
    until(lambda: any("qemu" in one for one in _processes(server.folder)))
    item = page.locator("#jobs li").first
    item.get_by_role("button", name="Stop").click()
    expect(item).to_contain_text("Stopped.")
    assert state_of(server.folder / "runs/halted") == "interrupted"
    until(lambda: not _processes(server.folder), 5)


def test_what_is_impossible_is_shown_with_its_reason_and_cannot_be_chosen(page: Page) -> None:
    _choose(page, "simulation")
    page.locator("#text").fill(SCENARIO + "  back: {answers: cam, payload: 50 B}\n")
    expect(page.locator("#why-vm")).to_have_text("Not possible: stream back: answers. Hint: the simulator.")
    expect(page.locator("#place-vm")).to_be_disabled()
    expect(page.locator("#place-simulation")).to_be_checked()
    # By keyboard: the arrows pass over what is impossible.
    page.locator("#place-simulation").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#command")).not_to_contain_text("--on vm")


def _choose(page: Page, on: str) -> None:
    """Chooses a place by keyboard."""
    where = page.locator("#where")
    if where.get_attribute("open") is None:
        page.locator("#where summary").focus()
        page.keyboard.press("Enter")
    place = page.locator(f"#place-{on}")
    expect(place).to_be_enabled()
    place.focus()
    page.keyboard.press("Space")
    expect(place).to_be_checked()


@pytest.fixture(autouse=True)
def _no_orphans(running: Server) -> Iterator[None]:
    """No test leaves a process in the folder."""
    yield
    assert os.path.isdir(running.folder)
    until(lambda: not _processes(running.folder), 10)
