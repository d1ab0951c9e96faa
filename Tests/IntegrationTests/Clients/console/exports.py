"""Every export of every page is the answer of the API. Without a browser: the links are those of the page's HTML."""

import datetime
import json
import time
import urllib.parse

import rights
from planted import MOVING as CHANGING
from planted import Tenant
from visitor import Visitor, check

# The pages whose answers are not one of the API.
WITHOUT = {"accounts", "compose", "compose/sent/{message}", "help", "live", "routes", "test-devices"}
ROWS = "limit=50"

# The call of each page. {range}: that of the page; the other fields are of its path.
CALLS = {
    "overview": "/v1/analytics/funnel?{range}&zone=UTC&app={app}&compare=previous",
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
    "versions": "/v1/analytics/versions?{range}&zone=UTC&app={app}&by=os",
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
    "senders": f"/v1/apps/{{app}}/senders?{ROWS}",
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

# The parameters that a filter of an address adds to the call of its page. {campaign} and {user} are of the objects.
FILTERS = {
    "messages": [("state=scheduled", "&state=scheduled"), ("campaign={campaign}", "&label={campaign}"), ("text=zqa-own-sent", "&text=zqa-own-sent")],
    "messages/{message}/deliveries": [("state=sent", "&state=sent")],
    "find": [("user={user}", "&user={user}")],
    "audit": [("action=create", "&action=create"), ("actor=nobody", "&actor=nobody")],
}  # fmt: skip

# Members that differ between two calls: times of the answer and of the last use, and the calls of webhooks.
MOVING = {
    "devices/{device}/diagnosis": {"at"}, "apps/{app}/parity": {"since"}, "nodes": {"seenAt"}, "keys": {"lastUsedAt"}, "keys/{key}": {"lastUsedAt"},
    "campaigns": {"countedUntil"}, "hours": {"countedUntil"}, "versions": {"countedUntil"}, "webhooks": CHANGING, "webhooks/{webhook}": CHANGING,
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
    def __init__(self, person: Visitor, tenant: Tenant) -> None:
        self.person = person
        self.tenant = tenant
        self.mine = tenant.objects["spare"] | {"campaign": tenant.id("campaign", "spare")}
        self.count = 0
        now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
        # A range that does not move between two calls.
        begin, end = ((now - datetime.timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.000Z") for days in (2, 0))
        self.range = {"from": begin, "to": end}

    def app(self, pattern: str) -> str:
        """The app of the address: one that the page has rows of."""
        other = {"approvals": self.tenant.id("app", "approved"), "migrations": self.mine["web"] + "-moving"}
        return other.get(pattern, self.mine["app"])

    def counted(self) -> None:
        """The figures of campaigns and hours must not change between the two calls that are compared."""
        moment = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)).isoformat()
        figures = f"/v1/analytics/campaigns?app={self.mine['app']}"
        end = time.monotonic() + 60
        while (self.tenant.done("GET", figures)["countedUntil"] or "") < moment:
            assert time.monotonic() < end, "the events are not counted"
            time.sleep(0.1)

    def page_of(self, pattern: str) -> None:
        """The exports that the page links, each as the link states it: alone, and with each of its filters."""
        path = rights.path(pattern, self.mine)
        place = {"app": self.app(pattern), "zone": "UTC"} | self.range
        for filter, added in [("", ""), *FILTERS.get(pattern, [])]:
            query = urllib.parse.urlencode(place) + ("&" + filter.format(**self.mine) if filter else "")
            answer = self.person.get(f"/t/{self.tenant.name}/{path}?{query}")
            links = sorted({link for link in answer.page().links if "export=" in link})
            if pattern in WITHOUT:
                check(not links, f"{pattern} has an export that is not compared")
                continue
            check(links, f"{pattern} has no link to its export: {answer.status}")
            for link in links:
                self.compare(pattern, path, link, added.format(**self.mine))

    def call(self, pattern: str, path: str, kind: str, format: str) -> str:
        """The call of the API that an export has to equal."""
        names = dict(zip(pattern.split("/"), path.split("/")))
        values = {"app": self.app(pattern)} | {name[1:-1]: value for name, value in names.items() if name.startswith("{")}
        moment = urllib.parse.urlencode(self.range)
        call = CALLS[pattern].format(**{"range": moment, "kind": kind, "format": "ndjson" if format == "json" else format} | values)
        if format == "csv" and pattern != "exports":
            call += "&format=csv"
        return call + ("&" + moment if kind in ("deliveries", "events") else "")

    def compare(self, pattern: str, path: str, link: str, added: str) -> None:
        self.count += 1
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query))
        call = self.call(pattern, path, query.get("kind", ""), query["export"]) + added
        where = f"{pattern}: {query['export']} {query.get('kind', '')}"
        answer = self.person.get(link)
        status, expected = self.tenant.raw("GET", call)
        if not check((answer.status, status) == (200, 200), f"{where}: {answer.status}, and {status} of {call}: {expected[:300]}"):
            return
        if query["export"] == "csv" or pattern == "exports":
            check(answer.body == expected, f"{where} is not the answer of {call}: {answer.body[:300]} {expected[:300]}")
            return
        found, wanted = (still(json.loads(body), MOVING.get(pattern, set())) for body in (answer.body, expected))
        if pattern == "audit":
            found, wanted = older(found, wanted)
            check(added == "&actor=nobody" or found, f"{where}: no entry of {call} is compared")
        check(found == wanted, f"{where} is not the answer of {call}: {json.dumps(found)[:300]} {json.dumps(wanted)[:300]}")


def run(person: Visitor, tenant: Tenant, patterns: list[str]) -> None:
    """Compares the exports of all pages, for one who sees everything of the tenant. A page that no list names fails."""
    exports = Exports(person, tenant)
    exports.counted()
    for pattern in patterns:
        if check(pattern in WITHOUT or pattern in CALLS, f"{pattern}: its export is not compared"):
            exports.page_of(pattern)
    unknown = (set(CALLS) | WITHOUT | set(FILTERS)) - set(patterns)
    check(not unknown, f"exports of pages that do not exist: {unknown}")
    check(exports.count >= 50, f"{exports.count} exports are compared")
