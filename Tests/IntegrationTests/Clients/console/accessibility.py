"""Runs axe-core on the present state of a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from browser import Browser, check, scriptless

SCRIPT = Axe().axe_script
# The script is loaded once for all themes and widths of a page. Only violations are computed in full and returned.
IS_LOADED = "() => typeof axe === 'object'"
RUN = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"], elementRef: false, preload: false });
  return {
    rules: found.passes.length + found.violations.length,
    violations: found.violations.map((rule) => [rule.id, `${rule.help}: ${rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" ")}`]),
  };
}"""


def violations(page: Page) -> dict[str, str]:
    """The violations of the page by rule. A run that finds nothing to apply a rule to is a failure of its own."""
    if not page.evaluate(IS_LOADED):
        page.evaluate(SCRIPT)
    found = page.evaluate(RUN)
    check(found["rules"] >= 8, f"axe has applied {found['rules']} rules to {page.url}")
    return dict(found["violations"])


def look(browser: Browser, page: Page, name: str) -> None:
    """Keeps a picture of a state without an address, such as a form with errors, and checks it. axe runs only on pages with scripts."""
    browser.shot(page, name)
    if not any(page is known for known in scriptless):
        for rule, what in violations(page).items():
            check(False, f"axe: {name}: {rule}: {what}")
