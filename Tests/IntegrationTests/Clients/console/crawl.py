"""Every page of the console, as an owner: each address of the pages' list, and the first link of each kind that pages contain."""

import urllib.parse

import flows
import gateway
import objects
from browser import Browser, check
from checks import Checks
from transfer import FIRST_VIEW, LATER_VIEW, Transfer

# One of a kind: further ones are alike.
EACH = 1


class Crawl:
    def __init__(self, browser: Browser, patterns: list[str], seeded: dict) -> None:
        self.browser = browser
        self.patterns = patterns
        self.seen: dict[str, int] = {}
        # The largest first and later views.
        self.first = self.later = 0
        self.queue: list[str] = [path for path in patterns if "{" not in path] + [
            f"{path}?app={gateway.APP}" for path in objects.paths(seeded).values()
        ]
        own = {"acme", "shop", "owner", "author", "operator", "analyst", "winter", "hong", "gildong", "vips", "seoul", "script", "alert", "img",
               "src", "onerror", "abc", "apple", "demo", "backend", "crm", "news", "kim", "moved", "rolled", "stale", "admin"}  # fmt: skip
        self.checks = Checks(browser, own)

    def pattern(self, path: str) -> str | None:
        """The pattern of the pages' list that a path matches; None: it is not a page."""
        parts = urllib.parse.unquote(path.split("?")[0]).strip("/").split("/")
        exact = "/".join(parts)
        if exact in self.patterns:
            return exact
        for pattern in self.patterns:
            fields = pattern.split("/")
            if len(fields) == len(parts) and all(field.startswith("{") or field == part for field, part in zip(fields, parts)):
                return pattern
        return None

    def run(self) -> dict:
        self.outside()
        done: set[str] = set()
        state = self.signed_in()
        for language in ("en", "ko"):
            self.seen = {}
            queue = list(self.queue)
            with self.browser.person(language, state=state) as page:
                transfer = Transfer(page)
                while queue:
                    path = queue.pop(0)
                    pattern = self.pattern(path)
                    if pattern is None or self.seen.get(pattern, 0) >= EACH:
                        continue
                    transfer.begin()
                    answer = page.goto(flows.tenant(self.browser, path))
                    if not check(answer is not None and answer.status == 200, f"{path}: {answer and answer.status}"):
                        continue
                    self.sized(transfer, f"{pattern or 'overview'} ({language})")
                    self.seen[pattern] = self.seen.get(pattern, 0) + 1
                    done.add(pattern)
                    # The rows of a live page must not change between the checks.
                    self.checks.page(page, pattern or "overview", language)
                    prefix = f"/t/{flows.TENANT}/"
                    links = page.eval_on_selector_all("a[href]", "links => links.map(link => link.getAttribute('href'))")
                    queue += [link[len(prefix):] for link in links if link.startswith(prefix) and self.is_page(link)]
        for pattern in self.patterns:
            check(pattern in done, f"{pattern or 'overview'} was not opened")
        return {"pages": len(done), "first": self.first, "later": self.later, "axe": self.checks.axe_runs, "unvisited": sorted(set(self.patterns) - done)}

    def sized(self, transfer: Transfer, where: str) -> None:
        """Checks the bytes that a page with few objects transfers. `scripts/bench console` measures pages of a long history."""
        first, later = transfer.sizes()
        check(0 < later < first, f"{where}: {first} bytes with the files and {later} without them were not counted")
        check(first <= FIRST_VIEW, f"{where}: the first view transfers {first} bytes, more than {FIRST_VIEW}")
        check(later <= LATER_VIEW, f"{where}: a later view transfers {later} bytes, more than {LATER_VIEW}")
        self.first, self.later = max(self.first, first), max(self.later, later)

    @staticmethod
    def is_page(link: str) -> bool:
        return "export=" not in link and not link.split("?")[0].endswith((".csv", ".json"))

    def signed_in(self) -> dict:
        with self.browser.person() as page:
            flows.sign_in(page, self.browser, "owner")
            return page.context.storage_state()

    def outside(self) -> None:
        """The pages outside of tenants."""
        for language in ("en", "ko"):
            with self.browser.person(language) as page:
                page.goto(self.browser.base + "/sign-in")
                self.checks.page(page, "sign-in", language)
                self.checks.control(page)
                page.goto(self.browser.base + "/nowhere")
                self.checks.page(page, "not-found", language)
                flows.sign_in(page, self.browser, "owner")
                page.goto(self.browser.base + "/account")
                self.checks.page(page, "account", language)
                answer = page.goto(flows.tenant(self.browser, "messages/0198a1f0-7c00-7000-8000-00000000dead"))
                check(answer is not None and answer.status == 404, f"an unknown message: {answer and answer.status}")
                check(page.locator("nav.sidebar").count() == 1, f"an unknown message has no frame ({language})")
                self.checks.page(page, "unknown-message", language)
