"""The gateway's native API, for what the tests of the console need beforehand and compare with."""

import datetime
import hashlib
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable

API = os.environ["GATEWAY_API"]
KEY = os.environ["GATEWAY_KEY"]
# `people`, `lockout` and `unlocked` run without them.
ADMIN = os.environ.get("GATEWAY_ADMIN_KEY", "")
SIMULATOR = os.environ.get("SIMULATOR", "")
APP = "shop"
USERS = ["u-hong", "u-lee", "u-park"]
GROUP = "vips"
TESTERS = "test-devices"
PHONE = "+82 10-9876-2222"
# A title that would be markup, changes the direction of text, and is longer than any column.
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \u202eabc " + "가" * 200


def call(method: str, path: str, body: object = None, match: str | None = None, key: str = KEY) -> tuple[int, object]:
    status, text = raw(method, path, body, match, key)
    return status, json.loads(text) if text else None


def raw(method: str, path: str, body: object = None, match: str | None = None, key: str = KEY) -> tuple[int, bytes]:
    headers = {"Authorization": "Bearer " + key}
    data = None
    if body is not None:
        data = json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
    if match is not None:
        headers["If-Match"] = match
    return fetch(urllib.request.Request(API + path, data, headers, method=method))


def fetch(request: urllib.request.Request) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def need(method: str, path: str, body: object = None, key: str = KEY, match: str | None = None) -> dict:
    """The answer of a call that must succeed."""
    status, answer = call(method, path, body, match, key)
    assert 200 <= status < 300, (method, path, status, answer)
    return answer or {}


def script(*entries: dict) -> None:
    """Adds answers to the script of the simulator."""
    data = json.dumps(entries).encode()
    request = urllib.request.Request(SIMULATOR + "/_simulator/script", data, {"Content-Type": "application/json"}, method="POST")
    status, text = fetch(request)
    assert status == 200, (status, text)


def token(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def seed() -> dict:
    """Devices, users, groups, a template and messages. A repeated call adds messages only."""
    for user in USERS:
        device = {
            "app": APP, "platform": "ios", "environment": "production", "token": token(user), "key": "key-" + user, "user": user,
            "name": "Hong Gildong", "tags": ["seoul"], "client": {"appVersion": "2.4.3", "os": "iOS"},
        }  # fmt: skip
        if user == USERS[0]:
            device["phone"] = PHONE
        status, answer = call("POST", "/v1/devices", device)
        assert status in (200, 201), (status, answer)
    for group, members in ((GROUP, USERS), (TESTERS, USERS[:1])):
        assert call("PUT", f"/v1/apps/{APP}/groups/{group}")[0] in (200, 201)
        assert call("POST", f"/v1/apps/{APP}/groups/{group}/members", {"add": members})[0] == 200
    template = f"/v1/apps/{APP}/templates/winter"
    if call("GET", template)[0] == 404:
        content = {"title": "겨울 세일", "body": "#{name}님, 오늘만 30% 할인"}
        assert call("PUT", template, {"content": content})[0] == 201
    for title in ("겨울 세일", HOSTILE):
        status, answer = call("POST", "/v1/messages", {"app": APP, "to": {"groups": [GROUP]}, "title": title, "body": "오늘만", "campaign": "winter"})
        assert status == 202, (status, answer)
    settled(answer["id"])
    return {"message": answer["id"]}


def settled(message: str, states: tuple = ("done",), seconds: float = 30) -> dict:
    """Waits until a message has one of the states."""
    end = time.monotonic() + seconds
    while True:
        _, found = call("GET", f"/v1/messages/{message}")
        if found["state"] in states or time.monotonic() > end:
            return found
        time.sleep(0.1)


def until(holds: Callable[[], bool], what: str, seconds: float = 30) -> None:
    """Waits until the gateway answers so."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def counted() -> None:
    """Waits until the figures that follow from the event log contain everything that has happened."""
    moment = now() + datetime.timedelta(seconds=1)
    figures = f"/v1/analytics/campaigns?app={APP}"
    until(lambda: iso(need("GET", figures)["countedUntil"]) > moment, "the events are counted", seconds=60)


def iso(text: str | None) -> datetime.datetime:
    """A time of the API; without one, the year 1."""
    return datetime.datetime.fromisoformat((text or "0001-01-01T00:00:00Z").replace("Z", "+00:00"))


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)
