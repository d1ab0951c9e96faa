"""A back end and an app of Azure Notification Hubs, written from the contract (docs/contracts/notificationhubs.md) with Python's standard library alone.

usage: hubs_contract.py HOST:PORT HUB; the keys in HUB_FULL_KEY and HUB_LISTEN_KEY; trust comes from SSL_CERT_FILE. Prints the first
difference from the contract and exits with status 1, or prints one JSON object with the sent notifications and exits with status 0.
With HUB_DEFAULTS the binding has no settings: the calls of LISTED with the listening key must be refused (docs/security.md), and are
repeated with the full key.
"""

import base64
import datetime
import hashlib
import hmac
import http.client
import json
import os
import re
import ssl
import sys
import time
import urllib.parse
import xml.etree.ElementTree as ElementTree

ADDRESS, HUB = sys.argv[1:3]
FULL = ("DefaultFullSharedAccessSignature", os.environ["HUB_FULL_KEY"])
LISTEN = ("DefaultListenSharedAccessSignature", os.environ["HUB_LISTEN_KEY"])
ATOM = "{http://www.w3.org/2005/Atom}"
BUS = "{http://schemas.microsoft.com/netservices/2010/10/servicebus/connect}"
FORMAT = "ServiceBusNotification-Format"
TAGS = "ServiceBusNotification-Tags"
XML = "application/xml; charset=utf-8"

# Calls of this script that set a user, tags or a template with the listening key.
LISTED = {("PUT", "installations"), ("PUT", "registrations")}
DEFAULTS = "HUB_DEFAULTS" in os.environ

checks = 0
refused = set()


def same(what, found, wanted):
    global checks
    checks += 1
    if found != wanted:
        print(f"{what}: {found!r} instead of {wanted!r}")
        sys.exit(1)


def matches(what, found, pattern):
    global checks
    checks += 1
    if found is None or not re.fullmatch(pattern, found, re.DOTALL):
        print(f"{what}: {found!r} does not match {pattern!r}")
        sys.exit(1)


# --- Access (docs/contracts/notificationhubs.md#3.2)


