"""Stub of Azure Notification Hubs: the REST API of one hub. Contract: docs/contracts/notificationhubs.md.

Not part of the stub: the back end of the vendor's tutorial (`/api/…`), which is the customer's own service, and the administration of hubs.
"""

import base64
import hashlib
import hmac
import re
import xml.etree.ElementTree as ElementTree
from datetime import datetime, timezone
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape

from .apns import Push
from .http1 import Request, Response
from .hubtext import TagError, TagExpression, TemplateError, folded, render
from .stub import Refusal, Stub, dictionary, dumps, integer, loads, multipart, text

CONNECT = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
SCHEMA = "http://www.w3.org/2001/XMLSchema-instance"
ATOM = "http://www.w3.org/2005/Atom"
METADATA = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
XML = "application/xml; charset=utf-8"
ENTRY = "application/atom+xml; type=entry; charset=utf-8"
FEED = "application/atom+xml; type=feed; charset=utf-8"
VERSIONS = {"2013-04", "2013-10", "2014-09", "2015-01", "2015-04", "2015-08", "2016-07", "2017-04", "2020-06"}
FORMATS = {"apple", "gcm", "fcm", "fcmv1", "windows", "windowsphone", "adm", "baidu", "browser", "template"}
PLATFORMS = {"apns", "wns", "mpns", "gcm", "adm", "baidu", "browser", "fcmv1"}
# Format of a send → platform of an installation.
PLATFORM_OF = {"apple": "apns", "windows": "wns", "windowsphone": "mpns", "fcm": "gcm"}
# Registration kind → element of its handle, platform.
HANDLES = {
    "Apple": ("DeviceToken", "apns"), "Gcm": ("GcmRegistrationId", "gcm"), "Fcm": ("FcmRegistrationId", "gcm"), "FcmV1": ("FcmV1RegistrationId", "fcmv1"),
    "Windows": ("ChannelUri", "wns"), "Mpns": ("ChannelUri", "mpns"), "Adm": ("AdmRegistrationId", "adm"), "Baidu": ("BaiduUserId", "baidu"),
    "Browser": ("Endpoint", "browser"),
}  # fmt: skip
TAG = re.compile(r"(\$(InstallationId|UserId):\{[-_@#.:=\w]+\}|[-_@#.:\w]+)")
MAX_BODY_BYTES = 64 * 1024
MAX_PUSH_BYTES = 4096
MAX_TAGS = 60
GONE_MILLISECONDS = 24 * 3600 * 1000


