"""Types hostile texts into every form of every page with a browser, whose console must stay empty: a violation of the policy appears there."""

import contextlib
import io
import urllib.parse

from playwright.sync_api import Page

import flows
import gateway
import hostile
from browser import PHONE, Browser, check, failures

# They end the session, or count wrong passwords.
LEFT_OUT = ("/sign-out", "/sign-in", "/account/password", "/account/codes", "/account/sessions/end")
# Texts that a person may type or paste in one line. One is longer than any column.
TEXTS = [text for text in hostile.TEXTS if text.strip() and len(text) < 200 and "\x00" not in text] + ["가" * 1500]

# Hostile texts as markup. The console has no such elements and attributes.
FOREIGN = "document.querySelectorAll('zq-x, [zqattr], [onerror], [onload], [style]:not(svg *), main script, main iframe').length"
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

# Types into each field of a form, and returns how many there are.
FILL = """(form, texts) => {
  let count = 0;
  for (const field of form.elements) {
    if (!field.name || field.type === "hidden" || field.type === "file") continue;
    count += 1;
    if (field.type === "checkbox" || field.type === "radio") field.checked = true;
    else if (field.tagName === "SELECT") field.selectedIndex = field.options.length - 1;
    else if (!["number", "date", "time", "datetime-local"].includes(field.type)) field.value = texts[count % texts.length];
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  return count;
}"""


class Typed:
    def __init__(self, browser: Browser, patterns: list[str]) -> None:
        self.browser = browser
        self.queue = [flows.tenant(browser, path) for path in patterns if "{" not in path]
        self.sent: set[str] = set()
        # The kinds of the pages by their paths.
        self.visited: dict[str, str] = {}

    def run(self) -> dict:
        gateway.seed()
        plant()
        with self.browser.person() as page:
            flows.sign_in(page, self.browser, "owner")
            state = page.context.storage_state()
        self.control(state)
        with self.browser.person(state=state, size=PHONE) as page:
            while self.queue:
                self.page(page, self.queue.pop(0))
        check(len(self.sent) >= 20, f"{len(self.sent)} forms are too few")
        return {"forms": len(self.sent), "pages": len(self.visited)}

    def page(self, page: Page, address: str) -> None:
        path = urllib.parse.urlsplit(address).path
        kind = "/".join(path.split("/")[:4]) + f" {path.count('/')}"
        if path in self.visited or kind in self.visited.values():
            return
        self.visited[path] = kind
        page.goto(address)
        self.judge(page, address)
        prefix = f"/t/{flows.TENANT}/"
        links = page.eval_on_selector_all("a[href]", "links => links.map(link => link.getAttribute('href'))")
        self.queue += [self.browser.base + link for link in links if link.startswith(prefix) and "export=" not in link]
        actions = page.eval_on_selector_all("form[method=post]", "forms => forms.map(form => form.getAttribute('action'))")
        for place, action in enumerate(actions):
            if self.form_kind(action) in self.sent or action in LEFT_OUT:
                continue
            self.sent.add(self.form_kind(action))
            if page.url != address or place:
                page.goto(address)
            forms = page.locator(f'form[method=post][action="{action}"]')
            if forms.count() == 0:
                # A form that was sent before has removed it.
                continue
            rotated = TEXTS[len(self.sent) % len(TEXTS) :] + TEXTS[: len(self.sent) % len(TEXTS)]
            forms.first.evaluate(FILL, rotated)
            with page.expect_navigation():
                forms.first.evaluate("form => form.requestSubmit()")
            self.judge(page, f"{action} of {path}")

    @staticmethod
    def form_kind(action: str) -> str:
        """Forms of one kind differ by the ids in their addresses."""
        parts = action.split("/")
        return f"{'/'.join(parts[:4])} {len(parts)} {parts[-1]}"

    def judge(self, page: Page, what: str) -> None:
        count = page.evaluate(FOREIGN)
        check(count == 0, f"{what}: {count} elements are not the console's")
        extra = page.evaluate(SIDEWAYS)
        check(extra <= 0, f"{what}: a hostile text makes the page scroll sideways by {extra} px")

    def control(self, state: dict) -> None:
        """A violation of the policy is noticed."""
        before = len(failures)
        with contextlib.redirect_stdout(io.StringIO()), self.browser.person(state=state) as page:
            page.goto(flows.tenant(self.browser))
            page.evaluate("document.body.setAttribute('style', 'color: red')")
            page.wait_for_timeout(0)
        noticed = [what for what in failures[before:] if "Content Security Policy" in what or "style-src" in what]
        del failures[before:]
        check(noticed, "control: the browser's console shows no violation of the policy")


def plant() -> None:
    """Objects whose texts are hostile, which the pages show."""
    for number, text in enumerate(TEXTS[:18]):
        device = {"app": gateway.APP, "platform": "ios", "environment": "production", "token": gateway.token(f"typed {number}"),
                  "key": f"typed-{number}", "user": f"t{number}{text}"[:100], "name": text[:60], "phone": f"8210777700{number:02}"}  # fmt: skip
        gateway.call("POST", "/v1/devices", device)
        group = urllib.parse.quote(f"g{number}{text}"[:60], safe="")
        gateway.call("PUT", f"/v1/apps/{gateway.APP}/groups/{group}")
        gateway.call("PUT", f"/v1/apps/{gateway.APP}/templates/{group}", {"content": {"title": text, "body": text}})
        gateway.call("POST", "/v1/messages", {"app": gateway.APP, "to": {"users": [device["user"]]}, "title": text, "body": text})