def signature(key, resource, expiry):
    code = hmac.new(key.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()
    return base64.b64encode(code).decode()


def shared_access(url, rule, spelling="dotnet", expiry=None):
    """Each SDK spells the resource in its own way (docs/contracts/notificationhubs.md#3.2)."""
    name, key = rule
    expiry = expiry or int(time.time()) + 1200
    place = url.split("?")[0]
    if spelling == "dotnet":
        parts = urllib.parse.urlsplit(place)
        resource = urllib.parse.quote(f"http://{parts.hostname}{parts.path}/".lower(), safe="").lower()
    elif spelling == "ios":
        resource = urllib.parse.quote(url.replace("https://", "http://").lower(), safe="").lower()
    else:
        resource = urllib.parse.quote(f"https://{ADDRESS}/{HUB}", safe="")
    code = urllib.parse.quote(signature(key, resource, expiry), safe="/" if spelling == "raw" else "")
    parts = [f"sr={resource}", f"sig={code}", f"se={expiry}", f"skn={name}"]
    if spelling == "raw":
        parts.reverse()
    return "SharedAccessSignature " + "&".join(parts)


def vectors():
    """docs/contracts/notificationhubs.md#3.3: compares the signature of this script with the example of the contract."""
    key = "ZmFrZS1rZXktZm9yLXRlc3RzLW9ubHktMDEyMzQ1Njc="
    for resource, wanted in [
        ("http%3a%2f%2fgw.example.com%2fhub1%2f", "bMKJG0qDde58BMe3p91iUzUHXtycx56kbgnPKOMqDD0="),
        ("https%3A%2F%2Fgw.example.com%2Fhub1", "fAIPdsMCAX7xokRODM2riaHDDFYmlznIbHXuyV2h9y8="),
        (
            "https%3a%2f%2fgw.example.com%2fhub1%2finstallations%2fabc%3fapi-version%3d2020-06",
            "Z6CN6J3N+WbUJeeyoSQyoXkxCejyBqCSTW/wRrfXQGY=",
        ),
    ]:
        same("a vector of §3.3", signature(key, resource, 1893456000), wanted)


# --- Calls


class Answer:
    def __init__(self, answer):
        self.status = answer.status
        self.headers = answer.headers
        self.text = answer.read().decode()


def call(method, path, body=None, headers=None, rule=FULL, **more):
    place = path.split("?")[0].split("/")[1]
    if DEFAULTS and rule == LISTEN and (method, place) in LISTED:
        answer = one_call(method, path, body, headers, rule, **more)
        refusal(f"{method} {path} with the listening key", answer, 401, "Manage claim is required for this operation")
        refused.add(f"{method} {place}")
        rule = FULL
    return one_call(method, path, body, headers, rule, **more)


def one_call(method, path, body, headers, rule, spelling="dotnet", version="2017-04", authorization=None):
    joint = "&" if "?" in path else "?"
    target = f"/{HUB}{path}{joint}api-version={version}"
    connection = http.client.HTTPSConnection(ADDRESS, timeout=60, context=ssl.create_default_context())
    head = {"Authorization": authorization or shared_access(f"https://{ADDRESS}{target}", rule, spelling)}
    head.update(headers or {})
    connection.request(method, target, body=body.encode() if body is not None else None, headers=head)
    answer = Answer(connection.getresponse())
    connection.close()
    return answer


def refusal(what, answer, status, text):
    """docs/contracts/notificationhubs.md#3.5: checks the shape of every error."""
    same(what, answer.status, status)
    same(what, answer.headers["Content-Type"], XML)
    guid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}_G[0-9]+"
    when = r"\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d\d:\d\d [AP]M"
    pattern = f"<Error><Code>{status}</Code><Detail>{re.escape(text)}.*\\.TrackingId:{guid},TimeStamp:{when}</Detail></Error>"
    matches(what, answer.text, pattern)


def identifier(what, answer, path):
    """Returns the id in the Location of a 201 answer (docs/contracts/notificationhubs.md#7, #7.5, #5.1)."""
    same(what, answer.status, 201)
    same(what, answer.text, "")
    place = urllib.parse.urlsplit(answer.headers["Location"])
    same(what, (place.scheme, place.netloc, place.query), ("https", ADDRESS, "api-version=2017-04"))
    matches(what, place.path, f"/{HUB}/{path}/[^/]+")
    return place.path.split("/")[-1]


# --- Steps


def access():
    for spelling in ["dotnet", "ios", "upper", "raw"]:
        answer = call("GET", "/installations/p-none", spelling=spelling)
        refusal(f"the resource as {spelling} has it", answer, 404, "Installation not found")
    refusal("no key of it", call("GET", "/installations/x", rule=(FULL[0], "guess")), 401, "InvalidSignature: ")
    refusal("no rule of it", call("GET", "/installations/x", rule=("Nobody", FULL[1])), 401, "InvalidSignature: ")
    late = shared_access(f"https://{ADDRESS}/{HUB}", FULL, expiry=int(time.time()) - 400)
    refusal("too late", call("GET", "/installations/x", authorization=late), 401, "ExpiredToken: ")
    lately = shared_access(f"https://{ADDRESS}/{HUB}", FULL, expiry=int(time.time()) - 100)
    same("within the leeway", call("GET", "/installations/x", authorization=lately).status, 404)
    other = shared_access(f"https://{ADDRESS}/another-hub", FULL)
    refusal("of another place", call("GET", "/installations/x", authorization=other), 401, "InvalidAudience: ")
    listener = call("POST", "/messages", "{}", {FORMAT: "apple"}, rule=LISTEN)
    same("a listener that sends", (listener.status, listener.text), (403, ""))


