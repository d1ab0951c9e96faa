"""Flows by the keyboard alone: from a phone number to a diagnosis, from an empty message to its undo, from a message to its end, and the life of a key."""

from playwright.sync_api import Page

import flows
import gateway
import operate
from browser import Browser, check, sentence

CHECKED = "([name, value]) => document.querySelector(`input[name=${name}][value=${value}]`).checked"


def enter(page: Page, selector: str) -> None:
    """Goes to a link or a button with Tab, presses Enter, and waits for the page that follows."""
    flows.reach(page, selector)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def write(page: Page, selector: str, text: str) -> None:
    flows.reach(page, selector)
    page.keyboard.type(text)


def choose(page: Page, name: str, value: str) -> None:
    """One of several choices, by the arrow keys."""
    flows.reach(page, f"input[name={name}]")
    for _ in range(10):
        if page.evaluate(CHECKED, [name, value]):
            return
        page.keyboard.press("ArrowDown")
    check(False, f"{name}={value} of {page.url} cannot be chosen by keyboard")


def select(page: Page, selector: str, value: str) -> None:
    """An option of a list, by its first letters."""
    write(page, selector, value)
    found = page.locator(selector).input_value()
    check(found == value, f"{selector} of {page.url}: {value} cannot be selected by keyboard: {found}")


def diagnose(page: Page, browser: Browser) -> None:
    page.goto(flows.tenant(browser))
    write(page, "#find", gateway.PHONE)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    enter(page, 'main .summary a[href*="/diagnosis"]')
    check("/diagnosis" in page.url, f"a phone number leads to the diagnosis by keyboard: {page.url}")


def compose(page: Page, browser: Browser) -> None:
    page.goto(flows.tenant(browser, f"compose?app={gateway.APP}"))
    choose(page, "audience", "group")
    select(page, "select[name=group]", gateway.GROUP)
    write(page, "input[name=title]", "By keyboard")
    write(page, "textarea[name=body]", "x")
    enter(page, 'form[action$="/compose/review"] button:not([data-second]):not([data-copy])')
    check(page.locator('form[action$="/compose/send"]').count() == 1, "a message is reviewed by keyboard")
    check("devices of shop now" in sentence(page), f"and the review states what will happen: {sentence(page)}")
    enter(page, 'form[action$="/compose/send"] button')
    check("/compose/sent/" in page.url, f"and sent: {page.url}")
    message = page.url.rsplit("/", 1)[1].split("?")[0]
    enter(page, f'form[action$="/compose/sent/{message}/undo"] button')
    check(operate.state(message) == "canceled", f"and undone: {operate.state(message)}")


def operated(page: Page, browser: Browser) -> None:
    """A message that waits for a refused credential is paused and canceled."""
    gateway.need("PUT", "/v1/apps/waiting", operate.WAITING, key=gateway.ADMIN)
    waiting = operate.message(operate.register("by-keyboard", "waiting"), "waiting")
    gateway.settled(waiting, ("sending",))
    page.goto(flows.tenant(browser, f"messages/{waiting}"))
    enter(page, f'form[action$="/messages/{waiting}/pause"] button')
    found = gateway.settled(waiting, ("paused",))["state"]
    check(found == "paused", f"a message is paused by keyboard: {found}")
    cancel = f'form[action$="/messages/{waiting}/cancel"]'
    enter(page, cancel + " button")
    enter(page, cancel + ":has(input[name=confirmed]) button")
    found = gateway.settled(waiting, ("canceled",))["state"]
    check(found == "canceled", f"and canceled: {found}")


def key(page: Page, browser: Browser) -> None:
    """A key is created and revoked."""
    page.goto(flows.tenant(browser, "keys"))
    form = 'form[action$="/keys/create"]'
    write(page, f"{form} input[name=name]", "by-keyboard")
    flows.reach(page, f"{form} input[name=scope-read]")
    page.keyboard.press("Space")
    enter(page, f"{form} button:not([data-second]):not([data-copy])")
    secret = page.locator(".callout.secret pre").inner_text()
    check(gateway.call("GET", "/v1/apps", key=secret)[0] == 200, "a key is created by keyboard")
    page.goto(flows.tenant(browser, "keys/by-keyboard"))
    delete = 'form[action$="/keys/by-keyboard/delete"]'
    enter(page, delete + " button")
    enter(page, delete + ":has(input[name=confirmed]) button")
    check(gateway.call("GET", "/v1/apps", key=secret)[0] == 401, "and revoked")


def run(browser: Browser) -> dict:
    gateway.seed()
    with browser.person() as page:
        flows.sign_in(page, browser, "owner")
        diagnose(page, browser)
        compose(page, browser)
        operated(page, browser)
        key(page, browser)
    return {}
