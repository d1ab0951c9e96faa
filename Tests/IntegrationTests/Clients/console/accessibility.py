"""axe-core on a page as it is."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from browser import Browser, check, scriptless

SCRIPT = Axe().axe_script
# The script stays in a page, in each of its themes and widths. Nothing but violations is computed in full and sent to this program.
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
    """Keeps a picture of a state that no address has, such as a form with errors. axe needs scripts."""
    browser.shot(page, name)
    if not any(page is known for known in scriptless):
        for rule, what in violations(page).items():
            check(False, f"axe: {name}: {rule}: {what}")
