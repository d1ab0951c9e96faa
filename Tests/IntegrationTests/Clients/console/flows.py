"""The flows of people in the console, from beginning to end."""

import base64
import contextlib
import hashlib
import hmac
import itertools
import json
import re
import struct
import time
import urllib.parse

from playwright.sync_api import Error, Page, expect

import gateway
from accessibility import look
from browser import DESKTOP, PHONE, Browser, check, sentence
from hands import pick, press, select, submit, write

PASSWORD = "correct horse battery 9"
TENANT = "acme"
# The languages and widths in which people come, in turn. The second person has the screen of a phone, no scripts, and a keyboard instead of a touch screen.
VIEWS = ({"language": "en", "size": DESKTOP}, {"language": "ko", "size": PHONE, "scripts": False, "keyboard": True})


def tenant(browser: Browser, path: str = "") -> str:
    return f"{browser.base}/t/{TENANT}/{path}"


# Signing in


def accept(browser: Browser, link: str, view: dict) -> None:
    """Opens an invitation and chooses a password."""
    with browser.person(**view) as page:
        page.goto(link)
        write(page, page.locator("input[name=password]"), PASSWORD)
        write(page, page.locator("input[name=repeated]"), PASSWORD)
        submit(page, "invitation")
        check(page.url.endswith(f"/t/{TENANT}/"), f"an accepted invitation signs in: {page.url}")
        page.goto(link)
        check(page.locator("input[name=password]").count() == 0, "an invitation works once")


def sign_in(page: Page, browser: Browser, name: str, password: str = PASSWORD) -> None:
    page.goto(browser.base + "/sign-in")
    write(page, page.locator("input[name=name]"), name)
    write(page, page.locator("input[name=password]"), password)
    submit(page, "sign-in")


def sign_in_by_keyboard(browser: Browser, name: str) -> None:
    with browser.person("ko") as page:
        page.goto(browser.base + "/sign-in")
        reach(page, "input[name=name]")
        page.keyboard.type(name)
        reach(page, "input[name=password]")
        page.keyboard.type(PASSWORD)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        check(f"/t/{TENANT}/" in page.url, f"signed in by keyboard: {page.url}")
        page.keyboard.press("Tab")
        check(page.evaluate("document.activeElement.matches('a.skip')"), "the first stop of the keyboard skips to the content")
        page.keyboard.press("Enter")
        check(page.evaluate("document.activeElement.id") == "main", "and leads there")


def reach(page: Page, selector: str) -> None:
    """Presses Tab until an element has the focus."""
    for _ in range(120):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    check(False, f"{selector} of {page.url} cannot be reached by keyboard")