def installations():
    token = "0A1B2C" + "3D" * 29
    place = "/installations/p-1"
    installation = {
        "installationId": "p-1",
        "platform": "apns",
        "pushChannel": token,
        "userId": "p-user",
        "tags": ["pseoul", "pshop:vip"],
        # The SDK for iOS writes times without seconds.
        "expirationTime": "2030-04-01T00:00+0000",
        "templates": {"pnews": {"body": '{"aps":{"alert":"$(title)"}}', "headers": {"apns-priority": "5"}}},
    }
    body = json.dumps(installation)
    kind = {"Content-Type": "application/json"}
    answer = call("PUT", place, body, kind, rule=LISTEN, spelling="ios", version="2020-06")
    same("PUT of an installation", (answer.status, answer.text, answer.headers["Content-Type"]), (200, "", XML))
    answer = call("GET", place, rule=LISTEN)
    same("its type", (answer.status, answer.headers["Content-Type"]), (200, XML))
    found = json.loads(answer.text)
    # By default the listening key, which every app contains, does not read tokens.
    same("its token and platform", (found["pushChannel"], found["platform"]), ("0" * 64 if DEFAULTS else token, "apns"))
    same("its tags", sorted(found["tags"]), ["pseoul", "pshop:vip"])
    same("no dead token", found["pushChannelExpired"], False)
    same("the name of a template is its tag", found["templates"]["pnews"]["tags"], ["pnews"])
    changes = [
        {"op": "add", "path": "/tags", "value": "pbusan"},
        {"op": "remove", "path": "/tags/pshop:vip"},
        {"op": "replace", "path": "/userId", "value": "p-other"},
        {"op": "add", "path": "/tags", "value": "pnone"},
    ]
    answer = call("PATCH", place, json.dumps(changes), {"Content-Type": "application/json-patch+json"})
    same("PATCH", (answer.status, answer.text), (200, ""))
    found = json.loads(call("GET", place).text)
    same("its tags then", sorted(found["tags"]), ["pbusan", "pnone", "pseoul"])
    same("its user then", found["userId"], "p-other")
    bad = json.dumps([{"op": "add", "path": "/colour", "value": "red"}])
    refusal("a path that is not there", call("PATCH", place, bad), 400, "The patch path '/colour' is not supported")
    missing = json.dumps({"installationId": "p-1", "platform": "apns"})
    refusal("no token", call("PUT", place, missing, kind), 400, "")
    return token


def description(token, tags, template=None):
    """docs/contracts/notificationhubs.md#5.2"""
    name = "AppleTemplateRegistrationDescription" if template else "AppleRegistrationDescription"
    more = f"<BodyTemplate><![CDATA[{template}]]></BodyTemplate><TemplateName>pgreeting</TemplateName>" if template else ""
    return (
        '<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">'
        f'<{name} xmlns="{BUS[1:-1]}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">'
        f"<Tags>{tags}</Tags><DeviceToken>{token}</DeviceToken>{more}</{name}></content></entry>"
    )


def registered(entry, name):
    content = entry.find(f"{ATOM}content/{BUS}{name}")
    return {element.tag.replace(BUS, ""): element.text for element in content} if content is not None else None


