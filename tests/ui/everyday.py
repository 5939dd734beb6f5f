"""The ten actions that a person does most in the page, on any scenario: by mouse or by keyboard.

``make everyday`` does all of them on every shipped scenario. The ordinary tests do them on a few scenarios
(``test_everyday_actions.py``).
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs

from playwright.sync_api import Browser, Error, Locator, Page, expect

from support.browser import browsing
from ui.browser import Tab
from ui.conftest import Server, serving

SCENARIOS = Path(__file__).parents[2] / "scenarios"
RUN_S = 12
"""A run that has not ended then is stopped; by keyboard, each run is stopped at once."""
MOST_REPLAYED = 2
"""Runs of a scenario that are looked at."""


@dataclass
class Walked:
    """The result for one scenario."""

    name: str
    done: list[str] = field(default_factory=list)
    """Actions that worked."""
    refused: dict[str, str] = field(default_factory=dict)
    """Actions that the page refused, with the reason that it shows."""
    wrong: dict[str, str] = field(default_factory=dict)
    """Actions that failed, and everything in the console."""
    seconds: float = 0.0


def scenarios() -> list[str]:
    """The shipped scenarios, by name; labs are none."""
    found = (
        path for path in SCENARIOS.rglob("*.yaml") if re.search("^network:", path.read_text(), re.MULTILINE)
    )
    return sorted(path.relative_to(SCENARIOS).as_posix() for path in found)


class Hand:
    """A mouse or a keyboard."""

    def __init__(self, page: Page, keyboard: bool) -> None:
        self.page, self.keyboard = page, keyboard

    def press(self, target: Locator) -> None:
        """Presses a button, a node or a link."""
        if self.keyboard:
            target.focus()
            self.page.keyboard.press("Enter")
        else:
            target.click()

    def write(self, target: Locator, words: str) -> None:
        """Writes into a field, instead of its present words."""
        if self.keyboard:
            target.focus()
        else:
            target.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(words)


class Walk:
    """A tab with an opened folder."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page, self.server = page, server
        self.said = Tab(page).said
        self.runs: list[str] = []
        """The runs of the last scenario that was run to its end."""
        page.goto(server.address)

    def scenario(self, name: str, keyboard: bool) -> Walked:
        """Does everything on one scenario."""
        self.hand = Hand(self.page, keyboard)
        self.found = Walked(name)
        self.octets = (self.server.folder / name).read_bytes()
        begin = time.monotonic()
        self.page.goto("about:blank")
        self.page.goto(f"http://127.0.0.1:{self.server.port}/")
        expect(self.page.locator("body")).to_have_attribute("data-ready", "yes")
        with self.action("open"):
            self.opened(name)
        if "open" in self.found.done:
            for action in (self.node, self.stream, self.zoomed, self.problems, self.renamed, self.linked):
                with self.action(action.__name__):
                    self.reason = ""
                    action()
            with self.action("unchanged"):
                assert self.text() == self.octets.decode(), "the text is another one"
                assert (self.server.folder / name).read_bytes() == self.octets, "the file is another one"
            with self.action("run"):
                found = self.ran(name)
                self.runs = self.runs if keyboard and not found else found
            if self.runs:
                for more in (self.charts, self.replayed, self.compared):
                    with self.action(more.__name__):
                        self.reason = ""
                        more()
        self.found.seconds = time.monotonic() - begin
        return self.found

    @contextmanager
    def action(self, name: str) -> Iterator[None]:
        """Notes how an action ended."""
        self.said.clear()
        self.reason = ""
        try:
            yield
        except (AssertionError, Error) as error:
            self.found.wrong[name] = " ".join(str(error).split())[:300]
        else:
            if self.reason:
                self.found.refused[name] = self.reason
            else:
                self.found.done.append(name)
        if self.reason:
            # The browser notes a replay that is impossible, which is a page of its own.
            self.said[:] = [one for one in self.said if not re.search("status of 422 ", one)]
        if self.said:
            self.found.wrong[f"{name}: console"] = " | ".join(self.said)[:300]

    def text(self) -> str:
        return self.page.locator("#text").input_value()

    def becomes(self, wanted: str) -> None:
        expect(self.page.locator("#text")).to_have_value(wanted)

    def checked(self, before: str) -> None:
        """Waits until the present text is checked."""
        expect(self.page.locator("#problems")).not_to_have_attribute("data-checked", before)

    def number(self) -> str:
        return self.page.locator("#problems").get_attribute("data-checked") or ""

    # The ten actions.

    def opened(self, name: str) -> None:
        before = self.number()
        self.hand.press(self.page.locator(f'[data-scenario="{name}"]'))
        expect(self.page.locator("#name")).to_have_text(name)
        self.checked(before)
        expect(self.page.locator("#heading")).to_have_text("No problems")
        expect(self.page.locator(".node").first).to_be_visible()
        self.becomes(self.octets.decode())

    def node(self) -> None:
        name = self.named(0)
        self.select(0)
        expect(self.page.locator("#chosen strong")).to_contain_text(name)

    def named(self, number: int) -> str:
        words = self.page.locator(f"#node-{number}").get_attribute("aria-label") or ""
        return words.split(",")[0].split(" ", 1)[1]

    def select(self, number: int) -> None:
        node = self.page.locator(f"#node-{number}")
        many = self.page.locator(".node").count() > 60
        if many:
            # Nodes overlap: a person looks for the name.
            self.hand.write(self.page.locator("#find"), self.named(number))
            self.page.keyboard.press("Enter")
            expect(node).to_have_attribute("aria-pressed", "true")
        else:
            self.hand.press(node)

    def stream(self) -> None:
        first = self.page.locator("[data-legend]").first
        if not first.count():
            self.reason = "no stream"
            return
        self.hand.press(first)
        expect(self.page.locator("#chosen strong")).to_contain_text("stream ")
        expect(self.page.locator(".stream.chosen").first).to_be_attached()

    def zoomed(self) -> None:
        svg = self.page.locator("#network svg")
        self.hand.press(self.page.locator("#fit"))
        whole = svg.get_attribute("viewBox")
        if self.hand.keyboard:
            self.page.locator("#node-0").focus()
            self.page.keyboard.press("+")
        else:
            box = svg.bounding_box()
            assert box is not None
            self.page.mouse.move(box["x"] + 40, box["y"] + 40)
            self.page.mouse.wheel(0, -200)
        expect(svg).not_to_have_attribute("viewBox", whole or "")
        self.hand.press(self.page.locator("#fit"))
        expect(svg).to_have_attribute("viewBox", whole or "")

    def problems(self) -> None:
        # A wrong word in the name of the first key, and back.
        before, text = self.number(), self.text()
        area = self.page.locator("#text")
        if self.hand.keyboard:
            area.focus()
        else:
            area.click(position={"x": 200, "y": 10})
        self.page.keyboard.press("Control+End")
        self.page.keyboard.type("wrong-key: 1")
        self.checked(before)
        problem = self.page.locator("#problems button", has_text="wrong-key").first
        expect(problem).to_be_visible()
        self.hand.press(problem)
        expect(area).to_be_focused()
        self.undo(text)
        expect(self.page.locator("#heading")).to_have_text("No problems")

    def undo(self, wanted: str) -> None:
        self.page.locator("#text").focus()
        for _ in range(20):
            if self.text() == wanted:
                break
            self.page.keyboard.press("Control+z")
        self.becomes(wanted)

    def edited(self, before: str) -> bool:
        """Whether the text has changed; otherwise the page has shown a reason."""
        status = self.page.locator("#status")
        expect(status).to_have_text(re.compile("^(Not edited|Edited)"))
        words = status.inner_text()
        if words.startswith("Edited"):
            assert self.text() != before, "nothing was edited"
            return True
        self.reason = words
        assert self.text() == before, "a refused edit has changed the text"
        return False

    def quiet(self) -> None:
        """Removes the last message of the page."""
        self.page.evaluate("() => { document.getElementById('status').textContent = ''; }")

    def renamed(self) -> None:
        names = [self.named(number) for number in range(min(self.page.locator(".node").count(), 60))]
        own = [
            number
            for number in range(len(names))
            if "made by" not in (self.page.locator(f"#node-{number}").get_attribute("aria-label") or "")
        ]
        self.select(own[0] if own else 0)
        if not own:
            expect(self.page.locator("#chosen")).to_contain_text("makes it")
            expect(self.page.locator("#rename-to")).to_have_count(0)
            self.reason = "all nodes are generated"
            return
        text, before = self.text(), self.number()
        self.quiet()
        self.hand.write(self.page.locator("#rename-to"), "renamed-node")
        if self.hand.keyboard:
            self.page.keyboard.press("Enter")
        else:
            self.page.get_by_role("button", name="Rename", exact=True).click()
        if self.edited(text):
            self.checked(before)
            expect(self.page.locator("#heading")).to_have_text("No problems")
            assert "renamed-node" in self.text()
            expect(self.page.get_by_role("button", name=re.compile(r"^\w+ renamed-node\b"))).to_have_count(1)
            before = self.number()
            self.undo(text)
            self.checked(before)

    def linked(self) -> None:
        text, before = self.text(), self.number()
        nodes = self.page.locator(".node").count()
        if nodes < 2:
            self.reason = "one node"
            return
        self.page.locator("#fit").click()
        self.quiet()
        self.hand.press(self.page.locator("button[data-mode=link]"))
        self.select_end(0)
        self.select_end(nodes - 1)
        if not self.edited(text):
            return
        self.checked(before)
        # The new link may have problems of its own, such as a second path: they are listed.
        before = self.number()
        self.undo(text)
        self.checked(before)
        expect(self.page.locator("#heading")).to_have_text("No problems")

    def select_end(self, number: int) -> None:
        node = self.page.locator(f"#node-{number}")
        if self.page.locator(".node").count() > 60 and not self.hand.keyboard:
            self.page.locator("#find").fill("")
            node.dispatch_event("click")
            node.focus()
            self.page.keyboard.press("Enter")
        else:
            self.hand.press(node)

    def ran(self, name: str) -> list[str]:
        jobs = self.page.locator("#jobs li")
        before = jobs.first.get_attribute("data-job") or "" if jobs.count() else ""
        if self.hand.keyboard:
            self.page.keyboard.press("Control+Enter")
        else:
            self.page.locator("#run").click()
        expect(self.page.locator("#status")).to_contain_text("Started:")
        item = jobs.first
        expect(item).not_to_have_attribute("data-job", before)
        expect(item).to_contain_text(Path(name).name)
        ended = re.compile("ended")
        try:
            wait_ms = 1 if self.hand.keyboard else RUN_S * 1000
            expect(item).to_have_attribute("data-state", ended, timeout=wait_ms)
        except AssertionError:
            with suppress(Error):
                # It may end at this instant.
                self.hand.press(item.get_by_role("button", name=re.compile("^Stop")))
            expect(item).to_have_attribute("data-state", ended)
        words = item.locator("p").nth(1).inner_text()
        if words.startswith("Stopped"):
            self.reason = "" if self.hand.keyboard else f"stopped: it takes more than {RUN_S} s"
            return []
        assert re.search("MET|run folder|[0-9]+ of [0-9]+ runs", words), words
        assert "Ended with" not in words, words
        folder = re.search("run folder: (.+)", words)
        assert folder, words
        links = self.page.locator("#runs li a", has_text="charts")
        expect(links.first).to_be_visible()
        every = [one.get_attribute("href") or "" for one in links.all()]
        runs = [parse_qs(one.partition("#")[2])["run"][0] for one in every]
        return [one for one in runs if one == folder[1] or one.startswith(f"{folder[1]}/")]

    def loaded(self) -> None:
        expect(self.page.locator("#view-run")).to_have_attribute("data-loading", "no")

    def charts(self) -> None:
        for run in self.runs[:MOST_REPLAYED]:
            self.hand.press(self.page.get_by_role("link", name=f"charts of {run}", exact=True))
            expect(self.page.locator("#view-run h2")).to_contain_text(run)
            self.loaded()
            self.hand.press(self.page.get_by_role("button", name="Slowest frame of the run"))
            expect(self.page.locator("#why")).to_contain_text(re.compile(r"from hand-over|\w"))
            self.loaded()
            chart = self.page.locator("#chart-gantt")
            before = self.page.url
            if self.hand.keyboard:
                chart.focus()
                self.page.keyboard.press("+")
            else:
                chart.scroll_into_view_if_needed()
                box = chart.bounding_box()
                assert box is not None
                self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
                self.page.mouse.wheel(0, -120)
            expect(self.page.locator("#run-command")).to_contain_text("tsnbench")
            self.page.wait_for_url(lambda url, old=before: url != old or "from=" not in old)
            self.loaded()
            why = self.page.locator("#why").inner_text()
            if "add up" not in why:
                self.reason = why[:150]

    def replayed(self) -> None:
        link = self.page.locator("#view-run").get_by_role("link", name="replay", exact=True)
        if not link.count():
            self.reason = self.page.locator("#why").inner_text()[:150] or "no replay"
            return
        there = self.page.url
        self.hand.press(link)
        ready = self.page.locator("[data-ready=yes]")
        expect(ready.first).to_be_attached()
        if not self.page.locator("#play").count():
            self.reason = self.page.locator("body").inner_text()[:150]
        else:
            now = self.page.locator("#now")
            expect(self.page.locator("#why")).to_contain_text("ns")
            at = [now.inner_text()]
            for button, key in (("#next", "ArrowRight"), ("#next", "ArrowRight"), ("#back", "ArrowLeft")):
                if self.hand.keyboard:
                    self.page.locator("#chart").focus()
                    self.page.keyboard.press(key)
                else:
                    self.page.locator(button).click()
                at.append(now.inner_text())
            assert len(set(at)) > 1, f"no step changes the time: {at}"
        self.page.goto(there)
        expect(self.page.locator("body")).to_have_attribute("data-ready", "yes")

    def compared(self) -> None:
        ticks = self.page.locator("#runs input[type=checkbox]")
        complete = self.runs[:2]
        if len(complete) < 2:
            # With the run of another scenario: other streams, no error.
            every = [
                (one.get_attribute("aria-label") or "").removeprefix("Compare ")
                for one in ticks.all()
                if one.evaluate("one => one.parentElement.textContent.includes('charts')")
            ]
            complete += [one for one in every if one not in complete][:1]
        if len(complete) < 2:
            self.reason = "only one run"
            return
        for one in self.page.locator("#runs input:checked").all():
            one.uncheck()
        for one in complete:
            tick = self.page.get_by_role("checkbox", name=f"Compare {one}", exact=True)
            if self.hand.keyboard:
                tick.focus()
                self.page.keyboard.press("Space")
            else:
                tick.click()
        self.hand.press(self.page.locator("button[data-view=compare]"))
        title = self.page.locator("#view-compare h2")
        expect(title).to_have_text(re.compile("^(2 runs side by side|Compare runs)$"))
        if title.inner_text() == "Compare runs":
            self.reason = self.page.locator("#view-compare .bad").inner_text()
            return
        expect(self.page.locator("#chart-runs")).to_have_attribute("data-ready", "yes")


