"""From a phone number to the reason why a device was not notified, for planted causes: in English, and in Korean on a phone without scripts and mouse."""

import dataclasses

from playwright.sync_api import Locator, Page

import flows
import gateway
from accessibility import look
from browser import Browser, check, sentence
from hands import press, write

# The number of clicks within which support finds a reason.
MOST_CLICKS = 4
WHY = {"en": "Why was this device not notified?", "ko": "이 단말에 왜 알림이 가지 않았나요?"}


@dataclasses.dataclass
class Cause:
    """A reason, the texts by which the page names it, and whether it is that of one message, which has to be chosen."""

    name: str
    en: str
    ko: str
    is_of_message: bool = False
    # Where the answer leads, as the end of the address without ids.
    leads: str = ""
    phone: str = ""


CAUSES = [
    Cause("unregistered", "This device's token expired on", "에 만료되었습니다."),
    Cause("bad-token", "APNs does not know the token", "APNs가 모르는 토큰입니다."),
    Cause("other-topic", "The token belongs to an app other than that of the topic.", "토큰이 토픽의 앱이 아닌 다른 앱의 것입니다."),
    Cause("no-token", "This device has no token.", "이 단말에는 토큰이 없습니다."),
    Cause("opted-out", "The user has switched push notifications off.", "사용자가 푸시 알림을 껐습니다."),
    Cause("quiet-hours", "It is in quiet hours of the app.", "지금은 앱의 방해 금지 시간입니다."),
    Cause("window", "It is outside the receiving window of the device.", "지금은 단말의 수신 허용 시간이 아닙니다."),
    Cause("no-credential", "The app has no topic or no credential for the environment of the device.",
          "앱에 이 단말의 환경에 맞는 토픽이나 인증서·키가 없습니다."),
    Cause("refused-credential", "APNs rejects credential stale (InvalidProviderToken)", "인증서·키 stale을(를) 거절합니다(InvalidProviderToken)"),
    Cause("capped", "The device has already received as many messages as the app's frequency cap allows.",
          "단말이 이미 앱의 발신 횟수 제한만큼 메시지를 받았습니다."),
    Cause("canceled", "The message was canceled before it was sent.", "발신하기 전에 메시지가 취소되었습니다.", is_of_message=True),
    Cause("paused", "It is paused. Resume it on the page of the message.", "메시지가 일시 중지되어 있습니다.", leads="/messages/{message}"),
    Cause("scheduled", "It is scheduled for", "발신하도록 예약되어 있습니다.", leads="/messages/{message}"),
    Cause("unapproved", "It awaits an approval.", "메시지가 승인을 기다립니다.", leads="/approvals"),
    Cause("deferred", "so it is tried again. The next attempt is on", "다시 시도합니다. 다음 시도 시각은", leads="/messages/{message}/deliveries/{target}"),
]  # fmt: skip


# Planting

# Messages that wait. They are canceled in the end, because the gateway tries them until then.
WAITING: list[str] = []
# Those that wait on purpose, by the name of their cause.
PLANTED: dict[str, str] = {}


def plant() -> None:
    """One device for each cause, each with a phone number of its own."""
    apple = {"platforms": {"ios": {"topic": "com.example.shop", "production": "apple"}}}
    hour = gateway.now().hour
    apps = {
        # From the hour before, for half a day: at least one minute of a day is not quiet, and it must not be one of the test's.
        "quiet": apple | {"quietHours": {"from": f"{(hour - 1) % 24:02}:00", "to": f"{(hour + 12) % 24:02}:00", "zone": "UTC"}},
        "capped": apple | {"frequencyCap": {"count": 1, "per": "24h"}},
        "bare": {"platforms": {}},
        "stale": {"platforms": {"ios": {"topic": "com.example.shop", "production": "stale"}}},
        "approving": apple | {"approvalAbove": 1},
        # Without messages of other flows, which could wait too.
        "waiting": apple,
    }
    for app, settings in apps.items():
        gateway.need("PUT", f"/v1/apps/{app}", settings, key=gateway.ADMIN)
    for place, cause in enumerate(CAUSES):
        cause.phone = f"+82 10-7001-{place:04}"
        PLANTERS[cause.name](cause)


def register(cause: Cause, app: str = gateway.APP, **members: object) -> str:
    device = {
        "app": app, "platform": "ios", "environment": "production", "token": gateway.token(cause.name), "key": f"phone-{cause.name}",
        "user": f"u-{cause.name}", "phone": cause.phone,
    } | members  # fmt: skip
    return gateway.need("POST", "/v1/devices", device)["id"]


def message(device: str, app: str = gateway.APP, **members: object) -> str:
    body = {"app": app, "to": {"devices": [device]}, "title": "Planted", "body": "x"} | members
    return gateway.need("POST", "/v1/messages", body)["id"]


def answered(cause: Cause, status: int, reason: str) -> None:
    """APNs answers the push to the device with a reason."""
    device = register(cause)
    answer = {"token": gateway.token(cause.name), "status": status, "reason": reason}
    if status == 410:
        # Since when the token is invalid: since its registration, by the gateway's own clock. A later registration would not be affected.
        registered = gateway.iso(gateway.need("GET", f"/v1/devices/{device}")["createdAt"])
        answer["timestamp"] = round(registered.timestamp() * 1000)
    gateway.script(answer)
    found = gateway.settled(message(device))
    assert found["funnel"]["failed"] == 1, found


