"""Whether a page can be used by everybody, as axe-core sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.servers import had, unpacked

from .packages import AXE

if TYPE_CHECKING:
    from playwright.sync_api import Page

_RUN = """async () => {
  const { violations } = await axe.run(document);
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id}: ${help}: ${target.join(" ")}`));
}"""


def violations(page: Page) -> list[str]:
    """Each rule that is broken and where, as the page stands now; skipped where axe-core cannot be had."""
    script = had(lambda: unpacked(AXE)) / "axe.min.js"
    # Not a script element, which the page's policy would refuse.
    page.evaluate(f"() => {{ {script.read_text()} }}")
    found: list[str] = page.evaluate(_RUN)
    return found