def one_time_code(secret: str, ahead: int = 0) -> str:
    """RFC 6238 with 30 seconds, six digits and SHA-1."""
    text = re.sub(r"\s", "", secret).upper()
    key = base64.b32decode(text + "=" * (-len(text) % 8))
    step = struct.pack(">Q", int(time.time()) // 30 + ahead)
    digest = hmac.new(key, step, hashlib.sha1).digest()
    place = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[place:place + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def codes(browser: Browser, name: str) -> None:
    """Sets one-time codes, and signs in with one. A code that was used is refused."""
    with browser.person(**VIEWS[0]) as page:
        sign_in(page, browser, name)
        page.goto(browser.base + "/account")
        write(page, page.locator('form[action$="/account/codes"] input[name=present]'), PASSWORD)
        submit(page, "account/codes")
        secret = page.locator("main pre").first.inner_text()
        used = one_time_code(secret)
        write(page, page.locator('form[action$="/account/codes/confirm"] input[name=code]'), used)
        submit(page, "account/codes/confirm")
        check(page.locator('form[action$="/account/codes/remove"]').count() == 1, "codes are set")
    with browser.person(**VIEWS[1]) as page:
        sign_in(page, browser, name)
        check("/code" in page.url, f"the password alone opens nothing: {page.url}")
        page.goto(tenant(browser))
        check("/code" in page.url, f"nor does another address: {page.url}")
        write(page, page.locator("input[name=code]"), used)
        submit(page, "code")
        check("/code" in page.url, "a code works once")
        # The next step's code is accepted already: clocks differ.
        write(page, page.locator("input[name=code]"), one_time_code(secret, ahead=1))
        submit(page, "code")
        check(f"/t/{TENANT}/" in page.url or page.url.rstrip("/") == browser.base, f"signed in with a code: {page.url}")


def lockout(browser: Browser, name: str) -> None:
    """Wrong passwords block an account, also for the right one and in another browser."""
    with browser.person(**VIEWS[1]) as page:
        for _ in range(20):
            sign_in(page, browser, name, "wrong password 123")
            if re.search(r"\d", page.locator(".error, .callout").first.inner_text()):
                break
        else:
            check(False, "20 wrong passwords block nothing")
        check(page.input_value("input[name=name]") == name, "the typed name is kept")
    with browser.person(**VIEWS[0]) as page:
        sign_in(page, browser, name)
        check("/sign-in" in page.url, "a blocked account does not open with the right password")
        check(page.input_value("input[name=name]") == name, "the typed name is kept")


def unlocked(browser: Browser, name: str) -> None:
    for view in VIEWS:
        with browser.person(**view) as page:
            sign_in(page, browser, name)
            check(f"/t/{TENANT}/" in page.url, f"an unlocked account opens ({view['language']}): {page.url}")
            language = page.evaluate("document.documentElement.lang")
            check(language == view["language"], f"and its pages are in the language of the browser: {language}")


def sessions(browser: Browser, name: str) -> None:
    """A person ends their sessions, one after another; the next page of an ended one asks to sign in."""
    with browser.person(**VIEWS[0]) as one, browser.person(**VIEWS[1]) as other:
        sign_in(one, browser, name)
        sign_in(other, browser, name)
        other.goto(browser.base + "/account")
        ends = other.locator('form[action$="/account/sessions/end"] button')
        listed = ends.count()
        check(listed >= 1, "the account lists a session that can be ended")
        for _ in range(listed):
            if ends.count():
                press(other, ends.first)
        signed_out = 0
        for page in (one, other):
            page.goto(tenant(browser))
            signed_out += "/sign-in" in page.url
        check(signed_out >= 1, "an ended session opens nothing")


# Composing


def compose(page: Page, browser: Browser, title: str, body: str) -> None:
    """Writes a message to the group and reviews it."""
    page.goto(tenant(browser, f"compose?app={gateway.APP}"))
    form = page.locator('form[action$="/compose/review"]')
    pick(page, form.locator("input[name=audience]"), "group")
    select(page, form.locator("select[name=group]"), gateway.GROUP)
    write(page, form.locator("input[name=title]"), title)
    write(page, form.locator("textarea[name=body]"), body)
    submit(page, "compose/review")


# The words of the review and of an undone message.
SENDING = {"en": ("3 devices of shop now", "canceled"), "ko": ("shop의 단말 3대에 지금", "취소했습니다")}


def send(browser: Browser, name: str, view: dict) -> None:
    """Test, send, undo; then send, and follow it to its end."""
    scripts = view.get("scripts", True)
    label = "with" if scripts else "without"
    review, undone = SENDING[view["language"]]
    with browser.person(**view) as page:
        sign_in(page, browser, name)
        compose(page, browser, f"Undone {label} scripts", "x")
        check(review in sentence(page), f"the sentence states what will happen: {sentence(page)}")
        look(browser, page, f"review-{label}-scripts")
        submit(page, "compose/test")
        check(page.locator('form[action$="/compose/send"]').count() == 1, "after a test the review is still there")
        submit(page, "compose/send")
        check("/compose/sent/" in page.url, f"sending leads to its page: {page.url}")
        message = page.url.rsplit("/", 1)[1].split("?")[0]
        submit(page, f"compose/sent/{message}/undo")
        check(gateway.call("GET", f"/v1/messages/{message}")[1]["state"] == "canceled", "undo cancels the message")
        check(undone in sentence(page), f"and the page says so: {sentence(page)}")
        compose(page, browser, f"Sent {label} scripts", "Dear #{name}")
        check(page.locator('[name="var-name"]').count() >= 1, "a variable has a field")
        write(page, page.locator('form[action$="/compose/review"] [name="var-name"]'), "Hong")
        submit(page, "compose/review")
        submit(page, "compose/send")
        message = page.url.rsplit("/", 1)[1].split("?")[0]
        with renewed(page) if scripts else contextlib.nullcontext():
            page.goto(tenant(browser, f"messages/{message}"))
        found = gateway.settled(message, ("done",))
        check(found["state"] == "done" and found["body"] == "Dear Hong", f"the message was sent: {found}")
        if scripts:
            expect(page.locator("main")).to_contain_text(re.compile(r"100(\.0)?%"), timeout=20_000)
        else:
            page.reload()
            check(re.search(r"100(\.0)?%", page.locator("main").inner_text()), "the message is at 100 %")
        look(browser, page, f"sent-{label}-scripts")


@contextlib.contextmanager
def renewed(page: Page):
    """The first stream of the page that is opened here is over at once, as each is after its time, without any part of the page. Waits until the browser
    has opened the next one by itself."""
    page.route(re.compile(r"/live/stream\?"), lambda route: route.fulfill(content_type="text/event-stream", body="retry: 1\n\n"), times=1)
    streams = itertools.count(1)
    with page.expect_request(lambda request: "/live/stream?" in request.url and next(streams) == 2):
        yield


def once(browser: Browser, name: str) -> None:
    """A double click and Back send once."""
    with browser.person() as page:
        sign_in(page, browser, name)
        title = f"Once {time.time_ns()}"
        compose(page, browser, title, "x")
        review = page.content()
        check(title in review, "the review shows the message")
        button = page.locator('form[action$="/compose/send"] button').first
        button.dblclick(no_wait_after=True)
        # The second click may end the navigation of the first one.
        page.wait_for_url("**/compose/sent/**")
        first = page.url
        # The review is the answer of a form and is stored nowhere, so that Back may show an error of the browser instead.
        with contextlib.suppress(Error):
            page.go_back()
        if page.locator('form[action$="/compose/send"]').count():
            submit(page, "compose/send")
            check(page.url == first, "the same form after Back leads to the same message")
        query = urllib.parse.urlencode({"text": title, "app": gateway.APP}, quote_via=urllib.parse.quote)
        _, found = gateway.call("GET", "/v1/messages?" + query)
        check(len(found["messages"]) == 1, f"a double click sends once: {found}")
        gateway.call("POST", f"/v1/messages/{first.rsplit('/', 1)[1]}/cancel")


def faults(browser: Browser, name: str) -> None:
    """Faults are next to their fields, and nothing typed is lost. Markup stays text."""
    with browser.person("ko", size=PHONE) as page:
        sign_in(page, browser, name)
        page.goto(tenant(browser, f"compose?app={gateway.APP}"))
        form = page.locator('form[action$="/compose/review"]')
        write(page, form.locator("input[name=title]"), gateway.HOSTILE)
        pick(page, form.locator("input[name=when]"), "at")
        submit(page, "compose/review")
        look(browser, page, "compose-errors")
        check(form.locator("input[name=title]").input_value() == gateway.HOSTILE, "what was typed is kept")
        check(page.locator(".field.invalid").count() >= 2, "the audience and the time have faults")
        check(page.evaluate("document.querySelectorAll('main script, main img[onerror]').length") == 0, "markup stays text")
        check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "a long title breaks no layout")


def conflict(browser: Browser, one_name: str, other_name: str) -> None:
    """Two people change one template: the second sees both versions, and loses nothing."""
    path = f"templates/{gateway.APP}/winter"
    with browser.person() as one, browser.person() as other:
        for page, name in ((one, one_name), (other, other_name)):
            sign_in(page, browser, name)
            page.goto(tenant(browser, path))
        form = f'form[action$="/{path}/save"]'
        one.locator(f"{form} textarea[name=body]").fill("First version")
        submit(one, f"{path}/save")
        other.locator(f"{form} textarea[name=body]").fill("Second version")
        submit(other, f"{path}/save")
        text = other.locator("main").inner_text()
        check("changed this template" in text and "First version" in text, f"both versions are shown: {text[:300]}")
        check("Second version" in other.content(), "what the second person typed is kept")
        look(browser, other, "conflict")
        stored = f"/v1/apps/{gateway.APP}/templates/winter"
        check(gateway.call("GET", stored)[1]["content"]["body"] == "First version", "nothing is overwritten")
        # The first form of the page saves the second person's version over the stored one.
        submit(other, f"{path}/save")
        body = gateway.call("GET", stored)[1]["content"]["body"]
        check(body == "Second version", f"the decision of the second person is saved: {body}")


def masked(browser: Browser, name: str) -> None:
    """An author sees nobody's phone number."""
    with browser.person(**VIEWS[1]) as page:
        sign_in(page, browser, name)
        for path in ("test-devices?app=shop", "users?app=shop", "live"):
            page.goto(tenant(browser, path))
            text = page.locator("main").inner_text()
            digits = re.sub(r"\D", "", gateway.PHONE)
            check(digits not in re.sub(r"\D", "", text), f"a phone number is on {path}")
            check("u-hong" not in text, f"a user is on {path}")


def export_equals(browser: Browser, name: str) -> None:
    """An export is the answer of the API, unchanged."""
    with browser.person() as page:
        sign_in(page, browser, name)
        for path, call in (
            (f"templates?app={gateway.APP}", f"/v1/apps/{gateway.APP}/templates?limit=50"),
            (f"templates/{gateway.APP}/winter?", f"/v1/apps/{gateway.APP}/templates/winter"),
        ):
            answer = page.request.get(tenant(browser, f"{path}&export=json".replace("?&", "?")))
            check(answer.ok, f"{path}: export: {answer.status}")
            if answer.ok:
                check(json.loads(answer.body()) == gateway.call("GET", call)[1], f"{path}: the export is not the answer of {call}")