@contextmanager
def walking(folder: Path, browser: Browser) -> Iterator[Walk]:
    """A tab with a copy of the shipped scenarios."""
    shutil.copytree(SCENARIOS, folder)
    with serving(folder) as server:
        page = browser.new_page(viewport={"width": 1300, "height": 1000})
        yield Walk(page, server)
        page.close()


def main(words: list[str], put: Callable[[str], object] = print) -> int:
    """All scenarios whose names contain one of the words; the number of things that are wrong."""
    wrong = 0
    with (
        tempfile.TemporaryDirectory(prefix="tsnbench-test-") as scratch,
        browsing() as browser,
        walking(Path(scratch) / "work", browser) as walk,
    ):
        for name in scenarios():
            if words and not any(word in name for word in words):
                continue
            for keyboard in (False, True):
                one = walk.scenario(name, keyboard)
                wrong += len(one.wrong)
                how = "keyboard" if keyboard else "mouse"
                put(f"{name} ({how}): {len(one.done)} done, {len(one.refused)} refused, {one.seconds:.1f} s")
                for action, reason in one.refused.items():
                    put(f"    {action}: {reason}")
                for action, reason in one.wrong.items():
                    put(f"  WRONG {action}: {reason}")
                sys.stdout.flush()
    put(f"{wrong} wrong")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
