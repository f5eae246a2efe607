"""Whether a page can be used by everybody: as axe-core sees it, and by somebody who has a keyboard and no mouse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.servers import had, unpacked

from .packages import AXE

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

_RUN = """async (rules) => {
  const chosen = rules.length ? { runOnly: { type: "rule", values: rules } } : {};
  const { violations } = await axe.run(document, { ...chosen, resultTypes: ["violations"] });
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id}: ${help}: ${target.join(" ")}`));
}"""
_OF_COLOURS = ("color-contrast", "link-in-text-block")
"What can be otherwise in another theme."
PHONE: ViewportSize = {"width": 390, "height": 844}
_KEYBOARD = Path(__file__).with_name("pages") / "keyboard.js"


def violations(page: Page, *rules: str) -> list[str]:
    """Each rule that is broken and where, as the page stands now; skipped where axe-core cannot be had."""
    if not page.evaluate("() => 'axe' in window"):
        script = had(lambda: unpacked(AXE)) / "axe.min.js"
        # Not a script element, which the page's policy would refuse.
        page.evaluate(f"() => {{ {script.read_text()} }}")
    found: list[str] = page.evaluate(_RUN, list(rules))
    return found + unreachable(page)


def violations_in_both_themes(page: Page) -> list[str]:
    """The same in light and in dark, where only colours are others."""
    page.emulate_media(color_scheme="light")
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    return found + [f"dark: {each}" for each in violations(page, *_OF_COLOURS)]


def too_wide_for_a_phone(page: Page, phone: ViewportSize = PHONE) -> bool:
    """Whether somebody with a phone would have to move the page from side to side."""
    usual = page.viewport_size
    assert usual is not None
    page.set_viewport_size(phone)
    wide = bool(page.evaluate(f"() => document.scrollingElement.scrollWidth > {phone['width']}"))
    page.set_viewport_size(usual)
    return wide


def unreachable(page: Page) -> list[str]:
    """What can be clicked and has no place in the order of Tab, or does not show that it has the focus."""
    page.keyboard.press("Tab")  # a browser marks the focus for those who use the keyboard
    found: list[str] = page.evaluate(_KEYBOARD.read_text())
    return found
