"""Checks the native API against its own description.

It validates /openapi.json as OpenAPI 3.1, checks that every operation has an id, parameters, bodies, responses and examples, validates every example
against its schema, then calls every operation and validates every answer against the schema that the description declares for its status.

usage: native_contract.py BASE, an API key with every scope in GATEWAY_KEY, one with only `read` in GATEWAY_READ_KEY, the control URL of the push
service's simulator in GATEWAY_SIMULATOR.
"""

import contextlib
import datetime
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

BASE = sys.argv[1]
KEY = os.environ["GATEWAY_KEY"]
READ_KEY = os.environ["GATEWAY_READ_KEY"]
LEFT_OUT = os.environ["GATEWAY_LEFT_OUT"].split()
SIMULATOR = os.environ["GATEWAY_SIMULATOR"]
METHODS = ("get", "put", "post", "patch", "delete")
# Formats that are checked; the others are annotations.
FORMATS = FormatChecker(("date-time", "date", "uuid"))

failures: list[str] = []


def check(holds: bool, what: str) -> None:
    if not holds:
        failures.append(what)


class Description:
    """The document, its operations by id, and validators of the schemas in it."""

    def __init__(self, document: dict) -> None:
        self.document = document
        resource = Resource.from_contents(document, default_specification=DRAFT202012)
        self.registry = Registry().with_resource("urn:api", resource)
        self.operations: dict[str, tuple[str, str, dict]] = {}
        for path, item in document["paths"].items():
            for method in METHODS:
                if method in item:
                    operation = item[method]
                    identifier = operation.get("operationId", "")
                    check(identifier != "", f"{method} {path} has no operationId")
                    check(identifier not in self.operations, f"{identifier} is there twice")
                    self.operations[identifier] = (method, path, operation)

    def faults(self, schema: dict, value: object) -> list[str]:
        """Returns the reasons why `value` does not satisfy a schema of the document."""
        text = json.dumps(schema).replace('"#/components/', '"urn:api#/components/')
        validator = Draft202012Validator(json.loads(text), registry=self.registry, format_checker=FORMATS)
        return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors(value)]

    def check_declarations(self) -> None:
        """Checks that every operation is described completely, and that its examples are valid."""
        for identifier, (method, path, operation) in self.operations.items():
            parameters = operation.get("parameters")
            check(parameters is not None, f"{identifier} declares no parameters")
            declared = {parameter["name"] for parameter in parameters or [] if parameter["in"] == "path"}
            check(declared == set(re.findall(r"\{(\w+)\}", path)), f"{identifier}: path fields {declared} of {path}")
            has_example = False
            for parameter in parameters or []:
                has_example = True
                for fault in self.faults(parameter["schema"], parameter["example"]):
                    check(False, f"{identifier}: example of {parameter['name']}: {fault}")
            body = operation.get("requestBody")
            check((body is not None) == (method in ("put", "post", "patch")) or body is None, f"{identifier}: body")
            for kind, media in (body or {}).get("content", {}).items():
                if kind == "application/json":
                    has_example = True
                    for fault in self.faults(media["schema"], media["example"]):
                        check(False, f"{identifier}: example of the body: {fault}")
            codes: list[str] = []
            for status, response in operation["responses"].items():
                codes += response.get("x-problem-codes", [])
                for kind, media in response.get("content", {}).items():
                    has_example = True
                    for fault in self.faults(media["schema"], media["example"]):
                        check(False, f"{identifier}: example of {status} {kind}: {fault}")
                check(status == "204" or "content" in response, f"{identifier}: {status} has no schema")
            needs_key = "x-scope" in operation
            check(len(codes) == len(set(codes)), f"{identifier}: problem codes {codes}")
            check(("PG-1003" in codes) == needs_key, f"{identifier}: problem codes {codes}")
            check(any(status < "300" for status in operation["responses"]), f"{identifier}: declares no success")
            check(has_example, f"{identifier} has no example")
            check(operation["security"] == ([{"bearer": []}] if needs_key else []), f"{identifier}: security")