def registrations():
    token = "0A1B2C" + "4E" * 29
    kind = {"Content-Type": "application/atom+xml;type=entry;charset=utf-8"}
    key = identifier("a new id", call("POST", "/registrationids", "", rule=LISTEN), "registrationids")
    place = f"/registrations/{key}"
    answer = call("PUT", place, description(token, "pregistered,pshop:vip"), kind, rule=LISTEN)
    same("PUT of a registration", (answer.status, answer.headers["ETag"]), (200, 'W/"1"'))
    same("its type", answer.headers["Content-Type"], "application/atom+xml; type=entry; charset=utf-8")
    found = registered(ElementTree.fromstring(answer.text), "AppleRegistrationDescription")
    same("its order", list(found), ["ETag", "ExpirationTime", "RegistrationId", "Tags", "DeviceToken"])
    same("its id and token", (found["RegistrationId"], found["DeviceToken"]), (key, token))
    same("it never ends", found["ExpirationTime"], "9999-12-31T23:59:59.999Z")
    same("its tags", sorted(found["Tags"].split(",")), ["pregistered", "pshop:vip"])
    late = call("PUT", place, description(token, "x"), dict(kind, **{"If-Match": 'W/"9"'}))
    refusal("another version", late, 412, "")
    answer = call("PUT", place, description(token, "pregistered"), dict(kind, **{"If-Match": '"1"'}))
    same("its own version", (answer.status, answer.headers["ETag"]), (200, 'W/"2"'))
    template = '{"aps":{"alert":"$(title:{nothing})"}}'
    answer = call("POST", "/registrations", description(token, "ptemplate", template), kind)
    same("POST of a registration", answer.status, 200)
    matches("where it is", answer.headers["Content-Location"], f"https://{ADDRESS}/{HUB}/registrations/[^/]+")
    second = registered(ElementTree.fromstring(answer.text), "AppleTemplateRegistrationDescription")
    same("its template", second["BodyTemplate"], template)
    # The forms of the SDKs for .NET and iOS.
    for query in [f"$filter=ChannelUri+eq+'{token}'", f"$filter=deviceToken%20eq%20%27{token}%27&$top=100"]:
        answer = call("GET", f"/registrations?{query}", rule=LISTEN)
        same("a channel's list", answer.headers["Content-Type"], "application/atom+xml; type=feed; charset=utf-8")
        entries = ElementTree.fromstring(answer.text).findall(f"{ATOM}entry")
        titles = sorted(entry.find(f"{ATOM}title").text for entry in entries)
        same("who is on it", titles, sorted([key, second["RegistrationId"]]))
    entries = ElementTree.fromstring(call("GET", "/tags/ptemplate/registrations").text).findall(f"{ATOM}entry")
    same("a tag's list", [entry.find(f"{ATOM}title").text for entry in entries], [second["RegistrationId"]])
    return token, key


def details(key):
    """docs/contracts/notificationhubs.md#7.8: waits until every notification is completed."""
    for _ in range(400):
        answer = call("GET", f"/messages/{key}", version="2016-07")
        same("telemetry", answer.status, 200)
        root = ElementTree.fromstring(answer.text)
        if root.find(f"{BUS}State").text in ("Completed", "NoTargetFound"):
            outcomes = root.findall(f"{BUS}ApnsOutcomeCounts/{BUS}Outcome")
            counts = {one.find(f"{BUS}Name").text: int(one.find(f"{BUS}Count").text) for one in outcomes}
            return root, root.find(f"{BUS}State").text, counts
        time.sleep(0.05)
    print(f"{key}: not done within 20 s")
    sys.exit(1)


