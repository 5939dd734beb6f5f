"""What tests of the page do in a browser: texts, keys, and what a page said."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files

import pytest
from playwright.sync_api import Page, expect

from support.browser import WAIT_MS


@dataclass
class Tab:
    """A tab, the messages of its console, and the addresses of its requests."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(WAIT_MS)
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", lambda dialog: dialog.accept())

    def hosts(self) -> set[str]:
        """The servers that the page asked."""
        return {url.split("/")[2] for url in self.asked if not url.startswith("data:")}

    def refusals(self) -> list[int]:
        """Removes the console's lines about answers that refuse a request, and returns their statuses."""
        begin = "Failed to load resource: the server responded with"
        lines = [line for line in self.said if line.startswith(begin)]
        self.said[:] = [line for line in self.said if line not in lines]
        return [int(line.split("status of ")[1][:3]) for line in lines]


def text(page: Page) -> str:
    """The text of the open scenario."""
    return page.locator("#text").input_value()


def becomes(page: Page, wanted: str) -> None:
    """The text becomes this one."""
    expect(page.locator("#text")).to_have_value(wanted)


def undone(page: Page, *steps: str) -> None:
    """The undo of the text field leads to these texts, one after the other."""
    page.locator("#text").focus()
    for wanted in steps:
        page.keyboard.press("Control+z")
        becomes(page, wanted)


def tab_to(page: Page, wanted: str) -> None:
    """Press Tab until the element with this selector has the focus, as a person without a mouse does."""
    for _ in range(120):
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", wanted):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no Tab leads to {wanted}")


def loaded(page: Page) -> None:
    """The charts of a run are drawn."""
    expect(page.locator("#view-run")).to_have_attribute("data-loading", "no")


def findings(page: Page) -> list[str]:
    """What axe-core finds serious in the page as it is shown."""
    pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {[node['target'] for node in one['nodes']]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