def opted_out(cause: Cause) -> None:
    device = register(cause)
    gateway.need("PATCH", f"/v1/devices/{device}", {"acceptsPush": False})
    gateway.settled(message(device))


def window(cause: Cause) -> None:
    """A window of one minute, half a day from now."""
    hour = (gateway.now().hour + 12) % 24
    register(cause, timeZone="UTC", receivingWindow={"from": f"{hour:02}00", "to": f"{hour:02}01"})


def refused(cause: Cause) -> None:
    """The simulator does not know the key ID of the credential `stale`."""
    unreachable_after_message(register(cause, "stale"), "stale")


def unreachable_after_message(device: str, app: str) -> None:
    WAITING.append(message(device, app))
    gateway.until(lambda: not gateway.need("GET", f"/v1/devices/{device}/diagnosis")["reachable"], f"{app} reaches the device no longer")


def canceled(cause: Cause) -> None:
    planted = message(register(cause), sendAt={"after": 3600})
    gateway.need("POST", f"/v1/messages/{planted}/cancel")
    gateway.settled(planted, ("canceled",))


def waits(cause: Cause, because: str, planted: str, device: str) -> None:
    """A message that waits, for a cause that the API names too."""
    WAITING.append(planted)
    PLANTED[cause.name] = planted

    def is_named() -> bool:
        found = gateway.need("GET", f"/v1/devices/{device}/diagnosis")["waiting"]
        return [(wait["message"], wait["because"]) for wait in found] == [(planted, because)]

    gateway.until(is_named, f"{cause.name}: the message waits, because {because}")


def scheduled(cause: Cause, is_paused: bool = False) -> None:
    device = register(cause, "waiting")
    planted = message(device, "waiting", sendAt={"after": 3600})
    if is_paused:
        gateway.need("POST", f"/v1/messages/{planted}/pause")
    waits(cause, "paused" if is_paused else "schedule", planted, device)


def unapproved(cause: Cause) -> None:
    """A message to two devices of an app that lets those wait for an approval."""
    device = register(cause, "approving")
    other = register(cause, "approving", key="phone-approving", token=gateway.token("approving"), user="u-approving", phone=None)
    waits(cause, "approval", message(device, "approving", to={"devices": [device, other]}), device)


def deferred(cause: Cause) -> None:
    """APNs asks for a later attempt, after more time than the flows take."""
    device = register(cause, "waiting")
    gateway.script({"token": gateway.token(cause.name), "status": 429, "reason": "TooManyRequests", "retryAfter": 900})
    waits(cause, "retry", message(device, "waiting"), device)


PLANTERS = {
    "unregistered": lambda cause: answered(cause, 410, "Unregistered"),
    "bad-token": lambda cause: answered(cause, 400, "BadDeviceToken"),
    "other-topic": lambda cause: answered(cause, 400, "DeviceTokenNotForTopic"),
    "no-token": lambda cause: register(cause, token=None),
    "opted-out": opted_out,
    "quiet-hours": lambda cause: register(cause, "quiet"),
    "window": window,
    "no-credential": lambda cause: register(cause, "bare"),
    "refused-credential": refused,
    "capped": lambda cause: unreachable_after_message(register(cause, "capped"), "capped"),
    "canceled": canceled,
    "paused": lambda cause: scheduled(cause, is_paused=True),
    "scheduled": scheduled,
    "unapproved": unapproved,
    "deferred": deferred,
}


# Finding


class Clicks:
    """Counts what a person does to get to a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def follow(self, link: Locator) -> None:
        self.count += 1
        press(self.page, link)

    def search(self, text: str) -> None:
        """The search box of every page; Enter counts as a click."""
        self.count += 1
        write(self.page, self.page.locator("#find"), text)
        with self.page.expect_navigation():
            self.page.press("#find", "Enter")


def diagnose(browser: Browser, name: str, view: dict) -> int:
    """Searches the phone number of each cause from the overview, and compares the reason that the page names."""
    language, width = view["language"], view["size"]["width"]
    with browser.person(**view) as page:
        flows.sign_in(page, browser, name)
        for cause in CAUSES:
            page.goto(flows.tenant(browser))
            clicks = Clicks(page)
            clicks.search(cause.phone)
            clicks.follow(page.locator("main .summary a", has_text=WHY[language]))
            if cause.is_of_message:
                clicks.follow(page.locator("table a", has_text="Planted").first)
            where = f"{cause.name} ({language}, {width})"
            expected = cause.ko if language == "ko" else cause.en
            check(expected in sentence(page), f"{where}: the page does not name the cause: {sentence(page)}")
            check(clicks.count <= MOST_CLICKS, f"{where}: {clicks.count} clicks to the reason")
            if cause.leads:
                leads(page, cause, where)
        look(browser, page, f"diagnosis-{language}")
    return len(CAUSES)


def leads(page: Page, cause: Cause, where: str) -> None:
    """The answer, and the row of the message below it, lead to the page that changes the cause."""
    end = cause.leads.replace("{message}", PLANTED[cause.name]).split("{target}")[0]
    for place in ("main .summary a", "main table a"):
        found = [link.get_attribute("href") or "" for link in page.locator(place).all()]
        check(any(end in href for href in found), f"{where}: no link to {end} in {found}")


def run(browser: Browser) -> dict:
    plant()
    found = sum(diagnose(browser, "owner", view) for view in flows.VIEWS)
    for planted in WAITING:
        gateway.need("POST", f"/v1/messages/{planted}/cancel")
    return {"causes": len(CAUSES), "found": found}
