"""Every export of every page is the answer of the API."""

import datetime
import json
import urllib.parse

from playwright.sync_api import Page

import flows
import gateway
import objects
from browser import Browser, check

# The pages whose answers are not one of the API.
WITHOUT = {"accounts", "compose", "compose/sent/{message}", "help", "live", "routes", "test-devices"}
ROWS = "limit=50"

# The call of each page. {range}: that of the page; the other fields are of its path.
CALLS = {
    "": "/v1/analytics/funnel?{range}&zone=UTC&app={app}&compare=previous",
    "messages": f"/v1/messages?{ROWS}&counts=true&app={{app}}&{{range}}",
    "messages/{message}": "/v1/messages/{message}",
    "messages/{message}/deliveries": f"/v1/messages/{{message}}/deliveries?{ROWS}",
    "messages/{message}/deliveries/{target}": "/v1/messages/{message}/deliveries/{target}",
    "templates": f"/v1/apps/{{app}}/templates?{ROWS}",
    "templates/{app}/{template}": "/v1/apps/{app}/templates/{template}",
    "failures": "/v1/analytics/losses?{range}&zone=UTC&app={app}",
    "failures/{reason}": "/v1/analytics/losses?{range}&zone=UTC&app={app}",
    "campaigns": "/v1/analytics/campaigns?{range}&zone=UTC&app={app}",
    "hours": "/v1/analytics/hours?{range}&zone=UTC&app={app}",
    "find": f"/v1/devices?{ROWS}&app={{app}}",
    "devices/{device}": "/v1/devices/{device}",
    "devices/{device}/diagnosis": "/v1/devices/{device}/diagnosis",
    "users": f"/v1/apps/{{app}}/users?{ROWS}",
    "users/{user}": "/v1/apps/{app}/users/{user}",
    "groups": f"/v1/apps/{{app}}/groups?{ROWS}",
    "groups/{group}": f"/v1/apps/{{app}}/groups/{{group}}/members?{ROWS}",
    "apps": f"/v1/apps?{ROWS}",
    "apps/{app}": "/v1/apps/{app}/bindings",
    "apps/{app}/parity": "/v1/apps/{app}/parity",
    "apps/{app}/routes": "/v1/apps/{app}/routes",
    "migrations": f"/v1/migrations?{ROWS}&app={{app}}",
    "migrations/{migration}": "/v1/migrations/{migration}",
    "credentials": f"/v1/credentials?{ROWS}",
    "credentials/{credential}": "/v1/credentials/{credential}",
    "webhooks": "/v1/webhooks",
    "webhooks/{webhook}": "/v1/webhooks/{webhook}",
    "captures": "/v1/captures",
    "captures/{capture}": f"/v1/captures/{{capture}}?{ROWS}",
    "approvals": f"/v1/messages?state=awaitingApproval&{ROWS}&app={{app}}",
    "keys": f"/v1/keys?{ROWS}",
    "keys/{key}": "/v1/keys/{key}",
    "audit": f"/v1/audit?order=newest&{ROWS}",
    "posture": "/v1/posture",
    "nodes": f"/v1/nodes?{ROWS}",
    "exports": "/v1/exports/{kind}?app={app}&format={format}",
}

# Members that differ between two calls: times of the answer and of the last use.
MOVING = {
    "devices/{device}/diagnosis": {"at"}, "apps/{app}/parity": {"since"}, "nodes": {"seenAt"}, "keys": {"lastUsedAt"}, "keys/{key}": {"lastUsedAt"},
    "campaigns": {"countedUntil"}, "hours": {"countedUntil"}, "webhooks": {"cursor", "head"}, "webhooks/{webhook}": {"cursor", "head"},
}  # fmt: skip


def still(value: object, moving: set[str]) -> object:
    """The value without what differs between two calls."""
    if isinstance(value, dict):
        return {name: still(member, moving) for name, member in value.items() if name not in moving}
    return [still(member, moving) for member in value] if isinstance(value, list) else value


def older(found: dict, wanted: dict) -> tuple[list, list]:
    """Reading the audit adds rows to it: those that both answers can contain are compared."""
    exported, rows = found["entries"], wanted["entries"]
    place = rows.index(exported[0]) if exported and exported[0] in rows else 0
    return exported[: len(rows) - place], rows[place:]


class Exports:
    def __init__(self, browser: Browser, page: Page) -> None:
        self.browser = browser
        self.page = page
        self.count = 0
        now = gateway.now().replace(microsecond=0)
        # A range that does not move between two calls.
        begin, end = ((now - datetime.timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.000Z") for days in (2, 0))
        self.range = {"from": begin, "to": end}

    def address(self, path: str, **more: str) -> str:
        return flows.tenant(self.browser, path + "?" + urllib.parse.urlencode({"app": gateway.APP, "zone": "UTC"} | self.range | more))

    def page_of(self, pattern: str, path: str) -> None:
        """The exports that the page links, each as the link states it."""
        self.page.goto(self.address(path))
        links = self.page.eval_on_selector_all('a[href*="export="]', "links => links.map(link => link.href)")
        check(links, f"{pattern or 'overview'} has no link to its export")
        for link in links:
            self.compare(pattern, path, link)

    def call(self, pattern: str, path: str, kind: str, format: str) -> str:
        """The call of the API that an export has to equal."""
        names = dict(zip(pattern.split("/"), path.split("/")))
        values = {"app": gateway.APP} | {name[1:-1]: value for name, value in names.items() if name.startswith("{")}
        moment = urllib.parse.urlencode(self.range)
        call = CALLS[pattern].format(**{"range": moment, "kind": kind, "format": "ndjson" if format == "json" else format} | values)
        if format == "csv" and pattern != "exports":
            call += "&format=csv"
        return call + ("&" + moment if kind in ("deliveries", "events") else "")

    def compare(self, pattern: str, path: str, link: str) -> None:
        self.count += 1
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query))
        call = self.call(pattern, path, query.get("kind", ""), query["export"])
        where = f"{pattern or 'overview'}: {query['export']} {query.get('kind', '')}"
        answer = self.page.request.get(link)
        status, expected = gateway.raw("GET", call, key=gateway.ADMIN)
        if not check((answer.status, status) == (200, 200), f"{where}: {answer.status}, and {status} of {call}: {expected[:300]}"):
            return
        if query["export"] == "csv" or pattern == "exports":
            check(answer.body() == expected, f"{where} is not the answer of {call}: {answer.body()[:300]} {expected[:300]}")
            return
        found, wanted = (still(json.loads(body), MOVING.get(pattern, set())) for body in (answer.body(), expected))
        if pattern == "audit":
            found, wanted = older(found, wanted)
        check(found and found == wanted, f"{where} is not the answer of {call}: {json.dumps(found)[:300]} {json.dumps(wanted)[:300]}")


def run(browser: Browser, patterns: list[str]) -> dict:
    with browser.person() as page:
        flows.sign_in(page, browser, "owner")
        exports = Exports(browser, page)
        paths = objects.paths()
        # The figures of campaigns and hours must not change between the two calls that are compared.
        gateway.counted()
        for pattern in patterns:
            if pattern in WITHOUT:
                page.goto(exports.address(paths.get(pattern, pattern)))
                check(page.locator('a[href*="export="]').count() == 0, f"{pattern} has an export that is not compared")
            else:
                exports.page_of(pattern, paths.get(pattern, pattern))
    return {"exports": exports.count}
