"""A browser that drives the console: Debian's Chromium through Playwright. Anything in the browser's console fails the run."""

import contextlib
import pathlib
import re

from playwright.sync_api import Page, Playwright

CHROMIUM = "/usr/bin/chromium"
# 20 s: the slowest page on a busy machine with two cores.
TIMEOUT = 20_000
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}

failures: list[str] = []
# The pages of people who have nothing but a keyboard, and of those whose browsers run no scripts.
keyboards: list[Page] = []
scriptless: list[Page] = []


def check(holds: object, what: str) -> bool:
    """Notes a failure, and goes on: one run reports all of them."""
    if not holds:
        print(f"FAILED {what}", flush=True)
        failures.append(what)
    return bool(holds)


class Browser:
    """Contexts are people: each has its own cookies."""

    def __init__(self, playwright: Playwright, base: str, artifacts: pathlib.Path) -> None:
        self.base = base.rstrip("/")
        self.artifacts = artifacts
        artifacts.mkdir(parents=True, exist_ok=True)
        # As root, Chromium has no sandbox.
        self.chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage", "--lang=en"]
        )

    def close(self) -> None:
        self.chromium.close()

    @contextlib.contextmanager
    def person(
        self, language: str = "en", size: dict | None = None, scripts: bool = True, state: dict | None = None, keyboard: bool = False
    ):
        """Yields a page of a new person. The console takes the language from the browser's; its cookie cannot be set from outside, because of its prefix.
        `keyboard`: the person has no mouse (see `hands`)."""
        context = self.chromium.new_context(
            viewport=size or DESKTOP,
            locale="ko-KR" if language == "ko" else "en-GB",
            timezone_id="Asia/Seoul",
            java_script_enabled=scripts,
            storage_state=state,
        )
        context.set_default_timeout(TIMEOUT)
        page = context.new_page()
        if keyboard:
            keyboards.append(page)
            # Makes file dialogs events from the start. A listener that each use of a field adds could be later than the key that opens the dialog.
            page.on("filechooser", lambda chooser: None)
        if not scripts:
            scriptless.append(page)
        watch = Watch(page)
        try:
            yield page
        finally:
            watch.report()
            context.close()

    def shot(self, page: Page, name: str) -> None:
        """Keeps a picture. A failed test keeps one too, so that its cause can be seen."""
        safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-") or "overview"
        page.screenshot(path=str(self.artifacts / f"{safe[:120]}.png"), full_page=True)


class Watch:
    """Collects what the browser's console shows. A page of ours writes nothing there; a violation of the policy appears there too."""

    # Chromium reports each answer above 399 of a navigation as an error, and Back to the answer of a form. Forms answer so when they are shown again with what is wrong.
    ANSWER = re.compile(r"the server responded with a status of (401|403|404|409|422|429)|ERR_CACHE_MISS")

    def __init__(self, page: Page) -> None:
        self.found: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.found.append(f"error in {page.url}: {error}"))
        page.on("dialog", lambda dialog: (self.found.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("response", self._response)

    def _console(self, message) -> None:
        if not self.ANSWER.search(message.text):
            self.found.append(f"console of {message.location.get('url', '?')}: {message.type}: {message.text}")

    def _response(self, response) -> None:
        if response.status >= 500:
            self.found.append(f"{response.status} of {response.request.method} {response.url}")

    def report(self) -> None:
        for line in dict.fromkeys(self.found):
            check(False, line[:500])


def sentence(page: Page) -> str:
    return page.locator("main .summary").first.inner_text()
