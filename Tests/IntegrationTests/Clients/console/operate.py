"""Operating messages and keys: pause, resume, requeue, cancel, revoke. In Korean on a phone without scripts, by the keyboard alone."""

from playwright.sync_api import Page

import flows
import gateway
from accessibility import look
from browser import Browser, check, sentence
from hands import press, submit, tick, write

WORDS = {
    "en": {"paused": "Paused.", "resumed": "Resumed.", "requeued": "Requeued.", "canceled": "Canceled.",
           "gave up": "The gateway stopped retrying 1 target."},
    "ko": {"paused": "일시 중지했습니다.", "resumed": "재개했습니다.", "requeued": "재발신을 시작했습니다.", "canceled": "취소했습니다.",
           "gave up": "대상 1건의 재시도가 중단되었습니다."},
}  # fmt: skip

# The credential `stale` has a key ID that APNs does not know: messages of an app with these settings wait for it.
WAITING = {"platforms": {"ios": {"topic": "com.example.shop", "production": "stale"}}}


def notice(page: Page) -> str:
    return page.locator(".callout.notice").first.inner_text()


def register(name: str, app: str = gateway.APP) -> str:
    device = {"app": app, "platform": "ios", "environment": "production", "token": gateway.token(name), "key": name, "user": name}
    return gateway.need("POST", "/v1/devices", device)["id"]


def message(device: str, app: str = gateway.APP, title: str = "Operated") -> str:
    body = {"app": app, "to": {"devices": [device]}, "title": title, "body": "x"}
    return gateway.need("POST", "/v1/messages", body)["id"]


def state(message: str) -> str:
    return gateway.need("GET", f"/v1/messages/{message}")["state"]


def act(page: Page, message: str, action: str, state_before: str) -> None:
    """Presses the button of an action on a message. One that cannot be undone is asked again first, and nothing happens before."""
    path = f"messages/{message}/{action}"
    submit(page, path)
    confirmed = page.locator(f'form[action$="/{path}"]', has=page.locator("input[name=confirmed]"))
    if action in ("cancel", "requeue"):
        check(state(message) == state_before, f"{action} waits for the confirmation: {state(message)}")
        press(page, confirmed.locator("button"))
    else:
        check(confirmed.count() == 0, f"{action} is not asked again")


def messages(page: Page, browser: Browser, language: str) -> None:
    """A message that waits for a refused credential is paused, resumed and canceled."""
    words = WORDS[language]
    waiting = message(register(f"operated-{language}", "waiting"), "waiting")
    gateway.settled(waiting, ("sending",))
    page.goto(flows.tenant(browser, f"messages/{waiting}"))
    for action, word, before, after in (
        ("pause", "paused", "sending", "paused"), ("resume", "resumed", "paused", "sending"), ("cancel", "canceled", "sending", "canceled"),
    ):  # fmt: skip
        act(page, waiting, action, before)
        check(notice(page).startswith(words[word]), f"{action} ({language}): the page reports it: {notice(page)}")
        found = gateway.settled(waiting, (after,))["state"]
        check(found == after, f"{action} ({language}): the message is {found}")
    for action in ("pause", "resume", "cancel"):
        page.goto(flows.tenant(browser, f"messages/{waiting}"))
        check(page.locator(f'form[action$="/{waiting}/{action}"]').count() == 0, f"a canceled message has a button to {action} it")


def overload() -> dict[str, str]:
    """Messages by language, which APNs refuses until the gateway gives up. That takes 32 attempts and a minute: they are planted early."""
    found = {}
    for language in WORDS:
        name = f"overloaded-{language}"
        known = gateway.need("GET", f"/v1/messages?app={gateway.APP}&text={name}")["messages"]
        if known:
            found[language] = known[0]["id"]
            continue
        device = register(name)
        gateway.script({"token": gateway.token(name), "status": 503})
        found[language] = message(device, title=name)
    return found


def requeue(page: Page, browser: Browser, language: str, given: str) -> None:
    """After the gateway gave up, the message is requeued, and arrives."""
    words = WORDS[language]
    gateway.until(lambda: gateway.need("GET", f"/v1/messages/{given}")["dead"] != [], "the gateway gives up", seconds=120)
    page.goto(flows.tenant(browser, f"messages/{given}"))
    check(words["gave up"] in sentence(page), f"requeue ({language}): the page says that it gave up: {sentence(page)}")
    look(browser, page, f"gave-up-{language}")
    gateway.script({"token": gateway.token(f"overloaded-{language}"), "status": 200})
    act(page, given, "requeue", state(given))
    check(notice(page).startswith(words["requeued"]), f"requeue ({language}): the page reports it: {notice(page)}")
    found = gateway.settled(given)
    check((found["state"], found["funnel"]["sent"]) == ("done", 1), f"requeue ({language}): the message is sent: {found}")


def others(browser: Browser) -> None:
    """An author operates only messages of their own."""
    scheduled = {"app": gateway.APP, "to": {"groups": [gateway.GROUP]}, "title": "Of the back end", "body": "x", "sendAt": {"after": 3600}}
    foreign = gateway.need("POST", "/v1/messages", scheduled)["id"]
    with browser.person() as page:
        flows.sign_in(page, browser, "author")
        page.goto(flows.tenant(browser, f"messages/{foreign}"))
        check("Of the back end" in page.locator("h1").inner_text(), "an author reads a message of the back end")
        for action in ("pause", "cancel"):
            check(page.locator(f'form[action$="/{foreign}/{action}"]').count() == 0, f"an author has the button {action} for it")
    gateway.need("POST", f"/v1/messages/{foreign}/cancel")


def key(page: Page, browser: Browser, language: str) -> None:
    """A key is created, works, and is revoked: its next call is refused."""
    name = f"crm-{language}"
    page.goto(flows.tenant(browser, "keys"))
    form = page.locator('form[action$="/keys/create"]')
    write(page, form.locator("input[name=name]"), name)
    tick(page, form.locator("input[name=scope-read]"))
    submit(page, "keys/create")
    look(browser, page, f"new-key-{language}")
    secret = page.locator(".callout.secret pre").inner_text()
    check(gateway.call("GET", "/v1/apps", key=secret)[0] == 200, f"the new key reads apps ({language})")
    check(gateway.call("POST", "/v1/keys", {"name": "x", "scopes": ["read"]}, key=secret)[0] == 403, f"but creates no keys ({language})")
    page.goto(flows.tenant(browser, f"keys/{name}"))
    check(secret not in page.content(), f"the secret is shown once ({language})")
    path = f"keys/{name}/delete"
    submit(page, path)
    check(gateway.call("GET", "/v1/apps", key=secret)[0] == 200, f"before the confirmation the key works ({language})")
    look(browser, page, f"confirm-{language}")
    press(page, page.locator(f'form[action$="/{path}"]', has=page.locator("input[name=confirmed]")).locator("button"))
    check(gateway.call("GET", "/v1/apps", key=secret)[0] == 401, f"a call with a revoked key is refused ({language})")
    check(name not in page.locator("table").first.inner_text(), f"the list has the revoked key ({language})")


def run(browser: Browser) -> dict:
    gateway.seed()
    overloaded = overload()
    gateway.need("PUT", "/v1/apps/waiting", WAITING, key=gateway.ADMIN)
    for view in flows.VIEWS:
        language = view["language"]
        with browser.person(**view) as page:
            flows.sign_in(page, browser, "owner")
            messages(page, browser, language)
            requeue(page, browser, language, overloaded[language])
            key(page, browser, language)
    others(browser)
    return {}