class NotificationHubsStub(Stub):
    SETTINGS = {
        "hub": ("hub1", "name of the only hub"),
        "fullName": ("DefaultFullSharedAccessSignature", "rule with the rights listen, send and manage"),
        "fullKey": ("ZmFrZS1rZXktZm9yLXRlc3RzLW9ubHktMDEyMzQ1Njc=", "its key"),
        "listenName": ("DefaultListenSharedAccessSignature", "rule with the right listen"),
        "listenKey": ("ZmFrZS1saXN0ZW4ta2V5LWZvci10ZXN0cy1vbmx5LTAxMjM=", "its key"),
        "host": ("", "host that signatures must name and that `Location` shows; empty: the request's own"),
    }

    def __init__(self, settings: dict, seed: str):
        super().__init__(settings, seed)
        self.installations: dict[str, dict] = {}
        self.registrations: dict[str, dict] = {}
        self.gone: dict[str, int] = {}
        self.messages: dict[str, dict] = {}
        self.schedules: dict[str, dict] = {}
        self.tracking, self.host, self.version = "", self["host"], "2015-01"
        self.rights: set[str] = set()

    # Answers.

    def reply(self, status: int, body: str | bytes = b"", kind: str = XML, *headers: tuple[str, str]) -> Response:
        data = body.encode("utf-8") if isinstance(body, str) else body
        return Response(status, [("Content-Type", kind), ("TrackingId", self.tracking), *headers], data)

    def error(self, status: int, detail: str, *headers: tuple[str, str]) -> Response:
        moment = self.moment()
        stamp = f"{moment.month}/{moment.day}/{moment.year} {moment.hour % 12 or 12}:{moment:%M:%S} {'AM' if moment.hour < 12 else 'PM'}"
        body = f"<Error><Code>{status}</Code><Detail>{escape(detail)}.TrackingId:{self.tracking},TimeStamp:{stamp}</Detail></Error>"
        return self.reply(status, body, XML, *headers)

    def fail(self, status: int, detail: str):
        raise Refusal(self.error(status, detail))

    def too_many(self, retry_after: int) -> Response:
        self.tracking = self.tracking or f"{self.ids.uuid()}_G1"
        return self.error(429, "SubCode=42900. Throttled", ("Retry-After", str(retry_after)))

    # Requests.

    def carry_out(self, request: Request) -> Response:
        self.tracking = f"{self.ids.uuid()}_G1"
        parts = [unquote(part) for part in request.raw_path.split("/") if part]
        family = parts[1].lower() if len(parts) > 1 else ""
        route = self.route(request.method, family, parts[2:])
        if route is None:
            self.fail(404, "No service is hosted at the specified address.")
        name, right, arguments = route
        self.host = self["host"] or request.header("host") or ""
        self.authorize(request, right)
        if parts[0].lower() != self["hub"].lower():
            self.fail(404, "No service is hosted at the specified address.")
        self.version = request.item("api-version") or request.header("x-ms-version") or "2015-01"
        if self.version not in VERSIONS:
            self.fail(400, f"The api-version '{self.version}' is not supported")
        if len(request.body) > MAX_BODY_BYTES and family != "messages" or len(request.body) > 2 * MAX_BODY_BYTES:
            self.fail(413, "The request is too large")
        return getattr(self, name)(request, *arguments)

    @staticmethod
    def route(method: str, family: str, rest: list[str]):
        """The method that carries the call out, the right it needs, and the IDs of its path."""
        count = len(rest)
        if family == "installations" and count == 1 and method in ("PUT", "GET", "PATCH", "DELETE"):
            return f"installation_{method.lower()}", "Listen", rest
        if family == "registrationids" and count == 0 and method == "POST":
            return "registration_id", "Listen", []
        if family == "registrations" and (count == 1 and method in ("PUT", "GET", "DELETE") or count == 0 and method in ("POST", "GET")):
            return (f"registration_{method.lower()}", "Listen", rest) if count or method == "POST" else ("registration_list", "Listen", [])
        if family == "tags" and count == 2 and rest[1].lower() == "registrations" and method == "GET":
            return "registrations_by_tag", "Manage", rest[:1]
        if family == "messages" and method == "POST" and (count == 0 or rest == ["$batch"]):
            return ("send", "Send", []) if count == 0 else ("send_batch", "Send", [])
        if family == "messages" and method == "GET" and count == 1:
            return "telemetry", "Send", rest
        if family == "schedulednotifications" and (method == "POST" and count == 0 or method == "DELETE" and count == 1):
            return ("schedule", "Send", []) if count == 0 else ("cancel", "Send", rest)
        return None

    # Access.

    def authorize(self, request: Request, right: str) -> None:
        scheme, _, parameters = (request.header("authorization") or "").partition(" ")
        found = dict(item.partition("=")[::2] for item in parameters.split("&"))
        if scheme != "SharedAccessSignature" or not found.get("sr"):
            self.fail(401, "MissingToken: The authorization header is missing")
        if not (found.get("se") or "").isascii() or not (found.get("se") or "").isdigit():
            self.fail(401, "MalformedToken: The expiry of the token is not valid")
        if int(found["se"]) < self.now // 1000 - 300:
            self.fail(401, "ExpiredToken: ")
        rules = {self["fullName"]: (self["fullKey"], {"Listen", "Send", "Manage"}), self["listenName"]: (self["listenKey"], {"Listen"})}
        key, rights = rules.get(unquote(found.get("skn", "")), ("", set()))
        wanted = base64.b64encode(hmac.new(key.encode(), f"{found['sr']}\n{found['se']}".encode(), hashlib.sha256).digest())
        if not key or not hmac.compare_digest(wanted, unquote(found.get("sig", "")).encode("utf-8", "replace")):
            self.fail(401, "InvalidSignature: The token has an invalid signature.")
        audience, place = self.place(unquote(found["sr"])), self.place(f"https://{self.host}{unquote(request.raw_path)}")
        if not (place + "/").startswith(audience + "/"):
            self.fail(401, "InvalidAudience: The authorization header contains a token with a wrong audience.")
        if right not in rights:
            if right == "Manage":
                self.fail(401, "Manage claim is required for this operation.")
            raise Refusal(Response(403, [("TrackingId", self.tracking.removesuffix("_G1")), ("x-ms-correlation-request-id", self.ids.uuid())]))
        self.rights = rights

    @staticmethod
    def place(resource: str) -> str:
        """Host and path: without scheme, port, query and last slash, in lower case."""
        rest = re.sub(r"^[a-z]+://", "", resource.lower()).partition("?")[0]
        host, slash, path = rest.partition("/")
        return re.sub(r":\d+$", "", host) + (slash + path.rstrip("/") if path.rstrip("/") else "")

    def link(self, path: str, more: str = "") -> str:
        return f"https://{self.host}/{self['hub']}/{path}?api-version={self.version}{more}"

    # Installations.

    def installation_put(self, request: Request, number: str) -> Response:
        body = loads(request.body)
        if not isinstance(body, dict):
            self.fail(400, "The installation is not valid JSON")
        if text(body.get("installationId"), number) != number:
            self.fail(400, "The installation id does not match the path")
        self.installations[number] = self.checked(
            {
                "installationId": number, "pushChannel": body.get("pushChannel"), "pushChannelExpired": False, "platform": text(body.get("platform")),
                "userId": text(body.get("userId")), "tags": body.get("tags") or [], "pushVariables": dictionary(body.get("pushVariables")),
                "templates": {name: self.template(value) for name, value in dictionary(body.get("templates")).items()},
            }  # fmt: skip
        )
        return self.reply(200)

    def template(self, value) -> dict:
        value = loads(value) if isinstance(value, str) else value
        if not isinstance(value, dict) or not text(value.get("body")):
            self.fail(400, "The template is not valid")
        self.check_tags(value.get("tags") or [])
        headers = {name: text(header) for name, header in dictionary(value.get("headers")).items()}
        return {"body": text(value["body"]), "headers": headers, "tags": value.get("tags") or []} | ({"expiry": value["expiry"]} if "expiry" in value else {})

    def checked(self, installation: dict) -> dict:
        if installation["platform"].lower() not in PLATFORMS or not installation["pushChannel"]:
            self.fail(400, "platform or pushChannel is missing or not valid")
        if installation["platform"].lower() == "apns":
            self.check_token(text(installation["pushChannel"]))
        self.check_tags(installation["tags"])
        return installation

    def check_token(self, token: str) -> None:
        if not token or len(token) % 2:
            self.fail(400, "Device token is either empty OR it has odd number of nibbles.")
        if not re.fullmatch(r"[0-9a-fA-F]+", token):
            self.fail(400, "One or more characters in device token is not a hexadecimal digit.")

    def check_tags(self, tags) -> None:
        if not isinstance(tags, list) or len(tags) > MAX_TAGS:
            self.fail(400, "The tags are not valid")
        for tag in tags:
            if not isinstance(tag, str) or len(tag) > 120 or not TAG.fullmatch(tag):
                self.fail(400, f"The tag '{text(tag)}' is not valid")

    def installation_get(self, request: Request, number: str) -> Response:
        found = self.installations.get(number)
        if found is None:
            self.fail(404, "Installation not found")
        shown = {name: found[name] for name in ("installationId", "pushChannel", "pushChannelExpired", "platform")}
        shown["expirationTime"] = "9999-12-31T23:59:59.9999999Z"
        shown |= {name: found[name] for name in ("userId", "tags", "pushVariables") if found[name]}
        if found["templates"]:
            # A template's name is one of its tags.
            shown["templates"] = {n: t | {"tags": list(dict.fromkeys([*t["tags"], n]))} for n, t in found["templates"].items()}
        return self.reply(200, dumps(shown))

    def installation_patch(self, request: Request, number: str) -> Response:
        if number not in self.installations:
            self.fail(404, "Installation not found")
        steps = loads(request.body)
        if not isinstance(steps, list):
            self.fail(400, "The patch is not a JSON array")
        copy = loads(dumps(self.installations[number]))
        for step in steps:
            self.patch(copy, step if isinstance(step, dict) else {})
        self.installations[number] = self.checked(copy)
        return self.reply(200)

    def patch(self, target: dict, step: dict) -> None:
        operation, path, value = text(step.get("op")), text(step.get("path")), step.get("value")
        parts = [p.replace("~1", "/").replace("~0", "~") for p in path.split("/")[1:]]
        if operation not in ("add", "remove", "replace") or not parts:
            self.fail(400, f"The patch path '{path}' is not supported")
        is_removed, head = operation == "remove", parts[0]
        # .NET sends objects and arrays as JSON text.
        parsed = loads(value) if isinstance(value, str) and value[:1] in ("[", "{") else value
        parsed = value if parsed is ... else parsed
        if parts in (["pushChannel"], ["userId"], ["user"], ["expirationTime"]):
            target[{"user": "userId"}.get(head, head)] = "" if is_removed else text(value)
        elif parts == ["tags"]:
            added = parsed if isinstance(parsed, list) else [*[t for t in target["tags"] if t != value], text(value)]
            target["tags"] = [] if is_removed else added
        elif head == "tags" and len(parts) == 2:
            kept = [t for t in target["tags"] if text(t).lower() != parts[1].lower()]
            target["tags"] = kept if is_removed else [*kept, text(value) or parts[1]]
        elif head in ("pushVariables", "templates") and len(parts) == 2:
            target[head].pop(parts[1], None)
            if not is_removed:
                target[head][parts[1]] = self.template(value) if head == "templates" else text(value)
        elif head == "templates" and len(parts) == 3 and parts[1] in target["templates"] and parts[2] in ("body", "headers", "expiry", "tags"):
            part = {parts[2]: None if is_removed else value if parts[2] == "body" else parsed}
            target["templates"][parts[1]] = self.template(target["templates"][parts[1]] | part)
        elif head == "secondaryTiles":
            target[path] = value
        else:
            self.fail(400, f"The patch path '{path}' is not supported")

    def installation_delete(self, request: Request, number: str) -> Response:
        self.installations.pop(number, None)
        return self.reply(204)

    # Registrations.

    def registration_id(self, request: Request) -> Response:
        number = self.new_id()
        return self.reply(201, b"", XML, ("Location", self.link(f"registrationids/{number}")))

    def new_id(self) -> str:
        return f"{self.ids.number()}-{self.ids.number()}-1"

    def registration_put(self, request: Request, number: str) -> Response:
        until = self.gone.get(number, 0)
        if until > self.now:
            self.fail(410, "")
        condition = request.header("if-match")
        known = self.registrations.get(number)
        self.check_etag(condition, known)
        self.registrations[number] = self.read(request.body) | {"id": number, "etag": known["etag"] + 1 if known else 1}
        return self.shown(number)

    def check_etag(self, condition: str | None, known: dict | None) -> None:
        if condition is None or condition.strip() == "*":
            return
        if known is None or condition.strip().removeprefix("W/").strip('"') != str(known["etag"]):
            self.fail(412, "")

    def registration_post(self, request: Request) -> Response:
        number = self.new_id()
        self.registrations[number] = self.read(request.body) | {"id": number, "etag": 1}
        answer = self.shown(number)
        answer.headers.append(("Content-Location", self.link(f"registrations/{number}")))
        return answer

    def shown(self, number: str) -> Response:
        registration = self.registrations[number]
        return self.reply(200, self.entry(registration, True), ENTRY, ("ETag", f'W/"{registration["etag"]}"'))

    def read(self, body: bytes) -> dict:
        """The description in an Atom entry, or the description alone."""
        if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
            self.fail(400, "The document type is not permitted")
        try:
            root = ElementTree.fromstring(body)
        except (ElementTree.ParseError, ValueError, LookupError):
            self.fail(400, "The body is not valid XML")
        element = next((e for e in root.iter() if e.tag.endswith("RegistrationDescription")), None)
        if element is None:
            self.fail(400, "The registration is missing")
        kind = element.get(f"{{{SCHEMA}}}type") or element.tag.rpartition("}")[2]
        name = kind.removesuffix("RegistrationDescription")
        is_template, base = name.endswith("Template"), name.removesuffix("Template")
        if base not in HANDLES:
            self.fail(400, f"The registration {kind} is not supported")
        values = {child.tag.rpartition("}")[2]: child for child in element}
        handle = self.value(values.get(HANDLES[base][0]))
        if base == "Apple":
            self.check_token(handle)
        elif not handle:
            self.fail(400, "The handle is missing")
        tags = [t.strip() for t in self.value(values.get("Tags")).split(",") if t.strip()]
        for tag in tags:
            if tag.startswith("$") and not TAG.fullmatch(tag):
                self.fail(400, "Tags can not start with $.")
        self.check_tags(tags)
        found = {"kind": kind, "base": base, "handle": handle, "tags": tags, "variables": self.value(values.get("PushVariables"))}
        if not is_template:
            return found | {"template": None}
        headers = {}
        for header in values.get("ApnsHeaders", []):
            pair = {child.tag.rpartition("}")[2]: self.value(child) for child in header}
            headers[pair.get("Header", "")] = pair.get("Value", "")
        template = {"body": self.value(values.get("BodyTemplate")), "name": self.value(values.get("TemplateName")), "headers": headers}
        if loads(template["body"]) is ... and base == "Apple":
            self.fail(400, "The template is not valid")
        return found | {"template": template | {"priority": self.value(values.get("Priority")), "expiry": self.value(values.get("Expiry"))}}

    @staticmethod
    def value(element) -> str:
        return (element.text or "").strip() if element is not None else ""

    def entry(self, registration: dict, has_namespaces: bool) -> str:
        number, etag = registration["id"], registration["etag"]
        link = escape(self.link(f"registrations/{number}"))
        names = f' xmlns="{ATOM}" xmlns:a="{METADATA}"' if has_namespaces else f' xmlns:a="{METADATA}"'
        stamp = self.moment().strftime("%Y-%m-%dT%H:%M:%SZ")
        return (
            f'<entry a:etag="W/&quot;{etag}&quot;"{names}><id>{link}</id><title type="text">{number}</title><published>{stamp}</published>'
            f'<updated>{stamp}</updated><link rel="self" href="{link}"/><content type="application/xml">{self.description(registration)}</content></entry>'
        )

    def description(self, registration: dict) -> str:
        kind, element, template = registration["kind"], HANDLES[registration["base"]][0], registration["template"]
        tags = f"<Tags>{escape(','.join(registration['tags']))}</Tags>" if registration["tags"] else ""
        variables = f"<PushVariables>{escape(registration['variables'])}</PushVariables>" if registration["variables"] else ""
        body = (
            f'<{kind} xmlns="{CONNECT}" xmlns:i="{SCHEMA}"><ETag>{registration["etag"]}</ETag><ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime>'
            f"<RegistrationId>{registration['id']}</RegistrationId>{tags}{variables}<{element}>{escape(registration['handle'])}</{element}>"
        )
        if template is not None:
            expiry = f"<Expiry>{escape(template['expiry'])}</Expiry>" if template["expiry"] else '<Expiry i:nil="true"/>'
            name = f"<TemplateName>{escape(template['name'])}</TemplateName>" if template["name"] else ""
            priority = f"<Priority>{escape(template['priority'])}</Priority>" if template["priority"] else ""
            rows = "".join(f"<ApnsHeader><Header>{escape(k)}</Header><Value>{escape(v)}</Value></ApnsHeader>" for k, v in template["headers"].items())
            headers = f"<ApnsHeaders>{rows}</ApnsHeaders>" if registration["base"] == "Apple" else ""
            body += f"<BodyTemplate><![CDATA[{template['body']}]]></BodyTemplate>{expiry}{name}{priority}{headers}"
        return body + f"</{kind}>"

    def registration_get(self, request: Request, number: str) -> Response:
        if number not in self.registrations:
            self.fail(404, "")
        return self.shown(number)

    def registration_delete(self, request: Request, number: str) -> Response:
        known = self.registrations.get(number)
        if known is None:
            self.fail(404, "")
        self.check_etag(request.header("if-match"), known)
        self.forget(number)
        return self.reply(200)

    def forget(self, number: str) -> None:
        if self.registrations.pop(number, None) is not None:
            self.gone[number] = self.now + GONE_MILLISECONDS

    def all_registrations(self) -> list[dict]:
        """Installations appear as registrations too: one native, and one for each template."""
        rows = list(self.registrations.values())
        for found in self.installations.values():
            base = next((b for b, (_, p) in HANDLES.items() if p == found["platform"].lower()), "Apple")
            tags = [*found["tags"], f"$InstallationId:{{{found['installationId']}}}"] + ([f"$UserId:{{{found['userId']}}}"] if found["userId"] else [])
            handle = found["pushChannel"] if isinstance(found["pushChannel"], str) else dumps(found["pushChannel"]).decode()
            shared = {"base": base, "handle": handle, "variables": "", "etag": 1}
            digest = int(hashlib.sha256(found["installationId"].encode()).hexdigest()[:15], 16)
            rows.append(shared | {"kind": f"{base}RegistrationDescription", "tags": tags, "template": None, "id": f"{digest}-1-1"})
            for index, (name, template) in enumerate(found["templates"].items()):
                shown = {"body": template["body"], "name": name, "headers": template["headers"], "priority": "", "expiry": text(template.get("expiry"))}
                own = [*tags, *template["tags"], name]
                rows.append(shared | {"kind": f"{base}TemplateRegistrationDescription", "tags": own, "template": shown, "id": f"{digest}-{index + 2}-1"})
        return rows

    def registration_list(self, request: Request) -> Response:
        rows, condition = self.all_registrations(), request.item("$filter")
        if condition is None:
            if "Manage" not in self.rights:
                self.fail(401, "Manage claim is required for this operation.")
        else:
            found = re.fullmatch(r"\s*(ChannelUri|deviceToken|GcmRegistrationId)\s+eq\s+'((?:[^']|'')*)'\s*", condition, re.IGNORECASE)
            if found is None:
                self.fail(400, "The filter is not supported")
            handle = found.group(2).replace("''", "'").lower()
            rows = [r for r in rows if r["handle"].lower() == handle]
        return self.feed(request, rows)

    def registrations_by_tag(self, request: Request, tag: str) -> Response:
        return self.feed(request, [r for r in self.all_registrations() if folded(tag) in {folded(t) for t in r["tags"]}])

    def feed(self, request: Request, rows: list[dict]) -> Response:
        top, token = max(1, min(100, integer(request.item("$top"), 100))), request.item("continuationtoken") or ""
        start = integer(base64.b64decode(unquote(token) + "==", validate=False).decode("ascii", "replace").split(":")[-1]) if token else 0
        page, more = rows[start : start + top], ()
        link, following = self.link("registrations", f"&$top={top}" if request.item("$top") else ""), ""
        if start + top < len(rows):
            fresh = quote(base64.b64encode(f"next:{start + top}".encode()).decode(), safe="")
            more = (("x-ms-continuationtoken", fresh),)
            href = self.link("registrations", f"&%24top={top}&continuationtoken={quote(fresh, safe='')}")
            following = f'<link rel="next" href="{escape(href)}"/>'
        stamp = self.moment().strftime("%Y-%m-%dT%H:%M:%SZ")
        head = f'<title type="text">Registrations</title><id>{escape(link)}</id><updated>{stamp}</updated><link rel="self" href="{escape(link)}"/>{following}'
        entries = "".join(self.entry(r, False) for r in page)
        return self.reply(200, f'<feed xmlns="{ATOM}">{head}{entries}</feed>', FEED, *more)

    # Sends.

    def targets(self) -> list[dict]:
        rows = []
        for r in self.registrations.values():
            template = r["template"]
            tags = {folded(t) for t in r["tags"]} | ({folded(template["name"])} if template and template["name"] else set())
            variables = loads(r["variables"]) if r["variables"] else {}
            platform = HANDLES[r["base"]][1]
            row = {"platform": platform, "handle": r["handle"], "tags": tags, "template": template, "device": r["id"]}
            rows.append(row | {"user": self.user_of(r["tags"]), "variables": variables if isinstance(variables, dict) else {}})
        for found in self.installations.values():
            tags = {folded(t) for t in found["tags"]} | {f"$installationid:{found['installationId']}"}
            tags |= {f"$userid:{found['userId']}"} if found["userId"] else set()
            row = {"platform": found["platform"].lower(), "handle": text(found["pushChannel"]), "user": found["userId"], "device": found["installationId"]}
            row |= {"tags": tags, "template": None, "variables": found["pushVariables"]}
            if found["pushChannelExpired"]:
                continue
            rows.append(row)
            for name, template in found["templates"].items():
                rows.append(row | {"tags": tags | {folded(t) for t in [*template["tags"], name]}, "template": template | {"name": name}})
        return rows

    @staticmethod
    def user_of(tags: list[str]) -> str:
        return next((t[9:-1] for t in tags if t.lower().startswith("$userid:{")), "")

    def order(self, request: Request) -> dict:
        """The checked send."""
        kind = (request.header("ServiceBusNotification-Format") or "").lower()
        if kind not in FORMATS:
            self.fail(400, "The format of the notification is not supported")
        if len(request.body) > MAX_BODY_BYTES:
            self.fail(413, "The request is too large")
        body = loads(request.body)
        if kind in ("apple", "gcm", "fcm", "fcmv1", "template") and not isinstance(body, dict):
            self.fail(400, "The notification is not valid JSON")
        if kind == "template" and any(not isinstance(v, str) for v in body.values()):
            self.fail(400, "The properties of a template notification are texts")
        if kind == "apple" and len(request.body) > MAX_PUSH_BYTES:
            self.fail(400, "The notification is too large")
        tags, expression = request.header("ServiceBusNotification-Tags"), None
        if tags is not None:
            expression = self.expression(tags)
        headers = {k.lower(): v for k, v in request.headers if k.lower().startswith("apns-")}
        expiry = request.header("ServiceBusNotification-Apns-Expiry") or request.header("ServiceBusNotification-ApnsExpiry")
        return {"format": kind, "body": request.body, "tags": tags if expression else None, "headers": headers, "expiry": expiry or ""}

    def expression(self, tags: str) -> TagExpression:
        try:
            return TagExpression(tags)
        except TagError as error:
            self.fail(400, f"The supplied tag expression is not valid at position {error.position}")
            raise

    def has(self, request: Request, name: str) -> bool:
        return request.item(name) is not None

    def send(self, request: Request) -> Response:
        order = self.order(request)
        if self.has(request, "direct"):
            handle = request.header("ServiceBusNotification-DeviceHandle")
            if not handle:
                self.fail(400, "The device handle is missing")
            number = self.deliver(order, [self.direct(order, handle)])
        else:
            number = self.deliver(order, self.chosen(order))
        location = ("Location", self.link(f"messages/{number}"))
        if not self.has(request, "test"):
            return self.reply(201, b"", XML, location)
        rows = "".join(
            f"<RegistrationResult><ApplicationPlatform>apple</ApplicationPlatform><PnsHandle>{escape(t['handle'])}</PnsHandle><RegistrationId>"
            f"{escape(t['device'])}</RegistrationId><Outcome>The Notification was successfully sent to the Push Notification System</Outcome></RegistrationResult>"
            for t in self.messages[number]["targets"][:10]
        )
        count = min(10, len(self.messages[number]["targets"]))
        outcome = f"<Success>{count}</Success><Failure>0</Failure><Results>{rows}</Results>"
        return self.reply(201, f'<NotificationOutcome xmlns="{CONNECT}" xmlns:i="{SCHEMA}">{outcome}</NotificationOutcome>', XML, location)

    @staticmethod
    def direct(order: dict, handle: str) -> dict:
        platform = PLATFORM_OF.get(order["format"], order["format"])
        return {"platform": platform, "handle": handle, "tags": set(), "template": None, "device": handle, "user": "", "variables": {}}

    def chosen(self, order: dict) -> list[dict]:
        expression = TagExpression(order["tags"]) if order["tags"] is not None else None
        platform, is_template = PLATFORM_OF.get(order["format"], order["format"]), order["format"] == "template"
        rows = [t for t in self.targets() if (t["template"] is not None if is_template else t["template"] is None and t["platform"] == platform)]
        rows = [t for t in rows if expression is None or expression.matches(t["tags"])]
        if is_template:
            return rows
        # A native send reaches each device token once.
        return list({t["handle"].lower(): t for t in reversed(rows)}.values())[::-1]

    def send_batch(self, request: Request) -> Response:
        if not self.has(request, "direct"):
            self.fail(400, "A batch is a direct send")
        parts = {h.get("name"): d for h, d in multipart(request.body, request.header("content-type") or "")}
        handles = loads(parts.get("devices", b""))
        if "notification" not in parts or not isinstance(handles, list) or not 0 < len(handles) <= 1000:
            self.fail(400, "The batch is not valid")
        order = self.order(Request("POST", request.target, request.headers, parts["notification"]))
        number = self.deliver(order, [self.direct(order, text(h)) for h in dict.fromkeys(map(text, handles))])
        return self.reply(201, b"", XML, ("Location", self.link(f"messages/$batch/{number}", "&direct")))

    def deliver(self, order: dict, targets: list[dict]) -> str:
        number = f"{self.ids.hex(32)}-{self.moment():%Y%m%d%H%M%S}-1-1"
        body = order["body"].decode("utf-8", "replace")
        shown = [{k: t[k] for k in ("handle", "device", "user")} for t in targets]
        message = {"id": number, "at": self.now, "format": order["format"], "body": body, "targets": shown, "outcomes": {}, "version": self.version}
        self.messages[number] = message
        for target in targets:
            if target["platform"] == "apns":
                self.push_to(message, order, target)
        return number

    def push_to(self, message: dict, order: dict, target: dict) -> None:
        body, headers = order["body"], dict(order["headers"])
        if target["template"] is not None:
            values = {k.lower(): text(v) for k, v in target["variables"].items()} | {k.lower(): v for k, v in loads(body).items()}
            template = loads(target["template"]["body"])
            try:
                if template is ...:
                    raise TemplateError("not JSON")
                body = dumps(render(template, values))
            except TemplateError:
                self.count(message, "InvalidNotificationFormat")
                return
            headers |= {k.lower(): text(v) for k, v in target["template"]["headers"].items() if k.lower().startswith("apns-")}
        payload = loads(body)
        aps = payload.get("aps") if isinstance(payload, dict) and isinstance(payload.get("aps"), dict) else {}
        is_silent = aps.get("content-available") == 1 and not aps.get("alert") and aps.get("badge") is None and not aps.get("sound")
        kind = headers.get("apns-push-type") or ("background" if is_silent else "alert")
        inferred = {"apns-push-type": kind, "apns-priority": "5" if kind == "background" else "10", "apns-expiration": self.expiration(order["expiry"])}
        self.push(message["id"], target["user"], target["device"], target["handle"].lower(), body, inferred | headers)

    def expiration(self, expiry: str) -> str:
        for pattern in ("%Y-%m-%dT%H:%M:%S", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p"):
            try:
                moment = datetime.strptime(expiry.split(".")[0].rstrip("Z"), pattern).replace(tzinfo=timezone.utc)
                return str(int(moment.timestamp()))
            except ValueError:
                continue
        return str(self.now // 1000 + 30 * 60)

    @staticmethod
    def count(message: dict, outcome: str) -> None:
        message["outcomes"][outcome] = message["outcomes"].get(outcome, 0) + 1

    def outcome(self, push: Push) -> None:
        names = {"BadDeviceToken": "BadChannel", "Unregistered": "ExpiredChannel", "PayloadTooLarge": "InvalidNotificationSize"}
        by_status = {200: "Success", 403: "InvalidCredentials", 410: "ExpiredChannel", 413: "InvalidNotificationSize", 429: "Throttled", 500: "PnsServerError"}
        by_status[503] = "PnsServerError"
        name = names.get(push.reason) or by_status.get(push.status) or ("PnsUnreachable" if push.state == "unsent" else "UnknownError")
        self.count(self.messages[push.message], name)
        if push.state == "rejected" and name in ("BadChannel", "ExpiredChannel"):
            for installation in self.installations.values():
                if text(installation["pushChannel"]).lower() == push.token:
                    installation["pushChannelExpired"] = True
            for number in [n for n, r in self.registrations.items() if r["handle"].lower() == push.token]:
                self.forget(number)

    # Schedules and telemetry.

    def schedule(self, request: Request) -> Response:
        order = self.order(request)
        wanted = (request.header("ServiceBusNotification-ScheduleTime") or "").replace("'", "").rstrip("Z").split(".")[0]
        try:
            due = int(datetime.strptime(wanted, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc).timestamp() * 1000)
        except ValueError:
            due = 0
        if not 5 * 60_000 <= due - self.now <= 7 * 86_400_000:
            self.fail(400, "The scheduled time is not valid")
        number = f"{self.ids.hex(32)}_{self.moment():%Y%m%d%H%M%S}_1_1"
        self.schedules[number] = {"id": number, "due": due, "order": order, "version": self.version}
        self.later(due - self.now, "release", number)
        return self.reply(201, b"", XML, ("Location", self.link(f"schedulednotifications/{number}")))

    def cancel(self, request: Request, number: str) -> Response:
        if self.schedules.pop(number, None) is None:
            # Assumed: the text for an unknown schedule.
            self.fail(404, "Scheduled notification not found")
        return self.reply(200)

    def release(self, number: str) -> None:
        schedule = self.schedules.pop(number, None)
        if schedule is not None:
            self.version = schedule["version"]
            self.deliver(schedule["order"], self.chosen(schedule["order"]))

    def telemetry(self, request: Request, number: str) -> Response:
        message = self.messages.get(number)
        if message is None:
            self.fail(404, "Notification not found")
        at = datetime.fromtimestamp(message["at"] / 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        settled = sum(message["outcomes"].values())
        state = "NoTargetFound" if not message["targets"] else "Completed" if settled >= len(message["targets"]) else "Processing"
        counts = "".join(f"<Outcome><Name>{n}</Name><Count>{c}</Count></Outcome>" for n, c in sorted(message["outcomes"].items()))
        link = escape(self.link(f"messages/{number}").replace("https://", "sb://"))
        # Assumed: start and end equal the time of the call, so that the answer does not depend on the speed of APNs.
        body = (
            f'<NotificationDetails xmlns="{CONNECT}" xmlns:i="{SCHEMA}"><NotificationId>{number}</NotificationId><Location>{link}</Location><State>{state}</State>'
            f"<EnqueueTime>{at}</EnqueueTime><StartTime>{at}</StartTime><EndTime>{at}</EndTime><NotificationBody>{escape(message['body'])}</NotificationBody>"
            f"<TargetPlatforms>{escape(message['format'])}</TargetPlatforms><ApnsOutcomeCounts>{counts}</ApnsOutcomeCounts>"
            "<PnsErrorDetailsUri></PnsErrorDetailsUri></NotificationDetails>"
        )
        return self.reply(200, body)

    def snapshot(self) -> dict:
        devices = [{"device": r["id"], "token": r["handle"], "user": self.user_of(r["tags"]), "tags": r["tags"]} for r in self.registrations.values()]
        devices += [
            {"device": i["installationId"], "token": i["pushChannel"], "user": i["userId"], "tags": i["tags"]} for i in self.installations.values()
        ]  # fmt: skip
        users: dict[str, list[str]] = {}
        for device in devices:
            users.setdefault(device["user"], []).append(device["device"])
        waiting = [{"id": s["id"], "due": s["due"]} for s in self.schedules.values()]
        return {"devices": devices, "users": users, "groups": {}, "messages": list(self.messages.values()), "schedules": waiting}