def sends(handle):
    """Sends one notification per kind of audience. The calling test checks the pushes at the simulator."""
    apple = {FORMAT: "apple", "Content-Type": "application/json;charset=utf-8"}
    form = "[0-9a-f]{32}-[0-9]{14}-[0-9]+-[0-9]+"
    body = '{"aps":{"alert":"Sale today", "sound" : "default"}}'
    for tags, count in [
        ("pseoul || pregistered", 2),
        ("PSEOUL && !pregistered", 1),
        ("$InstallationId:{p-1} && (pbusan || pnothing)", 1),
        ("$UserId:p-other", 1),
        ("pnothing", 0),
    ]:
        key = identifier(tags, call("POST", "/messages", body, dict(apple, **{TAGS: tags})), "messages")
        matches("its id", key, form)
        root, state, counts = details(key)
        same(f"the outcome of {tags}", (state, counts), ("Completed", {"Success": count}) if count else ("NoTargetFound", {}))
        same("its body", root.find(f"{BUS}NotificationBody").text, body)
        same("its place", root.find(f"{BUS}TargetPlatforms").text, "apple")
    direct = dict(apple, **{"ServiceBusNotification-DeviceHandle": handle, "apns-priority": "5", "apns-collapse-id": "p"})
    details(identifier("direct", call("POST", "/messages/?direct", '{"aps":{"alert":"direct"}}', direct), "messages"))
    batch = [
        "--nh-boundary", "Content-Type: application/json;charset=utf-8", "Content-Disposition: inline; name=notification", "",
        '{"aps":{"alert":"batch"}}', "--nh-boundary", "Content-Type: application/json", "Content-Disposition: inline; name=devices", "",
        json.dumps([handle, handle]), "--nh-boundary--", "",
    ]
    parts = dict(apple, **{"Content-Type": 'multipart/mixed; boundary="nh-boundary"'})
    answer = call("POST", "/messages/$batch?direct", "\r\n".join(batch), parts)
    place = urllib.parse.urlsplit(answer.headers["Location"] or "")
    same("a batch", (answer.status, place.netloc, place.query), (201, ADDRESS, "api-version=2017-04&direct"))
    matches("a batch", place.path, f"/{HUB}/messages/\\$batch/[^/]+")
    details(place.path.split("/")[-1])
    rich = '{"aps": {"content-available": 1, "sound":""}, "richId": "0", "richMessage": "Check this image out!", "richType": "img"}'
    details(identifier("rich", call("POST", "/messages", rich, dict(apple, **{TAGS: "$UserId:{p-other}"})), "messages"))
    template = {FORMAT: "template", TAGS: "pseoul || ptemplate", "Content-Type": "application/json"}
    key = identifier("template", call("POST", "/messages", '{"title":"Hello"}', template), "messages")
    same("both templates", details(key)[1:], ("Completed", {"Success": 2}))
    for tags in ["pseoul && && vip", "a b", " || ".join(f"t{n}" for n in range(21)), " && ".join(f"t{n}" for n in range(7)), "a & b"]:
        answer = call("POST", "/messages", body, dict(apple, **{TAGS: tags}))
        refusal(tags, answer, 400, "The supplied tag expression is not valid")
    refusal("no object", call("POST", "/messages", "[1]", dict(apple, **{TAGS: "x"})), 400, "")
    refusal("no format", call("POST", "/messages", body, {FORMAT: "pigeon", TAGS: "x"}), 400, "")
    large = json.dumps({"aps": {"alert": "x" * 4096}})
    refusal("over 4,096 bytes", call("POST", "/messages", large, dict(apple, **{TAGS: "x"})), 400, "")


def schedules():
    def schedule(minutes, style="%Y-%m-%dT%H:%M:%S"):
        when = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=minutes)).strftime(style)
        head = {FORMAT: "apple", TAGS: "pseoul", "ServiceBusNotification-ScheduleTime": when}
        return call("POST", "/schedulednotifications", '{"aps":{"alert":"never"}}', head)

    refusal("in four minutes", schedule(4), 400, "")
    refusal("in eight days", schedule(8 * 1440), 400, "")
    # The forms of .NET, of a published client for Python, and of JavaScript.
    for style in ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d'T'%H:%M:%S", "%Y-%m-%dT%H:%M:%S.000Z"]:
        key = identifier(style, schedule(10, style), "schedulednotifications")
        place = f"/schedulednotifications/{key}"
        same("cancel", call("DELETE", place).status, 200)
        same("cancel again", call("DELETE", place).status, 404)


def leave(key):
    place = f"/registrations/{key}"
    same("GET of a registration", call("GET", place).status, 200)
    answer = call("DELETE", place, headers={"If-Match": "*"})
    same("DELETE of a registration", (answer.status, answer.text), (200, ""))
    refusal("then", call("GET", place), 404, "")
    kind = {"Content-Type": "application/atom+xml;type=entry;charset=utf-8"}
    refusal("its id is gone", call("PUT", place, description("AB" * 32, "x"), kind), 410, "")
    for _ in range(2):
        same("DELETE of an installation", call("DELETE", "/installations/p-1").status, 204)
    refusal("then", call("GET", "/installations/p-1"), 404, "Installation not found")


vectors()
access()
installed = installations()
registered_token, registration = registrations()
sends(installed)
schedules()
leave(registration)
report = {"checks": checks, "installation": installed, "registration": registered_token, "refused": sorted(refused)}
print(json.dumps(report))