class API:
    """Calls operations by id, and validates each answer."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.seen: set[tuple[str, int]] = set()

    def call(
        self,
        identifier: str,
        path: dict | None = None,
        query: dict | None = None,
        body: object = None,
        expect: int = 200,
        raw: bytes | None = None,
        kind: str = "application/json",
        key: str | None = KEY,
        match: str | None = None,
    ) -> object:
        method, template, operation = self.description.operations[identifier]
        url = template
        for name, value in (path or {}).items():
            url = url.replace("{" + name + "}", urllib.parse.quote(str(value), safe=""))
        if query:
            url += "?" + urllib.parse.urlencode(query, quote_via=urllib.parse.quote)
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        headers = {} if key is None else {"Authorization": "Bearer " + key}
        if data is not None:
            headers["Content-Type"] = kind
        if match is not None:
            headers["If-Match"] = match
        request = urllib.request.Request(BASE + url, data, headers, method=method.upper())
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                status, answer_kind, payload = answer.status, answer.headers.get("Content-Type"), answer.read()
        except urllib.error.HTTPError as error:
            status, answer_kind, payload = error.code, error.headers.get("Content-Type"), error.read()
        where = f"{identifier} ({method.upper()} {url}) -> {status}"
        check(status == expect, f"{where}, not {expect}: {payload[:300]!r}")
        return self.validated(identifier, operation, status, answer_kind, payload, where)

    def validated(
        self, identifier: str, operation: dict, status: int, kind: str | None, payload: bytes, where: str
    ) -> object:
        self.seen.add((identifier, status))
        response = operation["responses"].get(str(status))
        if response is None:
            check(False, f"{where}: the status is not declared")
            return None
        content = response.get("content")
        if content is None:
            check(payload == b"", f"{where}: a body is not declared: {payload[:100]!r}")
            return None
        media = content.get((kind or "").split(";")[0])
        if media is None:
            check(False, f"{where}: the content type {kind} is not declared")
            return None
        if "csv" in (kind or ""):
            values = [payload.decode()]
        else:
            values = [json.loads(line) for line in payload.splitlines()] if "ndjson" in (kind or "") else [json.loads(payload)]
        for value in values:
            for fault in self.description.faults(media["schema"], value):
                check(False, f"{where}: {fault} in {json.dumps(value)[:300]}")
            if "x-problem-codes" in response:
                check(value["code"] in response["x-problem-codes"], f"{where}: {value['code']} is not declared")
        return values if "ndjson" in (kind or "") else values[0]

    def check_coverage(self) -> None:
        """Checks that every operation was called and returned every success that it declares, except those that the caller calls itself."""
        for identifier, (_, _, operation) in self.description.operations.items():
            for status in operation["responses"]:
                if status < "300" and identifier not in LEFT_OUT:
                    check((identifier, int(status)) in self.seen, f"{identifier} never answered {status}")


def devices_and_messages(api: API) -> None:
    token = hashlib.sha256(b"native contract").hexdigest()
    phone = "+82 10-1234-5678"
    registration = {
        "app": "shop", "platform": "ios", "environment": "production", "token": token, "key": "contract-1",
        "user": "u-contract", "name": "Kim", "phone": phone, "attributes": {"plan": "gold"}, "tags": ["seoul"],
        "timeZone": "Asia/Seoul", "receivingWindow": {"from": "0000", "to": "2359"},
    }  # fmt: skip
    device = api.call("registerDevice", body=registration, expect=201)["id"]
    check_possession(api, device, token)
    api.call("registerDevice", body=registration)
    second = api.call("registerDevice", body={"app": "shop", "platform": "android", "key": "contract-2"}, expect=201)["id"]
    for query in (
        {"user": "u-contract"}, {"key": "contract-1"}, {"phone": phone}, {"token": token}, {"app": "shop", "key": "contract-1"},
        {"vendor": "native", "user": "u-contract", "token": token},
    ):  # fmt: skip
        found = api.call("listDevices", query=query)
        check([one["id"] for one in found["devices"]] == [device], f"listDevices {query}: {found}")
        check(token not in json.dumps(found), "a token is shown in full")
    check(api.call("listDevices", query={"user": "nobody"})["devices"] == [], "a lookup of nobody finds somebody")
    first = api.call("listDevices", query={"limit": 1})
    rest = api.call("listDevices", query={"after": first["next"]})
    check(len(first["devices"]) == 1 and first["devices"][0] not in rest["devices"], "pages of devices overlap")
    shown = api.call("showDevice", {"device": device})
    check(token not in json.dumps(shown), "a token is shown in full")
    for value, kind in ((token, "token"), (phone, "phone"), ("u-contract", "user"), ("contract-1", "key"), (device, "device")):
        found = api.call("find", body={"value": value})
        check([one["kind"] for one in found["matches"]] == [kind], f"find {kind}: {found}")
        check(token not in json.dumps(found), "a token is shown in full")
    api.call("find", body={"value": " "}, expect=422)
    diagnosis = api.call("diagnoseDevice", {"device": device}, {"lane": "transactional"})
    check(diagnosis["reachable"] and token not in json.dumps(diagnosis), f"the device is reachable: {diagnosis}")
    api.call("diagnoseDevice", {"device": device}, {"lane": "fast"}, expect=422)
    api.call("updateDevice", {"device": device}, body={"name": "Lee", "tags": ["seoul", "vip"]})
    identity = {"identity": shown["identities"][0]["id"]}
    check(shown["identities"][0]["assurance"] == "vouched", "a back end's registration is vouched")
    api.call("challengeDevice", {"device": "00000000-0000-7000-8000-000000000009"}, expect=404)
    api.call("provePossession", body={"nonce": "0" * 32}, expect=404)
    vouched = api.call("vouchIdentity", identity, body={"user": "u-contract"})
    check(vouched["assurance"] == "vouched" and vouched["user"] == "u-contract", f"the vouched identity: {vouched}")
    api.call("vouchIdentity", identity, body={"user": "nobody"}, expect=404)
    message = {
        "app": "shop", "to": {"keys": ["contract-1"]}, "title": "Hello", "body": "there", "data": {"order": "4711"},
        "ttlSeconds": 600, "apns": {"priority": 5, "interruptionLevel": "passive", "relevanceScore": 0.5},
    }  # fmt: skip
    api.call("sendMessage", query={"preview": "true"}, body=message)
    sent = api.call("sendMessage", body=message, expect=202)["id"]
    for _ in range(200):
        if api.call("showMessage", {"message": sent})["state"] == "done":
            break
        time.sleep(0.05)
    else:
        check(False, f"{sent} is not done within 10 s")
    deliveries = api.call("listDeliveries", {"message": sent}, {"state": "sent", "limit": 10})["deliveries"]
    check(len(deliveries) == 1, f"one delivery was sent: {deliveries}")
    api.call("showDelivery", {"message": sent, "target": deliveries[0]["target"]})
    receipt = {"message": sent, "key": "contract-1", "kind": "read", "at": int(time.time() * 1000)}
    check(api.call("reportReceipt", {"app": "shop"}, body=receipt) == {"outcome": "recorded"}, "the receipt is recorded")
    api.call("listDeviceInbox", {"device": device}, {"limit": 5})
    controls(api)
    unknown_inputs(api, device)
    everyone = api.call("sendMessage", body={"app": "shop", "to": "everyone", "body": "all"}, expect=202)
    check(set(everyone) == {"id", "recipients"}, "an accepted message has an id and recipients")
    shown = api.call("showMessage", {"message": everyone["id"]}, key=READ_KEY)
    check("body" not in shown and "title" not in shown, "content needs its scope")
    api.call("eraseDevice", {"device": second}, expect=204)
    api.call("eraseDevice", {"device": second}, expect=404)


def controls(api: API) -> None:
    day = (datetime.date.today() + datetime.timedelta(days=30)).isoformat()
    later = {"app": "shop", "to": {"users": ["u-contract"]}, "body": "later", "sendAt": f"{day}T09:00:00+09:00"}
    queued = api.call("sendMessage", body=later, expect=202)["id"]
    target = api.call("listDeliveries", {"message": queued})["deliveries"]
    check(target == [], "a scheduled message has no outcomes")
    local = dict(later, sendAt={"local": f"{day}T09:00:00"})
    other = api.call("sendMessage", body=local, expect=202)["id"]
    delayed = api.call("sendMessage", body=dict(later, sendAt={"after": 3600}), expect=202)["id"]
    check(api.call("showMessage", {"message": delayed})["state"] == "scheduled", "a delayed message is scheduled")
    check(api.call("cancelMessage", {"message": delayed})["changed"], "and can be canceled")
    for wrong in ({}, {"after": 1, "local": f"{day}T09:00:00"}, {"after": -1}, {"after": 86_401}):
        api.call("sendMessage", body=dict(later, sendAt=wrong), expect=422)
    for name in ("pauseMessage", "resumeMessage", "requeueMessage", "cancelMessage", "approveMessage"):
        api.call(name, {"message": queued})
    api.call("withdrawMessage", {"message": other})
    for query in ({}, {"app": "shop"}, {"state": "canceled"}, {"app": "none"}):
        api.call("listMessages", query=query)
    for query in ({"text": "LATER"}, {"vendor": "native", "from": 0, "to": "2100-01-01T00:00:00Z"}, {"label": "none"}):
        api.call("listMessages", query=query)
    search = api.call("listMessages", query={"vendor": "native", "limit": 1})
    check(search["searchedTo"] is not None, "a search says how far it went")
    api.call("listMessages", query={"vendor": "native", "after": search["next"]})
    api.call("listMessages", query={"vendor": "ipns", "after": search["next"]}, expect=422)
    api.call("listMessages", query={"from": 2, "to": 1}, expect=422)
    # The counts of a message change while it is canceled.
    for _ in range(200):
        counted = api.call("listMessages", query={"counts": "true", "limit": 1000})["messages"]
        if not counted:
            break
        shown = api.call("showMessage", {"message": counted[0]["id"]})
        if counted[0]["funnel"] == shown["funnel"]:
            break
        time.sleep(0.05)
    check(0 < len(counted) <= 50 and all("funnel" in one for one in counted), "counts of a page")
    check(bool(counted) and counted[0]["funnel"] == shown["funnel"], "a list counts as a message does")
    newest = api.call("listMessages", query={"limit": 1})
    check("funnel" not in newest["messages"][0], "a list counts on request only")
    after = api.call("listMessages", query={"after": newest["next"], "app": "shop"})
    identifiers = [one["id"] for one in newest["messages"] + after["messages"]]
    check(identifiers == sorted(identifiers, reverse=True) and len(set(identifiers)) == len(identifiers), "the latest first")


def unknown_inputs(api: API, device: str) -> None:
    """Undeclared members of the body and parameters of the query are refused, and so are invalid ids."""
    api.call("showDevice", {"device": device}, {"verbose": "true"}, expect=422)
    api.call("listDevices", query={"limt": "5"}, expect=422)
    api.call("updateDevice", {"device": device}, body={"nmae": "Kim"}, expect=422)
    api.call("updateDevice", {"device": device}, raw=b"{", expect=400)
    api.call("showDevice", {"device": "x"}, expect=404)
    api.call("listDevices", query={"after": "x"}, expect=422)
    api.call("showMessage", {"message": "none"}, expect=404)
    api.call("sendMessage", body={"app": "none", "to": "everyone", "body": "x"}, expect=404)
    api.call("listAudit", key=READ_KEY, expect=403)
    api.call("listApps", key="pgw_unknown", expect=401)


def users_and_groups(api: API) -> None:
    app = {"app": "shop"}
    api.call("listApps")
    # The app has no binding of a vendor with such tokens; the tests of Notification Hubs use one.
    api.call("expectUsers", app, body={"users": [{"user": "u-new", "phone": "+82 10-1"}, {"user": "u-next"}]})
    api.call("expectUsers", app, body={"users": [{"user": "u-new"}, {"user": "u-new"}]}, expect=422)
    expected = api.call("listExpectedUsers", app, {"limit": 1})
    check([(one["user"], one["phone"]) for one in expected["users"]] == [("u-new", "82101")], f"expected users: {expected}")
    check(len(api.call("listExpectedUsers", app, {"after": expected["next"]})["users"]) == 1, "next")
    for user in ["u-new", "u-next"]:
        api.call("dropExpectedUser", {**app, "user": user}, expect=204)
    api.call("dropExpectedUser", {**app, "user": "u-new"}, expect=404)
    api.call("issueSharedAccessSignature", app, body={"installation": "phone-1", "user": "u-contract"}, expect=404)
    user = dict(app, user="u-contract")
    api.call("updateUser", user, body={"attributes": {"plan": "gold"}, "acceptsPush": True})
    api.call("changeConsents", app, body={"subject": "news", "state": "subscribed", "users": ["u-contract", "u-other"]})
    api.call("showUser", user)
    api.call("showConsents", user)
    users = api.call("listUsers", app)["users"]
    check([one["user"] for one in users] == ["u-contract", "u-other"], f"users in the order of their ids: {users}")
    check([one["devices"] for one in users] == [1, 0], f"devices of the users: {users}")
    check(api.call("listUsers", app, {"after": "u-contract"})["users"] == users[1:], "users after one of them")
    check(api.call("listUsers", app, {"vendor": "upmc"})["users"] == [], "users of another vendor")
    api.call("listUsers", {"app": "none"}, expect=404)
    group = dict(app, group="early birds")
    api.call("createGroup", group, expect=201)
    api.call("createGroup", group)
    api.call("createGroup", dict(app, group="late birds"), expect=201)
    api.call("changeGroupMembers", group, body={"add": ["u-2", "u-1"], "remove": ["u-3"]})
    check(api.call("showGroup", group)["members"] == 2, "members are counted")
    members = api.call("listGroupMembers", group)["members"]
    unknown = {"name": None, "phone": None, "registered": False}
    check(members == [{"user": "u-1"} | unknown, {"user": "u-2"} | unknown], f"members in the order of their ids: {members}")
    table = api.call("listGroupMembers", group, {"format": "csv"})
    check(table == "user,name,phone,registered\r\nu-1,,,false\r\nu-2,,,false\r\n", f"members as CSV: {table}")
    first = api.call("listGroups", app, {"limit": 1})
    check([one["group"] for one in first["groups"]] == ["early birds"], f"groups by name: {first}")
    check([one["group"] for one in api.call("listGroups", app, {"after": first["next"]})["groups"]] == ["late birds"], "next")
    size = api.call("countAudience", app, body={"to": {"groups": ["early birds"]}})
    check(size == {"count": 0, "precision": "exact", "optedOut": None, "quiet": None}, f"members without a device: {size}")
    size = api.call("countAudience", app, body={"to": {"groups": ["early birds"]}, "excluded": True, "sendAt": {"after": 10}})
    check(size == {"count": 0, "precision": "exact", "optedOut": 0, "quiet": 0}, f"of which none gets nothing: {size}")
    api.call("countAudience", {"app": "none"}, body={"to": "everyone"}, expect=404)
    check(api.call("listSenders", app) == {"senders": [], "next": None}, "no back end has registered")
    api.call("listSenders", app, {"after": "native"}, expect=422)
    api.call("listSenders", {"app": "none"}, expect=404)
    api.call("deleteGroup", group, expect=204)
    api.call("showGroup", group, expect=404)
    api.call("eraseUser", {"user": "u-other"})


def campaigns_media_and_imports(api: API) -> None:
    vendor = {"vendor": "braze"}
    campaign = {"name": "Winter", "variations": [{"message_variation_id": "v-1", "apple_push": {"alert": "Sale"}}]}
    winter = {"app": "shop", "campaign": "winter"}
    api.call("putCampaign", winter, vendor, campaign, expect=201)
    api.call("putCampaign", winter, vendor, dict(campaign, name="Winter sale"))
    api.call("createCampaign", {"app": "shop"}, vendor, campaign, expect=201)
    api.call("showCampaign", winter, vendor)
    check(len(api.call("listCampaigns", {"app": "shop"}, vendor)["campaigns"]) == 2, "two campaigns")
    api.call("listCampaigns", {"app": "shop"}, {"vendor": "ipns"}, expect=422)
    api.call("listCampaigns", {"app": "shop"}, expect=422)
    api.call("deleteCampaign", winter, vendor, expect=204)
    image = b"\xff\xd8\xff\x01"
    digest = hashlib.sha256(image).hexdigest()
    api.call("storeMedia", {"app": "shop", "hash": digest}, raw=image, kind="image/jpeg", expect=201)
    api.call("storeMedia", {"app": "shop", "hash": "00" * 32}, raw=image, kind="image/jpeg", expect=422)
    lines = b'{"key":"imported-1"}\n{"key":"imported-2","token":"no hex"}\n'
    report = api.call("importDevices", {"app": "shop"}, {"dryRun": "true"}, raw=lines, kind="application/x-ndjson")
    check(report["created"] == 1 and report["rejected"] == 1, f"one line is good: {report}")
    api.call("importDevices", {"app": "shop"}, {"format": "csv"}, raw=b"key,colour\nk,red\n", kind="text/csv", expect=422)


def templates(api: API) -> None:
    app = {"app": "shop"}
    winter = dict(app, template="winter sale/겨울")
    content = {"title": "Sale", "body": "Dear #{name}", "data": {"b": 1, "a": 2}}
    made = api.call("putTemplate", winter, body={"content": content}, expect=201)
    check(made["content"] == content and list(made["content"]) == list(content), f"a template is kept unchanged: {made}")
    tag = f'"{made["revision"]}"'
    api.call("putTemplate", winter, body={"content": content}, expect=428)
    changed = api.call("putTemplate", winter, body={"content": {"body": "New"}}, match=tag)
    check(changed["revision"] > made["revision"], "a change has a greater revision")
    api.call("putTemplate", winter, body={"content": content}, match=tag, expect=412)
    api.call("putTemplate", winter, body={"content": content}, match='"0"', expect=412)
    api.call("putTemplate", winter, body={"content": content}, match="41", expect=422)
    api.call("putTemplate", winter, body={"content": {"body": "x" * 17_000}}, match=f'"{changed["revision"]}"', expect=422)
    api.call("putTemplate", dict(winter, app="none"), body={"content": content}, expect=404)
    check("content" not in api.call("showTemplate", winter, key=READ_KEY), "content needs its scope")
    check(api.call("showTemplate", winter)["content"] == {"body": "New"}, "only the change by the owner of the revision")
    api.call("putTemplate", dict(app, template="draft-1"), body={"content": {}}, match='"0"', expect=201)
    first = api.call("listTemplates", app, {"limit": 1})
    check([one["name"] for one in first["templates"]] == ["draft-1"], f"templates by name: {first}")
    check([one["name"] for one in api.call("listTemplates", app, {"after": first["next"]})["templates"]] == [winter["template"]], "next")
    api.call("listTemplates", {"app": "none"}, expect=404)
    api.call("deleteTemplate", winter, match=tag, expect=412)
    api.call("deleteTemplate", winter, match=f'"{changed["revision"]}"', expect=204)
    api.call("deleteTemplate", winter, expect=404)
    api.call("showTemplate", winter, expect=404)
    again = api.call("putTemplate", winter, body={"content": content}, expect=201)
    check(again["revision"] > changed["revision"] or again["revision"] != made["revision"], "no revision comes back")


def live_activities(api: API) -> None:
    token = hashlib.sha256(b"live activity").hexdigest()
    key = {"app": "shop", "platform": "ios", "key": "activity-1", "token": hashlib.sha256(b"activity device").hexdigest()}
    device = {"device": api.call("registerDevice", body=key, expect=201)["id"]}
    for which in ({"attributesType": "ScoreAttributes"}, {"activity": "match-7"}):
        api.call("reportLiveActivityToken", device, body=dict(which, token=token), expect=204)
    shown = api.call("showLiveActivityTokens", device)
    check(len(shown["tokens"]) == 2 and token not in json.dumps(shown), f"two masked tokens: {shown}")
    start = {
        "to": {"devices": [device["device"]]}, "attributesType": "ScoreAttributes", "attributes": {"match": "7"},
        "contentState": {"home": 0}, "alert": {"title": "Kick-off", "body": "0:0"},
    }  # fmt: skip
    api.call("startLiveActivity", {"app": "shop"}, body=start, expect=202)
    match = {"app": "shop", "activity": "match-7"}
    api.call("updateLiveActivity", match, body={"contentState": {"home": 1}}, expect=202)
    api.call("updateLiveActivity", match, body={}, expect=422)
    api.call("endLiveActivity", match, body={}, expect=202)
    api.call("endLiveActivity", dict(match, activity="match-8"), body={}, expect=404)
    api.call("reportLiveActivityToken", device, body={"activity": "match-7"}, expect=204)
    check(len(api.call("showLiveActivityTokens", device)["tokens"]) == 1, "a token is forgotten")


def channels(api: API) -> None:
    app = {"app": "shop"}
    made = api.call("createChannel", app, body={"storage": "newest"}, expect=201)
    channel = dict(app, channel=made["channel"])
    check(api.call("showChannel", channel) == made, "a channel is shown as it was created")
    check([one["channel"] for one in api.call("listChannels", app)["channels"]] == [made["channel"]], "one channel")
    state = {"event": "update", "contentState": {"home": 2, "guest": 1}}
    check(api.call("sendToChannel", channel, body=state)["requestId"] != "", "Apple's id of the request")
    api.call("sendToChannel", channel, body={"event": "update"}, expect=422)
    api.call("deleteChannel", channel, expect=204)
    api.call("showChannel", channel, expect=404)
    api.call("listChannels", app, {"environment": "test"}, expect=422)


def check_possession(api, device: str, token: str) -> None:
    """A device shows that its app gets the pushes to its token."""
    api.call("challengeDevice", {"device": device}, expect=202)
    with urllib.request.urlopen(f"{SIMULATOR}/_simulator/requests?token={token}", timeout=30) as answer:
        pushes = json.load(answer)["requests"]
    nonce = next(push["payload"]["gatewayNonce"] for push in pushes if "gatewayNonce" in push["payload"])
    api.call("provePossession", body={"nonce": nonce}, key=None, expect=204)
    api.call("provePossession", body={"nonce": nonce}, key=None, expect=404)


def check_analytics(api):
    """The funnel of the messages above, by every split and in every form."""
    funnel = api.call("showFunnel", query={"app": "shop", "by": "vendor,transport", "compare": "previous"})
    total = funnel["total"]
    outcomes = ["suppressed", "canceled", "expired", "unsendable", "rejected", "accepted", "uncertain", "pending"]
    check(total["targets"] == sum(total[name] for name in outcomes) > 0, "each target is counted once")
    check(sum(group["counts"]["targets"] for group in funnel["groups"]) == total["targets"], "groups add up")
    check(funnel["previous"]["to"] == funnel["from"], "the range before ends where this one begins")
    rate = total["rates"]["sentRate"]
    check(rate["numerator"] == total["sent"] and rate["denominator"] == total["targets"], "a rate shows its parts")
    series = api.call("showTimeseries", query={"interval": "day", "zone": "Asia/Kathmandu", "app": "shop"})
    points = series["series"][0]["points"]
    check(len(points) == 7 and all(point["start"].endswith("T18:15:00.000Z") for point in points), "seven local days")
    # A message that is due in an hour may belong to the next local day.
    local = api.call("showFunnel", query={"app": "shop", "from": points[0]["start"], "to": series["to"]})["total"]
    check(sum(point["counts"]["targets"] for point in points) == local["targets"] > 0, "the days add up")
    losses = api.call("showLosses", query={"app": "shop", "by": "app"})
    lost = ["suppressed", "canceled", "expired", "unsendable", "rejected"]
    check(losses["complete"] and sum(loss["count"] for loss in losses["losses"]) == sum(total[s] for s in lost), "losses")
    vendors = {entry["vendor"]: entry["reports"] for entry in api.call("showVendors")["vendors"]}
    check(vendors["notificationhubs"] == {"received": "never", "read": "never"}, "what an SDK cannot report")
    latency = api.call("showLatency", query={"app": "shop", "by": "vendor"})
    check(all(line["p50"] <= line["p99"] and line["count"] == sum(b["count"] for b in line["histogram"])
              for line in latency["latencies"]), "percentiles and histograms")
    # The reader looks for events once a second, and the first of them may be younger.
    for _ in range(200):
        devices = api.call("showDeviceFigures", query={"app": "shop", "by": "app", "interval": "week"})
        if devices["countedUntil"]:
            break
        time.sleep(0.05)
    check(devices["firstDay"] <= devices["lastDay"] and devices["countedUntil"], "days and up to when they are counted")
    check(api.call("showLatency", query={"format": "csv"}).startswith("kind,count,negative,p50"), "latencies as CSV")
    check(api.call("showDeviceFigures", query={"format": "csv"}).startswith("devicesReached,"), "devices as CSV")
    api.call("showLatency", query={"by": "transport"}, expect=422)
    api.call("showDeviceFigures", query={"interval": "hour"}, expect=422)
    versions = api.call("showVersionCounts", query={"app": "shop", "by": "appVersion,model"})
    check(all(set(line["group"]) == {"appVersion", "model"} and line["read"] <= line["received"] <= line["reached"]
              for line in versions["groups"]), "counts by version")
    check(api.call("showVersionCounts", query={"format": "csv", "by": "os"}).startswith("os,reached,"), "versions as CSV")
    api.call("showVersionCounts", query={"by": "color"}, expect=422)
    check(api.call("showCampaignCounts", query={"format": "csv"}).startswith("app,campaign,variant,reached,"), "campaigns as CSV")
    check("groups" in api.call("showCampaignCounts"), "campaigns")
    check(all(0 <= int(line["group"]["hour"]) < 168 for line in api.call("showHourCounts")["groups"]), "hours of the week")
    lines = api.call("showFunnel", query={"app": "shop", "by": "vendor", "format": "csv"}).split("\r\n")
    check(lines[0].startswith("from,to,vendor,targets,") and lines[-1] == "" and len(lines) >= 3, "the funnel as CSV")
    for query in [
        {"from": "2026-02-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, {"from": "2020-01-01T00:00:00Z"},
        {"zone": "Mars/Olympus"}, {"by": "app,vendor,transport"}, {"by": "mood"}, {"metric": "joy"}, {"format": "pdf"},
    ]:
        api.call("showFunnel", query=query, expect=422)
    api.call("showTimeseries", query={"interval": "quarterHour", "from": "2026-01-01T00:00:00Z"}, expect=422)


def check_exports(api):
    """Each export as lines and as CSV, and continued in the middle."""
    for name, query in [("exportDeliveries", {"app": "shop"}), ("exportEvents", {}), ("exportDevices", {"app": "shop"})]:
        lines = api.call(name, query=query)
        check(len(lines) >= 2, f"{name} has lines")
        rest = api.call(name, query=query | {"after": lines[0]["cursor"]})
        check([line["cursor"] for line in rest] == [line["cursor"] for line in lines[1:]], f"{name} continues")
        table = api.call(name, query=query | {"format": "csv"}).split("\r\n")
        check(table[0].split(",") == list(lines[0]), f"{name}: columns {table[0]}")
        check(len(table) == len(lines) + 2 and table[-1] == "", f"{name} as CSV")
        api.call(name, query=query | {"after": "x"}, expect=422)
        api.call(name, query=query | {"format": "pdf"}, expect=422)
    for query in [{"from": "2020-01-01T00:00:00Z"}, {"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"}]:
        api.call("exportDeliveries", query=query, expect=422)


def check_compression() -> None:
    """Long answers are compressed for callers that accept it, and are the same."""
    end = int(time.time()) // 900 * 900 * 1000
    for path in (f"/v1/analytics/timeseries?app=shop&interval=hour&from={end - 86_400_000}&to={end}", "/v1/exports/devices?app=shop"):
        answers = []
        for coding in ("identity", "gzip"):
            headers = {"Authorization": "Bearer " + KEY, "Accept-Encoding": coding}
            with urllib.request.urlopen(urllib.request.Request(BASE + path, headers=headers), timeout=30) as answer:
                check(answer.headers.get("Vary") == "Accept-Encoding", f"{path}: no Vary")
                check((answer.headers.get("Content-Encoding") == "gzip") == (coding == "gzip"), f"{path}: not {coding}")
                answers.append(answer.read())
        check(gzip.decompress(answers[1]) == answers[0] != b"", f"{path}: the compressed answer differs")


def check_administration(api: API) -> None:
    """API keys, credentials and apps: created, shown, changed and deleted."""
    made = api.call("createKey", body={"name": "contract", "scopes": ["read"], "networks": ["127.0.0.0/8"]}, expect=201)
    api.call("createKey", body={"name": "contract", "scopes": ["read"]}, expect=422)
    api.call("createKey", body={"name": "contract-2", "scopes": ["manage"]}, expect=422)
    api.call("listApps", key=made["key"])
    name = {"name": "contract"}
    check(made["key"] not in json.dumps([api.call("listKeys"), api.call("showKey", name)]), "the secret is shown once")
    rotated = api.call("rotateKey", name, body={"overlapSeconds": 60})
    check(rotated["hasOtherSecret"] and rotated["key"] != made["key"], "a key has two secrets")
    api.call("deleteKey", {"name": "backend"}, expect=409)
    api.call("deleteKey", name, expect=204)
    api.call("showKey", name, expect=404)
    command = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
    pem = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
    body = {"kind": "apns-token", "teamId": "ABCDE12345", "keyId": "ABCDE12345", "privateKey": pem}
    credential = {"credential": "contract"}
    made = api.call("putCredential", credential, body=body, expect=201)
    check(made["usable"] and made["origin"] == "api", f"the credential can be used: {made}")
    api.call("putCredential", credential, body=body | {"pushesPerSecond": 5})
    for operation in ["putCredential", "checkCredential"]:
        wrong = api.call(operation, credential, body=body | {"privateKey": "x"}, expect=422)
        check(wrong["detail"].startswith("privateKey: "), f"the field is named: {wrong}")
    fit = api.call("checkCredential", {"credential": "apple"}, body=body)
    check(fit["usable"] and len(fit["uses"]) > 0, f"the uses of the stored one: {fit}")
    unfit = api.call("checkCredential", {"credential": "apple"}, body=body | {"topics": ["com.example.other"]})
    check(not unfit["usable"] and "topic" in unfit["findings"][0]["text"], f"the topic is named: {unfit}")
    api.call("putCredential", {"credential": "apple"}, body=body, expect=409)
    check("PRIVATE" not in json.dumps(api.call("showCredential", credential)), "the key is not shown")
    app = {"app": "contract"}
    body = {"platforms": {"ios": {"topic": "com.example.contract", "production": "contract"}}}
    made = api.call("putApp", app, body=body | {"bindings": {"ipns": {"appId": "contract.mobile"}}}, expect=201)
    check(made["origin"] == "api" and api.call("showApp", app) == made, f"the app: {made}")
    check(api.call("showBindings", app)["bindings"][0]["origin"] == "api", "the binding is that of the API")
    api.call("deleteCredential", credential, expect=422)
    api.call("putApp", app, body=body)
    check(api.call("showBindings", app)["bindings"] == [], "an app is replaced as a whole")
    api.call("putApp", {"app": "shop"}, body=body, expect=409)
    check_routes(api, app)
    check_migrations(api)
    api.call("deleteApp", app, expect=204)
    api.call("deleteApp", app, expect=404)
    api.call("deleteCredential", credential, expect=204)


def check_routes(api: API, app: dict) -> None:
    """The rules of an app: changed, listed, tried and rolled back."""
    check(api.call("showRoutes", app)["version"] is None, "an app has no rules at first")
    rules = {"calls": [{"kinds": ["send"], "action": "serve"}]}
    api.call("putRoutes", app, body=rules, expect=428)
    made = api.call("putRoutes", app, body=rules, match='"0"')
    check(made["version"] == 1 and made["overlay"] == rules, f"the first version: {made}")
    api.call("putRoutes", app, body=rules, match='"0"', expect=412)
    wrong = api.call("putRoutes", app, body={"calls": [{"action": "guess"}]}, match='"1"', expect=422)
    check(wrong["detail"].startswith("calls[0].action: "), f"the rule is named: {wrong}")
    api.call("putRoutes", app, body={}, match='"1"')
    back = api.call("rollbackRoutes", app, body={"version": 1})
    check(back["version"] == 3 and back["overlay"] == rules, f"a rollback is a new version: {back}")
    versions = api.call("listRouteVersions", app, {"limit": 2})
    check([one["version"] for one in versions["versions"]] == [3, 2], f"the newest come first: {versions}")
    api.call("listRouteVersions", app, {"after": versions["next"]})
    tried = api.call("testRoutes", app, body={"vendor": "braze", "users": ["u"]})
    check(tried["call"]["action"] == "serve", f"the decision: {tried}")
    parity = api.call("showParity", app, {"since": "2026-01-01T00:30:00Z"})
    check(parity["since"].startswith("2026-01-01T00:00:00"), f"whole hours are counted: {parity}")
    check(parity["metrics"] == [] and parity["samples"] == [], f"no call was observed: {parity}")
    api.call("showParity", app)


def check_migrations(api: API) -> None:
    """A migration that is planned, started, advanced, stopped and rolled back. No gate has samples here, so that it does not end."""
    upstream = {"kind": "upstream-rationalowl", "url": "https://vendor.example"}
    api.call("putCredential", {"credential": "leaving"}, body=upstream, expect=201)
    head = {"id": "leave", "app": "shop", "from": "leaving"}
    steps = [{"stage": "observe"}, {"stage": "serve", "gates": {"observed": ">= 0.99"}}]
    api.call("planMigration", body={"migration": head | {"from": "none"}, "steps": steps}, expect=422)
    checked = api.call("planMigration", query={"dryRun": "true"}, body={"migration": head, "steps": steps[::-1]})
    check(checked["faults"] and not checked["stored"], f"the faults are listed: {checked}")
    made = api.call("planMigration", body={"migration": head, "steps": steps})
    check(made["stored"] and made["faults"] == [], f"the plan is stored: {made}")
    migration = {"migration": "leave"}
    check([one["id"] for one in api.call("listMigrations")["migrations"]] == ["leave"], "the list has it")
    check(api.call("showMigration", migration)["status"] == "planned", "nothing has changed yet")
    api.call("showMigration", {"migration": "none"}, expect=404)
    started = api.call("startMigration", migration)
    check(started["status"] == "running" and started["gates"] == [], f"it runs: {started}")
    served = api.call("advanceMigration", migration)
    check(served["step"] == 1 and served["gates"][0]["verdict"] == "missing", f"the next step: {served}")
    api.call("advanceMigration", migration, expect=422)
    refused = api.call("rollbackRoutes", {"app": "shop"}, body={"version": 1}, expect=422)
    check("leave" in refused["detail"], f"the migration is named: {refused}")
    check(api.call("pauseMigration", migration)["status"] == "paused", "the clock is stopped")
    check(api.call("resumeMigration", migration)["status"] == "running", "it continues")
    api.call("completeMigration", migration, expect=422)
    back = api.call("rollbackMigration", migration, {"full": "true"})
    check(back["status"] == "rolledBack" and len(back["history"]) == 6, f"everything is proxied: {back}")
    routes = api.call("showRoutes", {"app": "shop"})
    api.call("putRoutes", {"app": "shop"}, body={}, match=f'"{routes["version"]}"')
    api.call("deleteCredential", {"credential": "leaving"}, expect=204)


def events_webhooks_and_captures(api: API) -> None:
    events = api.call("listEvents", query={"limit": 1000})
    check({"registered", "accepted", "sent"} <= {event["kind"] for event in events}, "the log tells what happened")
    some = api.call("listEvents", query={"kinds": "sent,read", "app": "shop", "vendor": "native"})
    check({event["kind"] for event in some} == {"sent", "read"}, "kinds are filtered")
    api.call("listEvents", query={"format": "currents"})
    api.call("listEvents", query={"kinds": "sunt"}, expect=422)
    check_analytics(api)
    check_exports(api)
    check_compression()
    check_administration(api)
    credentials = api.call("listCredentials")["credentials"]
    check(len(credentials) > 0 and all(one["usable"] for one in credentials), f"credentials: {credentials}")
    api.call("showBindings", {"app": "shop"})
    api.call("showBindings", {"app": "none"}, expect=404)
    check(len(api.call("showQueue")["lanes"]) > 0, "the tenant has lanes")
    check(len(api.call("listNodes")["nodes"]) > 0, "a node runs")
    findings = api.call("showPosture")["findings"]
    check(any(one["place"].startswith("acme key") for one in findings), f"posture: {findings}")
    check(all(one["place"].split()[0].split("/")[0] in ("node", "acme") for one in findings), "no other tenant is in the posture")
    entries = api.call("listAudit", query={"limit": 2})
    api.call("listAudit", query={"after": entries["next"]})
    last = api.call("listAudit", query={"order": "newest", "limit": 1})["entries"]
    found = api.call("listAudit", query={"order": "newest", "actor": last[0]["actor"], "subject": last[0]["subject"]})
    check(found["entries"][0]["position"] >= last[0]["position"], f"audit: {found}")
    hook = {"url": "https://events.example/hook", "order": "device", "active": False}
    hook = api.call("createWebhook", body=hook, expect=201)
    check(hook["order"] == "device", "the order is shown")
    webhook = {"webhook": hook["id"]}
    api.call("listWebhooks")
    check("secret" not in api.call("showWebhook", webhook), "the secret is shown once")
    api.call("updateWebhook", webhook, body={"kinds": ["sent"]})
    api.call("rotateWebhookSecret", webhook, body={"overlapSeconds": 3600})
    api.call("rotateWebhookSecret", webhook, body={"overlapSeconds": 8 * 86400}, expect=422)
    api.call("replayWebhook", webhook, body={"from": 0})
    api.call("replayWebhook", webhook, body={"from": 10**12}, expect=422)
    api.call("deleteWebhook", webhook, expect=204)
    order = {"app": "shop", "vendor": "rationalowl", "minutes": 5, "exchanges": 10}
    capture = {"capture": api.call("startCapture", body=order, expect=201)["id"]}
    # A node follows a new capture within a second.
    for _ in range(200):
        request = urllib.request.Request(BASE + "/pushApp/installApp", b"{}", {"Content-Type": "application/json"})
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(request, timeout=10).read()
        if any(one["exchanges"] > 0 for one in api.call("listCaptures")["captures"]):
            break
        time.sleep(0.05)
    else:
        check(False, "no call is captured within 10 s")
    api.call("showCapture", capture, {"limit": 5})
    api.call("stopCapture", capture)
    api.call("deleteCapture", capture, expect=204)
    api.call("showCapture", capture, expect=404)


def main() -> None:
    with urllib.request.urlopen(BASE + "/openapi.json", timeout=10) as answer:
        document = json.load(answer)
    for error in OpenAPIV31SpecValidator(document).iter_errors():
        check(False, f"openapi-spec-validator: {error.message[:300]}")
    description = Description(document)
    description.check_declarations()
    api = API(description)
    devices_and_messages(api)
    users_and_groups(api)
    campaigns_media_and_imports(api)
    templates(api)
    live_activities(api)
    channels(api)
    events_webhooks_and_captures(api)
    api.check_coverage()
    for failure in failures:
        print(failure)
    print(f"{len(description.operations)} operations, {len(api.seen)} kinds of answers, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
