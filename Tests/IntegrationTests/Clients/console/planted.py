"""The objects of two tenants: one object of each kind for each role that may change it, with texts and numbers that occur nowhere else.

Each text begins with the tenant's mark and its kind: `zqa-id-` of acme's ids, `zqa-own-` of what every role of acme may see, `zqa-per-` of what
identifies a person. Nothing of a tenant may occur in an answer to another one, except an id that the request itself has.
"""

import datetime
import hashlib
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request

# The roles that change something, each with its own objects. `spare` has those of nobody.
SUFFIXES = ("owner", "operator", "author", "spare")


class Tenant:
    def __init__(self, api: str, key: str, name: str, app: str, mark: str, digit: str, apns_key: bytes) -> None:
        self.api = api
        self.key = key
        self.apns_key = apns_key
        self.name = name
        self.app = app
        self.mark = mark
        self.digit = digit
        # By suffix: the fields of the paths of pages.
        self.objects: dict[str, dict[str, str]] = {}
        # The texts that identify people, as each would occur in an answer. Phone numbers are compared by their digits.
        self.personal: set[str] = set()
        self.phones: set[str] = set()
        self.tokens: set[str] = set()
        # Tokens, and ids without a mark.
        self.secrets: set[str] = set()

    def call(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, object]:
        status, text = self.raw(method, path, body, **headers)
        return status, json.loads(text) if text else None

    def raw(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, bytes]:
        data = None if body is None else json.dumps(body).encode()
        sent = {"Authorization": "Bearer " + self.key, "Content-Type": "application/json"} | headers
        request = urllib.request.Request(self.api + path, data, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def done(self, method: str, path: str, body: object = None) -> dict:
        status, answer = self.call(method, path, body)
        assert status < 300, (self.name, method, path, status, answer)
        return answer

    def id(self, kind: str, suffix: str) -> str:
        return f"{self.mark}-id-{kind}-{suffix}"

    def own(self, kind: str, suffix: str) -> str:
        return f"{self.mark}-own-{kind}-{suffix}"

    def person(self, kind: str, suffix: str) -> str:
        text = f"{self.mark}-per-{kind}-{suffix}"
        self.personal.add(text)
        return text

    def plant(self) -> None:
        for place, suffix in enumerate(SUFFIXES):
            self.objects[suffix] = {"app": self.app, "reason": "Unregistered"}
            self._people(suffix, place)
            self._contents(suffix)
            self._settings(suffix)
        self._sent()
        self._awaiting()
        ids = {value for mine in self.objects.values() for value in mine.values() if re.fullmatch(r"[0-9a-f-]{36}", value)}
        self.secrets = self.tokens | ids

    def _people(self, suffix: str, place: int) -> None:
        mine = self.objects[suffix]
        phone = f"8210{self.digit}5{place}73{place}19"
        self.phones.add(phone[2:])
        token = hashlib.sha256(f"{self.name} {suffix}".encode()).hexdigest()
        self.tokens.add(token)
        mine["user"], mine["phone"] = self.person("user", suffix), phone
        device = {
            "app": self.app, "platform": "ios", "environment": "production", "token": token, "key": self.person("key", suffix),
            "user": mine["user"], "name": self.person("name", suffix), "phone": phone, "tags": [self.own("tag", suffix)],
        }  # fmt: skip
        mine["device"] = self.done("POST", "/v1/devices", device)["id"]
        mine["identity"] = str(self.done("GET", f"/v1/devices/{mine['device']}")["identities"][0]["id"])
        user = urllib.parse.quote(mine["user"])
        self.done("PATCH", f"/v1/apps/{self.app}/users/{user}", {"attributes": {"note": self.person("attribute", suffix)}})
        mine["group"] = self.id("group", suffix)
        for group in (mine["group"], "test-devices"):
            self.done("PUT", f"/v1/apps/{self.app}/groups/{group}")
            self.done("POST", f"/v1/apps/{self.app}/groups/{group}/members", {"add": [mine["user"]]})

    def _contents(self, suffix: str) -> None:
        mine = self.objects[suffix]
        mine["template"] = self.id("template", suffix)
        content = {"title": self.own("template-title", suffix), "body": self.own("template-body", suffix)}
        self.done("PUT", f"/v1/apps/{self.app}/templates/{mine['template']}", {"content": content})
        mine["message"] = self.message(suffix, "scheduled", tomorrow())

    def message(self, suffix: str, title: str, at: str | None = None) -> str:
        message = {"app": self.app, "to": {"groups": [self.objects[suffix]["group"]]}, "title": self.own(title, suffix),
                   "body": self.own("body", suffix), "campaign": self.id("campaign", suffix)}  # fmt: skip
        return self.done("POST", "/v1/messages", message | ({"sendAt": at} if at else {}))["id"]

    def _settings(self, suffix: str) -> None:
        mine = self.objects[suffix]
        hook = {"url": f"http://127.0.0.1:9/{self.own('hook', suffix)}", "active": suffix == "spare"}
        mine["webhook"] = self.done("POST", "/v1/webhooks", hook)["id"]
        mine["key"] = self.id("key", suffix)
        self.done("POST", "/v1/keys", {"name": mine["key"], "scopes": ["read"]})
        mine["credential"] = self.id("credential", suffix)
        token = {"kind": "apns-token", "teamId": "DEMOTEAM01", "keyId": "DEMOKEY001", "privateKey": self.apns_key.decode()}
        self.done("PUT", f"/v1/credentials/{mine['credential']}", token)
        upstream = self.id("upstream", suffix)
        self.done("PUT", f"/v1/credentials/{upstream}", {"kind": "upstream-rationalowl", "url": f"https://{self.own('host', suffix)}.example"})
        # Unlike the app of the file, this one may be changed and deleted.
        mine["web"] = self.id("app", suffix)
        self._app(mine["web"])
        self._rules(mine["web"])
        mine["capture"] = self.done("POST", "/v1/captures", {"app": mine["web"], "vendor": "rationalowl"})["id"]
        mine["migration"] = self.id("migration", suffix)
        gates = {"failures": "<= 0.02", "receipts": "none", "unknown": "none"}
        steps = [
            {"stage": "observe", "gates": {"senders": ">= 1"}}, {"stage": "serve", "gates": {"backlog": "<= 60s"}},
            {"stage": "rollout", "percent": 100, "gates": gates}, {"stage": "hold"}, {"stage": "complete"},
        ]  # fmt: skip
        # An app has one migration, and its rules are not changed otherwise meanwhile.
        self._app(mine["web"] + "-moving")
        plan = {"migration": {"id": mine["migration"], "app": mine["web"] + "-moving", "from": upstream}, "steps": steps}
        self.done("POST", "/v1/migrations", plan)
        # In each state that has forms of its own.
        for step in {"operator": ["start"], "author": ["start", "pause"]}.get(suffix, []):
            self.done("POST", f"/v1/migrations/{mine['migration']}/{step}")
        if suffix == "spare":
            self.done("POST", f"/v1/messages/{mine['message']}/pause")

    def _app(self, name: str) -> None:
        digest = hashlib.sha256(name.encode()).hexdigest()
        account = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"
        binding = {"accountId": account, "serviceId": digest[:32]}
        body = {"platforms": {"ios": {"topic": "com.example.shop", "production": "apple"}}, "bindings": {"rationalowl": binding}}
        self.done("PUT", f"/v1/apps/{name}", body)

    def _rules(self, name: str) -> None:
        """Two versions, so that one can be restored."""
        for version, kinds in enumerate((["send"], ["device"])):
            overlay = {"calls": [{"kinds": kinds, "action": "serve"}]}
            status, answer = self.call("PUT", f"/v1/apps/{name}/routes", overlay, **{"If-Match": f'"{version}"'})
            assert status < 300, (status, answer)

    def _sent(self) -> None:
        """A message with deliveries, which has a page of each kind."""
        message = self.message("spare", "sent")
        end = time.monotonic() + 30
        while self.call("GET", f"/v1/messages/{message}")[1]["state"] not in ("done", "dead"):
            assert time.monotonic() < end, f"{self.name}: message {message} does not end"
            time.sleep(0.1)
        deliveries = self.done("GET", f"/v1/messages/{message}/deliveries")["deliveries"]
        for suffix in SUFFIXES:
            self.objects[suffix] |= {"sent": message, "target": str(deliveries[0]["target"])}

    def _awaiting(self) -> None:
        """An app whose messages to more than one device wait for an approval."""
        app = self.id("app", "approved")
        body = {"platforms": {"ios": {"topic": "com.example.shop", "production": "apple"}}, "approvalAbove": 1}
        self.done("PUT", f"/v1/apps/{app}", body)
        for number in (1, 2):
            device = {"app": app, "platform": "ios", "environment": "production", "key": self.person("key", f"approved-{number}"),
                      "token": hashlib.sha256(f"{app}{number}".encode()).hexdigest(), "user": self.person("user", f"approved-{number}")}  # fmt: skip
            self.done("POST", "/v1/devices", device)
        users = [self.person("user", f"approved-{number}") for number in (1, 2)]
        for suffix in SUFFIXES:
            message = {"app": app, "to": {"users": users}, "title": self.own("awaiting", suffix), "body": "x"}
            self.objects[suffix]["awaiting"] = self.done("POST", "/v1/messages", message)["id"]

    def state(self) -> dict:
        """Everything that the forms could change, to compare before and after."""
        found = {}
        for path in ("messages?limit=200", "devices?limit=200", "apps", "webhooks", "captures", "keys", "credentials", "migrations"):
            found[path] = self.done("GET", f"/v1/{path}")
        for app in (self.app, self.id("app", "owner")):
            for path in ("groups", "templates", "users", "routes", "routes/versions"):
                found[f"{app} {path}"] = self.done("GET", f"/v1/apps/{app}/{path}")
        for mine in self.objects.values():
            user = urllib.parse.quote(mine["user"])
            for path in (f"groups/{mine['group']}/members", f"users/{user}", f"consents/{user}"):
                found[path] = self.done("GET", f"/v1/apps/{self.app}/{path}")
        found["testers"] = self.done("GET", f"/v1/apps/{self.app}/groups/test-devices/members")
        return {path: still(value) for path, value in found.items()}


# Members that change by themselves.
MOVING = {"lastUsedAt", "head", "cursor", "exchanges", "bytes", "now", "checkedAt", "failures", "lastError", "state"}


def still(value: object) -> object:
    if isinstance(value, dict):
        return {name: still(member) for name, member in value.items() if name not in MOVING or (name == "state" and "title" in value)}
    return [still(member) for member in value] if isinstance(value, list) else value


def difference(one: object, other: object, path: str = "") -> str:
    """The first difference of two values."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(one.keys() | other.keys()):
            if one.get(name) != other.get(name):
                return difference(one.get(name), other.get(name), f"{path}.{name}")
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (first, second) in enumerate(zip(one, other)):
            if first != second:
                return difference(first, second, f"{path}[{place}]")
    return f"{path}: {json.dumps(one)[:200]} became {json.dumps(other)[:200]}"


def tomorrow() -> str:
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
