"""Drives the web console with a browser.

usage: run.py PHASES BASE ARTIFACTS. PHASES are some of these, separated by commas, and follow one another in one browser:
  people       invitations, signing in, one-time codes, sessions
  send         composing, tests, undo, conflicts, exports
  diagnose     from a phone number to the reason of each planted cause
  credentials  a correct key, and wrong ones
  keyboard     with scripts: from a phone number to a diagnosis, from a message to its undo, pause and cancel, and the life of a key, by the keyboard alone
  behaviour    the palette, single keys, new rows, hidden pages, previews
  operate      pause, resume, requeue and cancel messages; revoke a key. The messages to requeue are planted by `send`
  routes       a rollout is raised and rolled back
  migration    a step with too few samples
  crawl        every page in both languages, both themes and all widths; by the keyboard alone; what each transfers
  lockout      wrong passwords
  unlocked     after `push-gateway account unlock`
  typed        hostile texts in every form
Environment: CONSOLE_LINKS, a JSON object of the links of invitations by name; CONSOLE_PAGES, a JSON array of the paths of all pages; GATEWAY_API,
GATEWAY_KEY and GATEWAY_ADMIN_KEY of the native API; SIMULATOR, the control port of the simulator. Each phase prints a JSON object with counts at its end. Any
failure is printed, the phases after it are played, and the status is 1.
"""

import json
import os
import pathlib
import sys
import time
import traceback

from playwright.sync_api import sync_playwright

import behaviour
import credentials
import diagnose
import flows
import gateway
import keyboard
import moving
import operate
from browser import Browser, check, failures
from crawl import Crawl
from typed import Typed


def pages() -> list[str]:
    return json.loads(os.environ["CONSOLE_PAGES"])


def people(browser: Browser) -> dict:
    links = json.loads(os.environ["CONSOLE_LINKS"])
    for place, link in enumerate(links.values()):
        flows.accept(browser, link, flows.VIEWS[place % len(flows.VIEWS)])
    flows.sign_in_by_keyboard(browser, "owner")
    flows.codes(browser, "operator")
    flows.sessions(browser, "author")
    return {"accounts": len(links)}


def send(browser: Browser) -> dict:
    gateway.seed()
    # For the phase `operate`, which needs messages that the gateway has given up.
    operate.overload()
    flows.send(browser, "owner", flows.VIEWS[0])
    flows.send(browser, "author", flows.VIEWS[1])
    flows.once(browser, "owner")
    flows.faults(browser, "author")
    flows.conflict(browser, "owner", "author")
    flows.masked(browser, "author")
    flows.export_equals(browser, "owner")
    return {}


def crawl(browser: Browser) -> dict:
    seeded = gateway.seed()
    crawl = Crawl(browser, pages(), seeded)
    gateway.counted()
    return crawl.run()


PHASES = {
    "people": people, "send": send, "crawl": crawl, "diagnose": diagnose.run, "credentials": credentials.run, "keyboard": keyboard.run,
    "behaviour": behaviour.run, "operate": operate.run, "routes": moving.routes, "migration": moving.migration,
    "lockout": lambda browser: flows.lockout(browser, "author") or {},
    "unlocked": lambda browser: flows.unlocked(browser, "author") or {},
    "typed": lambda browser: Typed(browser, pages()).run(),
}  # fmt: skip


def play(phase: str, browser: Browser) -> None:
    began, before, counts = time.monotonic(), len(failures), {}
    try:
        counts = PHASES[phase](browser)
    except Exception as error:  # noqa: BLE001
        traceback.print_exc(file=sys.stdout)
        check(False, f"{phase} has not ended: {error}")
    print(json.dumps(counts | {"phase": phase, "seconds": round(time.monotonic() - began), "failures": len(failures) - before}), flush=True)


def main() -> int:
    phases, base, artifacts = sys.argv[1:4]
    with sync_playwright() as playwright:
        browser = Browser(playwright, base, pathlib.Path(artifacts))
        try:
            for phase in phases.split(","):
                play(phase, browser)
        finally:
            browser.close()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
