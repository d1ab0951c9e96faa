"""Additions of scripts to the pages: the palette, single keys, new rows that wait, streams that stop while the page is hidden, and previews while typing."""

import base64
import re

from playwright.sync_api import Page, Route, expect

import flows
import gateway
from browser import TIMEOUT, Browser, check

# Keeps the streams that the page opens, so that their states can be read.
STREAMS = """window.streams = [];
window.EventSource = class extends window.EventSource { constructor(...given) { super(...given); window.streams.push(this); } };"""
STATES = "() => window.streams.map(stream => stream.readyState)"
OPEN, CLOSED = 1, 2
# A PNG of one pixel.
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
# As when another tab is opened. Headless Chromium shows all of its tabs.
HIDE = """isHidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def leads(page: Page, keys: tuple[str, ...], end: str) -> None:
    """The last of the keys opens a page."""
    with page.expect_navigation():
        for key in keys:
            page.keyboard.press(key)
    check(page.url.split("?")[0].endswith(end), f"{' '.join(keys)} leads to {page.url}, not to {end}")


def palette(page: Page, browser: Browser) -> None:
    page.goto(flows.tenant(browser))
    dialog = page.locator("#palette")
    page.keyboard.press("Control+k")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("Meta+k")
    expect(dialog).to_be_visible()
    page.keyboard.type("messag")
    expect(page.locator("#palette-list [aria-selected=true]")).to_have_text("Messages")
    leads(page, ("Enter",), "/messages")
    page.keyboard.press("Control+k")
    page.keyboard.type(gateway.PHONE)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    found = page.locator('main .summary a[href*="/diagnosis"]').count()
    check(found == 1, f"the palette finds the device of a phone number: {page.url}")
    scheduled = {"app": gateway.APP, "to": {"groups": [gateway.GROUP]}, "title": "Paused by the palette", "body": "x", "sendAt": {"after": 3600}}
    waiting = gateway.need("POST", "/v1/messages", scheduled)["id"]
    page.goto(flows.tenant(browser, f"messages/{waiting}"))
    for text, end in (("pause", f"/messages/{waiting}"), (gateway.APP, f"/messages/{waiting}?app={gateway.APP}")):
        page.keyboard.press("Control+k")
        page.keyboard.type(text)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        check(page.url.endswith(end), f"{text} in the palette leads to {page.url}")
    state = gateway.need("GET", f"/v1/messages/{waiting}")["state"]
    check(state == "paused", f"the palette has the actions of the page: {state}")
    gateway.need("POST", f"/v1/messages/{waiting}/cancel")


def keys(page: Page, browser: Browser) -> None:
    page.goto(flows.tenant(browser))
    leads(page, ("g", "m"), "/messages")
    rows = page.locator("main table.stack tbody tr")
    for key, place in (("j", 0), ("j", 1), ("k", 0)):
        page.keyboard.press(key)
        check(rows.nth(place).get_attribute("data-at") is not None, f"{key} goes to row {place}")
        check(page.locator("tr[data-at]").count() == 1, f"{key} leaves the other rows")
        check(page.evaluate("document.activeElement.closest('tr[data-at]') !== null"), f"{key} gives the row the focus")
    page.keyboard.press("/")
    page.keyboard.type("jg")
    check(page.locator("#find").input_value() == "jg", "/ goes to the search, where keys are letters")
    page.evaluate("document.activeElement.blur()")
    before = page.evaluate("document.documentElement.dataset.theme")
    with page.expect_navigation():
        page.keyboard.press("t")
    check(page.evaluate("document.documentElement.dataset.theme") != before, f"t changes the theme {before}")
    leads(page, ("?",), "/help")
    page.locator("input[data-keys]").uncheck()
    page.goto(flows.tenant(browser, "messages"))
    page.keyboard.press("j")
    check(page.locator("tr[data-at]").count() == 0, "single keys can be switched off")


def is_streaming(page: Page) -> bool:
    return page.evaluate(STATES)[-1:] == [OPEN]


def message() -> None:
    body = {"app": gateway.APP, "to": {"groups": [gateway.GROUP]}, "title": "Waits behind a button", "body": "x"}
    gateway.settled(gateway.need("POST", "/v1/messages", body)["id"])


def waiting(page: Page, browser: Browser) -> None:
    """New rows wait behind a button with their number. While the page is hidden, it has no stream, and says so."""
    page.add_init_script(STREAMS)
    page.goto(flows.tenant(browser, f"live?app={gateway.APP}"))
    gateway.until(lambda: is_streaming(page), "a live page opens its stream")
    rows, button = page.locator("tr[data-row]"), page.locator("button.new").first
    first = rows.first.get_attribute("data-row")
    check(button.is_hidden(), "without new rows the button is hidden")
    message()
    expect(button).to_be_visible(timeout=TIMEOUT)
    count = int("".join(filter(str.isdigit, button.inner_text())) or 0)
    check(count >= 1, f"the button has the number of new rows: {button.inner_text()}")
    check(rows.first.get_attribute("data-row") == first, "new rows wait")
    button.click()
    check(rows.first.get_attribute("data-row") != first, "the button shows them")
    page.evaluate(HIDE, True)
    check(page.evaluate(STATES)[-1] == CLOSED, f"the stream is closed while the page is hidden: {page.evaluate(STATES)}")
    live = page.locator(".live").first
    paused = live.get_attribute("data-paused")
    check(live.inner_text().strip() == paused, f"the page says that it is not updated: {live.inner_text()}")
    page.evaluate(HIDE, False)
    gateway.until(lambda: is_streaming(page), "the stream is opened again when the page is shown")
    check(page.evaluate(STATES)[:-1].count(OPEN) == 0, f"one stream is open: {page.evaluate(STATES)}")
    check(live.inner_text().strip() != paused, "and the page says so")


def lost(page: Page, browser: Browser) -> None:
    """A stream that is refused, as by a proxy whose node stops, is opened again, and the page says meanwhile that it is not updated."""
    refused = []
    streams = re.compile(r"/live/stream\?")

    def answer(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=429, body="")

    page.route(streams, answer)
    page.goto(flows.tenant(browser, f"live?app={gateway.APP}"))
    live = page.locator(".live").first
    expect(live).to_have_text(live.get_attribute("data-lost"), timeout=TIMEOUT)
    gateway.until(lambda: is_streaming(page), "a refused stream is opened again")
    expect(live).not_to_have_text(live.get_attribute("data-lost"), timeout=TIMEOUT)
    check(len(refused) == 1, f"the first stream was refused: {refused}")
    page.unroute(streams)


def preview(page: Page, browser: Browser) -> None:
    """The preview follows the typed text, which keeps the focus; the counter too."""
    address = flows.tenant(browser, f"compose?app={gateway.APP}")
    page.goto(address)
    title = page.locator("input[name=title]")
    title.focus()
    page.keyboard.type("Typed title")
    expect(page.locator(".notification").first).to_contain_text("Typed title", timeout=TIMEOUT)
    check(page.url == address and title.input_value() == "Typed title", f"typing leaves the page as it is: {page.url}")
    check(page.evaluate("document.activeElement.name") == "title", "and the field its focus")
    counter = title.locator("xpath=following-sibling::p[contains(@class, 'counter')]").inner_text()
    check(counter.startswith("11 / 1000 "), f"the counter has the number of bytes: {counter}")
    page.keyboard.type(" 가")
    expect(title.locator("xpath=following-sibling::p[contains(@class, 'counter')]")).to_contain_text("15 / 1000 ")
    size = page.locator('tr[data-row="payload-native"]')
    expect(size).to_contain_text("4,096", timeout=TIMEOUT)
    place = page.locator(".notification .picture")
    expect(place).to_be_hidden()
    page.locator("input[name=upload]").set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": base64.b64decode(DOT)})
    picture = place.locator("img")
    expect(picture).to_be_visible()
    check(picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1, "the chosen image is shown")
    title.focus()
    page.keyboard.type("!")
    # The server names the image by its hash; the update keeps what the browser shows.
    expect(place.locator("p")).to_have_count(1, timeout=TIMEOUT)
    expect(picture).to_be_visible()
    page.locator("input[name=upload]").set_input_files([])
    expect(picture).to_have_count(0)


def run(browser: Browser) -> dict:
    gateway.seed()
    with browser.person() as page:
        flows.sign_in(page, browser, "owner")
        palette(page, browser)
        keys(page, browser)
        preview(page, browser)
        waiting(page, browser)
        lost(page, browser)
    return {}
