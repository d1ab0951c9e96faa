"""Stub of Braze: the REST calls of back ends. Contract: docs/contracts/braze.md.

The calls of the vendor's SDKs (`/api/v3/…`) are not part of it, because of the SDKs' licence; the stub answers them with 404. Devices and tokens come by
`/users/track`. Campaigns and segments, which live in the vendor's dashboard, come by control calls.
"""

import base64
import hashlib
import re
from datetime import datetime, timezone

from .apns import Push
from .http1 import Request, Response
from .stub import Refusal, Stub, dictionary, dumps, integer, json_response, loads, text

MAX_OBJECTS = 75
MAX_USERS = 50
MAX_PUSH_BYTES = 1912
TOO_MANY_USERS = "The max number of external_ids and aliases per request was exceeded"
NO_ID = "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required"
RESERVED = {
    "country", "current_location", "date_of_first_session", "date_of_last_session", "dob", "email", "email_subscribe", "first_name", "gender", "home_city",
    "image_url", "language", "last_name", "phone", "push_subscribe", "push_tokens", "time_zone", "subscription_groups",
}  # fmt: skip
# Fields of an element of `attributes` that are no attributes.
IDENTIFIERS = {"external_id", "braze_id", "user_alias", "_update_existing_only", "push_token_import", "app_id"}


class BrazeStub(Stub):
    SETTINGS = {
        "restKey": ("00000000-aaaa-4bbb-8ccc-dddddddddddd", "the REST key"),
        "permissions": ("*", "permissions of that key, separated by commas; *: all"),
        "iosApp": ("11111111-2222-4333-8444-555555555555", "app_id of the iOS app: only its tokens are pushed to"),
        "iosAppName": ("Shop iOS", "name of that app in exports"),
        "enforceLimits": (False, "refuse calls above the documented rate limits; the headers are counted anyway"),
    }
    # Path → (method, permission, calls, seconds, limit's name). The last three are the documented rate limit.
    HOUR = (250_000, 3600, "other")
    USERS = (20_000, 60, "users")
    ROUTES = {
        ("POST", "/users/track"): ("users_track", "users.track", (3000, 3, "track")),
        ("POST", "/users/alias/new"): ("alias_new", "users.alias.new", USERS),
        ("POST", "/users/identify"): ("identify", "users.identify", USERS),
        ("POST", "/users/merge"): ("merge", "users.merge", USERS),
        ("POST", "/users/delete"): ("users_delete", "users.delete", USERS),
        ("POST", "/users/export/ids"): ("export", "users.export.ids", (250, 60, "export")),
        ("POST", "/messages/send"): ("messages_send", "messages.send", HOUR),
        ("POST", "/campaigns/trigger/send"): ("trigger_send", "campaigns.trigger.send", HOUR),
        ("POST", "/messages/schedule/create"): ("schedule_create", "messages.schedule.create", HOUR),
        ("POST", "/messages/schedule/update"): ("schedule_update", "messages.schedule.update", HOUR),
        ("POST", "/messages/schedule/delete"): ("schedule_delete", "messages.schedule.delete", HOUR),
        ("POST", "/campaigns/trigger/schedule/create"): ("trigger_schedule_create", "campaigns.trigger.schedule.create", HOUR),
        ("POST", "/campaigns/trigger/schedule/update"): ("schedule_update", "campaigns.trigger.schedule.update", HOUR),
        ("POST", "/campaigns/trigger/schedule/delete"): ("schedule_delete", "campaigns.trigger.schedule.delete", HOUR),
        ("GET", "/messages/scheduled_broadcasts"): ("scheduled", "messages.schedule_broadcasts", HOUR),
        ("POST", "/sends/id/create"): ("send_id", "sends.id.create", (100, 86_400, "sends")),
        ("GET", "/sends/data_series"): ("data_series", "sends.data_series", HOUR),
        ("POST", "/subscription/status/set"): ("subscription_set", "subscription.status.set", (5000, 60, "subscription")),
        ("POST", "/v2/subscription/status/set"): ("subscription_set_v2", "subscription.status.set", (5000, 60, "subscription")),
        ("GET", "/subscription/status/get"): ("subscription_get", "subscription.status.get", HOUR),
        ("GET", "/subscription/user/status"): ("subscription_user", "subscription.status.get", HOUR),
    }

    def __init__(self, settings: dict, seed: str):
        super().__init__(settings, seed)
        self.profiles: dict[str, dict] = {}
        # Indexes of the profiles: by external ID, and by token in lower case.
        self.externals: dict[str, dict] = {}
        self.owners: dict[str, dict] = {}
        self.campaigns: dict[str, dict] = {}
        self.segments: dict[str, list[str]] = {}
        self.schedules: dict[str, dict] = {}
        self.messages: dict[str, dict] = {}
        self.send_ids: list[str] = []
        self.windows: dict[str, list[int]] = {}
        self.rate: list[tuple[str, str]] = []

    # Answers.

    def reply(self, status: int, value) -> Response:
        return json_response(status, value, *self.rate, kind="application/json")

    def fail(self, status: int, message: str, **more):
        raise Refusal(self.reply(status, {"message": message, **more}))

    def too_many(self, retry_after: int) -> Response:
        reset = self.now // 1000 + retry_after
        headers = [("X-RateLimit-Limit", "250"), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", str(reset)), ("Retry-After", str(retry_after))]
        return json_response(429, {"message": "Too many requests"}, *headers, kind="application/json")

    # Requests.

    def carry_out(self, request: Request) -> Response:
        self.rate = []
        path = request.path.rstrip("/")
        route = self.ROUTES.get((request.method, path))
        if route is None:
            self.fail(404, "Not Found")
        name, permission, limit = route
        body = loads(request.body) if request.body else {}
        self.authorize(request, body, permission)
        self.count(limit)
        if request.method == "POST" and not isinstance(body, dict):
            # This failure has the key `error`, unlike all others.
            raise Refusal(self.reply(400, {"error": "The body is not valid JSON."}))
        return getattr(self, name)(body if request.method == "POST" else request)

    def authorize(self, request: Request, body, permission: str) -> None:
        header = request.header("authorization")
        key = header.removeprefix("Bearer ") if header is not None else text(body.get("api_key")) if isinstance(body, dict) else ""
        key = key or (request.item("api_key") or "" if header is None else "")
        allowed = self["permissions"].split(",")
        if key != self["restKey"] or "*" not in allowed and permission not in allowed:
            self.fail(401, "Invalid API Key")

    def count(self, limit: tuple[int, int, str]) -> None:
        calls, seconds, name = limit
        window = self.windows.setdefault(name, [0, 0])
        if self.now >= window[0]:
            window[:] = [self.now + seconds * 1000, 0]
        window[1] += 1
        left = max(0, calls - window[1])
        self.rate = [("X-RateLimit-Limit", str(calls)), ("X-RateLimit-Remaining", str(left)), ("X-RateLimit-Reset", str(window[0] // 1000))]
        if window[1] > calls and self["enforceLimits"]:
            wait = max(1, (window[0] - self.now) // 1000)
            raise Refusal(json_response(429, {"message": "Too many requests"}, *self.rate, ("Retry-After", str(wait)), kind="application/json"))

    # Profiles.

    def profile(self, external: str = "", alias: list[str] | None = None) -> dict:
        profile = {
            "braze_id": self.ids.hex(24), "external_id": "", "aliases": [alias] if alias else [], "standard": {}, "custom": {}, "tokens": [],
            "subscriptions": {}, "events": {}, "purchases": {},
        }  # fmt: skip
        self.profiles[profile["braze_id"]] = profile
        self.name(profile, external)
        return profile

    def name(self, profile: dict, external: str) -> None:
        profile["external_id"] = external
        if external:
            self.externals[external] = profile

    def remove(self, profile: dict) -> None:
        del self.profiles[profile["braze_id"]]
        self.externals.pop(profile["external_id"], None)

    @staticmethod
    def alias(entry) -> list[str] | None:
        pair = [text(entry.get("alias_label")), text(entry.get("alias_name"))] if isinstance(entry, dict) else []
        return pair if all(pair) and pair else None

    def lookup(self, entry: dict) -> dict | None:
        """The profile that an element names by external_id, user_alias, braze_id, email or phone."""
        external, alias = text(entry.get("external_id")) or text(entry.get("external_user_id")), self.alias(entry.get("user_alias"))
        if external:
            return self.externals.get(external)
        if alias:
            return next((p for p in self.profiles.values() if alias in p["aliases"]), None)
        if text(entry.get("braze_id")):
            return self.profiles.get(text(entry["braze_id"]))
        name = "email" if text(entry.get("email")) else "phone"
        value = text(entry.get(name))
        return next((p for p in self.profiles.values() if value and p["standard"].get(name) == value), None)

    def obtain(self, entry: dict) -> dict | None:
        """The named profile; it is created if the element permits that."""
        found = self.lookup(entry)
        alias = self.alias(entry.get("user_alias"))
        only_existing = entry.get("_update_existing_only", bool(alias and not text(entry.get("external_id"))))
        if found is None and not only_existing and not text(entry.get("braze_id")):
            found = self.profile(text(entry.get("external_id")), alias)
        return found

    def identified(self, entry) -> bool:
        names = ("external_id", "braze_id", "email", "phone")
        return isinstance(entry, dict) and (any(text(entry.get(name)) for name in names) or self.alias(entry.get("user_alias")) is not None)

    # /users/track

    def users_track(self, body: dict) -> Response:
        arrays = {name: body[name] for name in ("attributes", "events", "purchases") if isinstance(body.get(name), list)}
        if any(len(array) > MAX_OBJECTS for array in arrays.values()):
            self.fail(400, "Max Input Length Exceeded")
        answer: dict = {"message": "success"}
        errors: list[dict] = []
        for name, take in (("attributes", self.track_attributes), ("events", self.track_event), ("purchases", self.track_purchase)):
            if name in arrays:
                problems = [take(entry) for entry in arrays[name]]
                errors += [{"type": p, "input_array": name, "index": i} for i, p in enumerate(problems) if p]
                answer[f"{name}_processed"] = problems.count("")
        if not any(answer.get(f"{name}_processed") for name in arrays):
            text_ = "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields."
            self.fail(400, text_, **({"errors": errors} if errors else {}))
        return self.reply(201, answer | ({"errors": errors} if errors else {}))

    def track_attributes(self, entry) -> str:
        """Returns the problem of the element, or an empty text."""
        if isinstance(entry, dict) and entry.get("push_token_import"):
            return self.import_token(entry)
        if not self.identified(entry):
            return NO_ID
        for name, value in entry.items():
            if len(name) > 255 or name.startswith("$") or isinstance(value, str) and len(value) > 255 and name not in ("email", "image_url"):
                return f"'{name}' is not valid"
        profile = self.obtain(entry)
        if profile is None:
            return ""
        for name, value in entry.items():
            if name in IDENTIFIERS or name in ("email", "phone") and value is None:
                continue
            if name == "push_tokens":
                self.set_tokens(profile, value)
            elif name == "subscription_groups":
                for group in [g for g in value if isinstance(g, dict)] if isinstance(value, list) else []:
                    profile["subscriptions"][text(group.get("subscription_group_id"))] = text(group.get("subscription_state"))
            else:
                self.set_attribute(profile["standard" if name in RESERVED else "custom"], name, value)
        return ""

    @staticmethod
    def set_attribute(attributes: dict, name: str, value) -> None:
        if value is None:
            attributes.pop(name, None)
        elif isinstance(value, dict) and set(value) == {"inc"}:
            old = attributes.get(name)
            attributes[name] = (old if isinstance(old, (int, float)) else 0) + (value["inc"] if isinstance(value["inc"], (int, float)) else 0)
        elif isinstance(value, dict) and set(value) <= {"add", "remove"} and all(isinstance(v, list) for v in value.values()) and value:
            old = attributes.get(name)
            kept = [v for v in (old if isinstance(old, list) else []) if v not in value.get("remove", [])]
            attributes[name] = kept + [v for v in value.get("add", []) if v not in kept]
        else:
            attributes[name] = value

    def set_tokens(self, profile: dict, tokens) -> None:
        for entry in tokens if isinstance(tokens, list) else []:
            token = text(entry.get("token")) if isinstance(entry, dict) else ""
            if not token:
                continue
            # A token belongs to one profile: the newest.
            self.forget(token)
            self.owners[token.lower()] = profile
            device = text(entry.get("device_id")) or self.ids.uuid().upper()
            # A device has one token per app.
            for old in [t for t in profile["tokens"] if t["device_id"] == device and t["app_id"] == text(entry.get("app_id"))]:
                self.forget(old["token"])
            profile["tokens"].append({"app_id": text(entry.get("app_id")), "token": token, "device_id": device})

    def forget(self, token: str) -> None:
        owner = self.owners.pop(token.lower(), None)
        if owner is not None:
            owner["tokens"] = [t for t in owner["tokens"] if t["token"].lower() != token.lower()]

    def import_token(self, entry: dict) -> str:
        tokens = entry.get("push_tokens") if isinstance(entry.get("push_tokens"), list) else []
        if text(entry.get("external_id")) or text(entry.get("braze_id")) or not tokens:
            return "'push_token_import' is not valid"
        fresh = [t for t in tokens if isinstance(t, dict) and text(t.get("token")) and text(t["token"]).lower() not in self.owners]
        if fresh:
            self.set_tokens(self.profile(), fresh)
        return ""

    def track_event(self, entry) -> str:
        if not self.identified(entry):
            return NO_ID
        name = text(entry.get("name"))
        if not name or len(name) > 255 or name.startswith("$"):
            return "'name' is not valid"
        if not text(entry.get("time")):
            return "'time' is not valid"
        profile = self.obtain(entry)
        if profile is not None:
            profile["events"][name] = profile["events"].get(name, 0) + 1
        return ""

    def track_purchase(self, entry) -> str:
        if not self.identified(entry):
            return NO_ID
        for name in ("product_id", "currency"):
            if not text(entry.get(name)):
                return f"'{name}' is not valid"
        price, quantity = entry.get("price"), entry.get("quantity", 1)
        if not isinstance(price, (int, float)) or isinstance(price, bool):
            return "'price' is not valid"
        if not isinstance(quantity, int) or isinstance(quantity, bool) or not 0 < quantity <= 100:
            return "'quantity' is not valid"
        profile = self.obtain(entry)
        if profile is not None:
            product = text(entry["product_id"])
            profile["purchases"][product] = profile["purchases"].get(product, 0) + quantity
        return ""

    # Identity.

    def many(self, body: dict, *names: str) -> list:
        """The elements of these lists together."""
        entries = [entry for name in names if isinstance(body.get(name), list) for entry in body[name]]
        if len(entries) > MAX_USERS:
            self.fail(400, TOO_MANY_USERS)
        return entries

    def objects(self, body: dict, *names: str) -> list[dict]:
        return [entry for entry in self.many(body, *names) if isinstance(entry, dict)]

    def alias_new(self, body: dict) -> Response:
        processed = 0
        for entry in self.objects(body, "user_aliases"):
            alias = self.alias(entry)
            if alias is None:
                continue
            processed += 1
            profile = self.lookup(entry) if text(entry.get("external_id")) else None
            if profile is None:
                profile = self.profile(text(entry.get("external_id")))
            if not any(alias in p["aliases"] for p in self.profiles.values()):
                profile["aliases"].append(alias)
        return self.reply(201, {"aliases_processed": processed, "message": "success"})

    def identify(self, body: dict) -> Response:
        processed = 0
        for entry in self.objects(body, "aliases_to_identify", "emails_to_identify", "phone_numbers_to_identify"):
            external = text(entry.get("external_id"))
            old = self.lookup({k: v for k, v in entry.items() if k != "external_id"})
            if not external or old is None:
                continue
            processed += 1
            kept = self.lookup({"external_id": external})
            if kept is None:
                self.externals.pop(old["external_id"], None)
                self.name(old, external)
            elif kept is not old:
                self.join(old, kept)
        return self.reply(201, {"aliases_processed": processed, "message": "success"})

    def join(self, old: dict, kept: dict) -> None:
        """Everything moves to the kept profile, which wins on conflicts."""
        for name in ("standard", "custom", "subscriptions", "events", "purchases"):
            kept[name] = old[name] | kept[name]
        kept["aliases"] += old["aliases"]
        kept["tokens"] += old["tokens"]
        self.owners |= {t["token"].lower(): kept for t in old["tokens"]}
        self.remove(old)

    def merge(self, body: dict) -> Response:
        for entry in self.objects(body, "merge_updates"):
            old = self.lookup(dictionary(entry.get("identifier_to_merge")))
            kept = self.lookup(dictionary(entry.get("identifier_to_keep")))
            if old and kept and old is not kept:
                self.join(old, kept)
        return self.reply(202, {"message": "success"})

    def users_delete(self, body: dict) -> Response:
        deleted = 0
        for entry in self.named(body, {"external_ids": "external_id", "braze_ids": "braze_id", "user_aliases": "", "phone_numbers": "phone", "email_addresses": ""}):
            profile = self.lookup(entry)
            if profile is not None:
                for token in list(profile["tokens"]):
                    self.forget(token["token"])
                self.remove(profile)
                deleted += 1
        return self.reply(201, {"deleted": deleted, "message": "success"})

    def named(self, body: dict, lists: dict[str, str]) -> list[dict]:
        """The elements of these lists as identifiers. An empty name: the elements are aliases or objects."""
        found = []
        for name, key in lists.items():
            for value in self.many(body, name):
                if key:
                    found.append({key: text(value)})
                else:
                    found.append({"user_alias": value} if "alias" in name else value if isinstance(value, dict) else {})
        if len(found) > MAX_USERS:
            self.fail(400, TOO_MANY_USERS)
        return found

    def export(self, body: dict) -> Response:
        wanted = self.named(body, {"external_ids": "external_id", "user_aliases": ""})
        names = {"braze_id": "braze_id", "email_address": "email", "phone": "phone"}
        wanted += [{key: text(body[name])} for name, key in names.items() if text(body.get(name))]
        device = text(body.get("device_id"))
        if not wanted and not device:
            self.fail(400, "No users found to export")
        found = [p for p in self.profiles.values() if device and any(t["device_id"] == device for t in p["tokens"])]
        missing = []
        for entry in wanted:
            profile = self.lookup(entry)
            if profile is None:
                missing.append(text(entry.get("external_id")) or text(entry.get("braze_id")))
            elif profile not in found:
                found.append(profile)
        fields = body.get("fields_to_export") if isinstance(body.get("fields_to_export"), list) else None
        users = [self.exported(profile, fields) for profile in found]
        return self.reply(201, {"message": "success", "users": users, "invalid_user_ids": [m for m in missing if m]})

    def exported(self, profile: dict, fields: list | None) -> dict:
        ios = self["iosApp"]
        tokens = [
            {"app": self["iosAppName"] if t["app_id"] == ios else t["app_id"], "platform": "iOS" if t["app_id"] == ios else "Android", "token": t["token"],
             "device_id": t["device_id"], "notifications_enabled": True}
            for t in profile["tokens"]
        ]  # fmt: skip
        aliases = [{"alias_name": name, "alias_label": label} for label, name in profile["aliases"]]
        whole = {"external_id": profile["external_id"], "braze_id": profile["braze_id"], "user_aliases": aliases} | profile["standard"]
        whole |= {"custom_attributes": profile["custom"], "devices": [{"device_id": t["device_id"]} for t in profile["tokens"]], "push_tokens": tokens}
        whole["custom_events"] = [{"name": name, "count": count} for name, count in profile["events"].items()]
        whole["purchases"] = [{"name": name, "count": count} for name, count in profile["purchases"].items()]
        return {k: v for k, v in whole.items() if v not in ("", [], {}, None) and (fields is None or k in fields)}

    # Sends.

    def messages_send(self, body: dict) -> Response:
        order = self.order(body)
        return self.reply(201, {"dispatch_id": self.dispatch(order), "message": "success"})

    def order(self, body: dict) -> dict:
        """The checked send. Throws the vendor's refusal."""
        users = self.recipients(body)
        messages = body.get("messages") if isinstance(body.get("messages"), dict) else {}
        push = messages.get("apple_push")
        if not isinstance(push, dict) and not isinstance(messages.get("android_push"), dict):
            self.fail(400, "No message to send")
        campaign = text(body.get("campaign_id"))
        if campaign:
            if campaign not in self.campaigns:
                self.fail(400, "Invalid Campaign ID")
            if any(isinstance(m, dict) and not text(m.get("message_variation_id")) for m in messages.values()):
                self.fail(400, "Message Variant Unspecified")
        if isinstance(push, dict):
            self.check(push)
        state = text(body.get("recipient_subscription_state"), "subscribed")
        return {"users": users, "push": push, "state": state, "properties": {}, "own": {}, "campaign": campaign, "sendId": text(body.get("send_id"))}

    def recipients(self, body: dict) -> list[dict] | None:
        """Identifiers; None: everyone."""
        listed = self.named(body, {"external_user_ids": "external_id", "user_aliases": ""})
        is_broadcast = body.get("broadcast") is True
        if listed and is_broadcast:
            # Assumed: the text for a broadcast with recipients.
            self.fail(400, "broadcast cannot be combined with recipients")
        if listed:
            return listed
        if isinstance(body.get("audience"), dict):
            return [{"braze_id": p["braze_id"]} for p in self.profiles.values() if self.is_in(p, body["audience"])]
        if text(body.get("segment_id")):
            if text(body["segment_id"]) not in self.segments:
                # Assumed: the text for an unknown segment.
                self.fail(400, "Invalid Segment ID")
            return [{"external_id": user} for user in self.segments[text(body["segment_id"])]]
        if not is_broadcast:
            self.fail(400, "No Recipients")
        return None

    def is_in(self, profile: dict, rule: dict) -> bool:
        """Connected audience: AND, OR, and the leaves of custom attributes and the push subscription."""
        if isinstance(rule.get("AND"), list):
            return all(self.is_in(profile, r) for r in rule["AND"])
        if isinstance(rule.get("OR"), list):
            return any(self.is_in(profile, r) for r in rule["OR"])
        if isinstance(rule.get("push_subscription_status"), dict):
            leaf = rule["push_subscription_status"]
            return (profile["standard"].get("push_subscribe", "subscribed") == leaf.get("value")) == (leaf.get("comparison") != "is_not")
        leaf = rule.get("custom_attribute")
        if not isinstance(leaf, dict):
            # Assumed: the text for a filter that the vendor does not read.
            self.fail(400, "Invalid audience")
        value, wanted = profile["custom"].get(text(leaf.get("custom_attribute_name"))), leaf.get("value")
        compare = {
            "equals": lambda: value == wanted, "not_equal": lambda: value != wanted, "does_not_equal": lambda: value != wanted,
            "exists": lambda: value is not None, "does_not_exist": lambda: value is None,
            "greater_than": lambda: value is not None and value > wanted, "less_than": lambda: value is not None and value < wanted,
            "greater_than_or_equal_to": lambda: value is not None and value >= wanted, "less_than_or_equal_to": lambda: value is not None and value <= wanted,
            "includes_value": lambda: isinstance(value, list) and wanted in value,
            "does_not_include_value": lambda: not isinstance(value, list) or wanted not in value,
            "matches_regex": lambda: isinstance(value, str) and re.search(str(wanted), value) is not None,
            "does_not_match_regex": lambda: not isinstance(value, str) or re.search(str(wanted), value) is None,
        }.get(text(leaf.get("comparison")))  # fmt: skip
        if compare is None:
            self.fail(400, "Invalid audience")
        try:
            return compare()
        except TypeError:
            return False

    def check(self, push: dict) -> None:
        extra = push.get("extra")
        if isinstance(extra, dict) and ("ab" in extra or "aps" in extra) or extra is not None and not isinstance(extra, dict):
            self.fail(400, "Invalid Extra Push Payload")
        if len(dumps(self.payload(push, "c" * 22, {}))) > MAX_PUSH_BYTES:
            self.fail(400, "Apple Push Length Exceeded")

    def dispatch(self, order: dict) -> str:
        number = self.ids.hex(32)
        message = {"dispatch_id": number, "at": self.now, "campaign": order["campaign"], "sendId": order["sendId"], "targets": []}
        self.messages[number] = message
        users = order["users"]
        profiles = list(self.profiles.values()) if users is None else [p for u in users if (p := self.lookup(u)) is not None]
        seen: set[str] = set()
        for profile in profiles:
            if profile["braze_id"] in seen or not self.consents(profile, order["state"]) or not isinstance(order["push"], dict):
                continue
            seen.add(profile["braze_id"])
            tokens = [t for t in profile["tokens"] if t["app_id"] == self["iosApp"]]
            if order["push"].get("send_to_most_recent_device_only"):
                tokens = tokens[-1:]
            properties = dictionary(order["properties"]) | dictionary(order["own"].get(profile["braze_id"]))
            for token in tokens:
                self.push_to(message, profile, token, order["push"], properties)
        return number

    @staticmethod
    def consents(profile: dict, state: str) -> bool:
        own = profile["standard"].get("push_subscribe", "subscribed")
        return state == "all" or (own == "opted_in" if state == "opted_in" else own != "unsubscribed")

    def push_to(self, message: dict, profile: dict, token: dict, push: dict, properties: dict) -> None:
        reference = hashlib.sha256(f"{message['dispatch_id']}|{profile['braze_id']}|{token['token']}".encode()).digest()[:16]
        values = {"user": profile["standard"], "custom": profile["custom"], "properties": properties}
        payload = self.payload(push, base64.urlsafe_b64encode(reference).decode().rstrip("="), values)
        is_silent = bool(push.get("content-available")) and not push.get("alert")
        priority = 5 if push.get("content-available") else 10 if integer(push.get("apns_priority"), 10) > 5 else 5
        expiry = self.time_of(text(push.get("expiry")))
        headers = {
            "apns-push-type": "background" if is_silent else "alert", "apns-priority": str(priority),
            "apns-expiration": str(expiry // 1000 if expiry else self.now // 1000 + 30 * 86_400), "apns-collapse-id": text(push.get("collapse_id")) or None,
        }  # fmt: skip
        user = profile["external_id"] or profile["braze_id"]
        created = self.push(message["dispatch_id"], user, token["device_id"], token["token"].lower(), payload, headers)
        message["targets"].append({"user": user, "device": token["device_id"], "push": created.number})

    def payload(self, push: dict, reference: str, values: dict) -> dict:
        """Assumed: the vendor's action types of buttons are not public, so `buttons` change nothing."""
        alert, aps = push.get("alert"), {}
        if isinstance(alert, dict):
            names = {"title_loc_key": "title-loc-key", "title_loc_args": "title-loc-args", "loc_key": "loc-key", "loc_args": "loc-args", "action_loc_key": "action-loc-key"}
            aps["alert"] = {names.get(k, k): self.liquid(v, values) for k, v in alert.items() if k != "sound"}
        elif alert is not None:
            aps["alert"] = self.liquid(text(alert), values)
        for name in ("badge", "sound"):
            if push.get(name) is not None:
                aps[name] = push[name]
        if push.get("content-available"):
            aps["content-available"] = 1
        if push.get("mutable_content") or push.get("asset_url"):
            aps["mutable-content"] = 1
        for name, key in (("category", "category"), ("interruption_level", "interruption-level"), ("relevance_score", "relevance-score"),
                          ("notification_group_thread_id", "thread-id")):  # fmt: skip
            if push.get(name) is not None:
                aps[key] = push[name]
        ab: dict = {"c": reference}
        if push.get("asset_url"):
            ab["att"] = {"url": push["asset_url"], "type": text(push.get("asset_file_type"))}
        whole = {"aps": aps, "ab": ab}
        if push.get("custom_uri"):
            whole |= {"ab_uri": self.liquid(push["custom_uri"], values), "ab_use_webview": bool(push.get("use_webview", True))}
        extra = push.get("extra") if isinstance(push.get("extra"), dict) else {}
        return whole | {k: self.liquid(v, values) for k, v in extra.items()}

    @staticmethod
    def liquid(value, values: dict):
        """Personalization by profile, custom attribute and trigger property, with the filter `default`."""
        if not isinstance(value, str):
            return value

        def replaced(match: re.Match) -> str:
            family, name, default = match.group(1) or "", match.group(2), match.group(3) or ""
            source = "custom" if family.startswith("custom_attribute") else "user" if not family else "properties"
            return text(values.get(source, {}).get(name)) or default

        pattern = r"\{\{\s*(?:(custom_attribute|api_trigger_properties|trigger_properties)\.)?\$\{(\w+)\}\s*(?:\|\s*default:\s*['\"](.*?)['\"]\s*)?\}\}"
        return re.sub(pattern, replaced, value)

    def trigger_send(self, body: dict) -> Response:
        return self.reply(201, {"dispatch_id": self.dispatch(self.trigger_order(body)), "message": "success"})

    def trigger_order(self, body: dict) -> dict:
        campaign = self.campaigns.get(text(body.get("campaign_id")))
        if campaign is None:
            self.fail(400, "Invalid Campaign ID")
        listed = self.objects(body, "recipients")
        users: list[dict] | None = []
        own: dict[str, dict] = {}
        for entry in listed:
            profile = self.lookup(entry)
            if profile is None and entry.get("send_to_existing_only", True) is False:
                profile = self.profile(text(entry.get("external_user_id")), self.alias(entry.get("user_alias")))
            if profile is not None:
                for name, value in dictionary(entry.get("attributes")).items():
                    self.set_attribute(profile["standard" if name in RESERVED else "custom"], name, value)
                own[profile["braze_id"]] = entry.get("trigger_properties")
                users.append({"braze_id": profile["braze_id"]})
        if not listed:
            users = self.recipients({k: v for k, v in body.items() if k in ("broadcast", "audience")})
        return {
            "users": users, "push": campaign.get("apple_push"), "state": "subscribed", "properties": body.get("trigger_properties"), "own": own,
            "campaign": campaign["campaign_id"], "sendId": text(body.get("send_id")),
        }  # fmt: skip

    # Schedules.

    @staticmethod
    def time_of(value: str) -> int:
        """Milliseconds of an ISO 8601 time, 0 if it is none."""
        try:
            moment = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        except ValueError:
            return 0
        return int((moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp() * 1000)

    def due(self, body: dict) -> int:
        schedule = body.get("schedule") if isinstance(body.get("schedule"), dict) else {}
        due = self.time_of(text(schedule.get("time")))
        if not due:
            self.fail(400, "cannot parse send_at")
        if due <= self.now:
            self.fail(400, "Bad Request")
        return due

    def schedule_create(self, body: dict) -> Response:
        return self.schedule(self.order(body), self.due(body))

    def trigger_schedule_create(self, body: dict) -> Response:
        return self.schedule(self.trigger_order(body), self.due(body))

    def schedule(self, order: dict, due: int) -> Response:
        number, dispatch = self.ids.uuid(), self.ids.hex(32)
        self.schedules[number] = {"schedule_id": number, "order": order, "due": due, "version": 1, "sent": ""}
        self.later(due - self.now, "release", number, 1)
        return self.reply(201, {"dispatch_id": dispatch, "schedule_id": number, "message": "success"})

    def waiting(self, body: dict) -> dict:
        schedule = self.schedules.get(text(body.get("schedule_id")))
        if schedule is None or schedule["sent"]:
            # Assumed: the text for an unknown schedule.
            self.fail(400, "Invalid schedule_id")
        return schedule

    def schedule_update(self, body: dict) -> Response:
        schedule = self.waiting(body)
        due = self.due(body) if "schedule" in body else schedule["due"]
        messages = body.get("messages") if isinstance(body.get("messages"), dict) else {}
        if isinstance(messages.get("apple_push"), dict):
            self.check(messages["apple_push"])
            schedule["order"]["push"] = messages["apple_push"]
        schedule["due"], schedule["version"] = due, schedule["version"] + 1
        self.later(due - self.now, "release", schedule["schedule_id"], schedule["version"])
        return self.reply(201, {"message": "success"})

    def schedule_delete(self, body: dict) -> Response:
        del self.schedules[self.waiting(body)["schedule_id"]]
        return self.reply(201, {"message": "success"})

    def release(self, number: str, version: int) -> None:
        schedule = self.schedules.get(number)
        if schedule is not None and schedule["version"] == version and not schedule["sent"]:
            schedule["sent"] = self.dispatch(schedule["order"])

    def scheduled(self, request: Request) -> Response:
        end = self.time_of(request.item("end_time") or "")
        rows = [
            {"name": s["order"]["campaign"], "id": s["schedule_id"], "type": "Campaign", "next_send_time": self.iso(s["due"])}
            for s in self.schedules.values() if not s["sent"] and s["order"]["users"] is None and (not end or s["due"] <= end)
        ]  # fmt: skip
        return self.reply(200, {"message": "success", "scheduled_broadcasts": rows})

    @staticmethod
    def iso(moment: int) -> str:
        return datetime.fromtimestamp(moment / 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    # Statistics and subscriptions.

    def send_id(self, body: dict) -> Response:
        if text(body.get("campaign_id")) not in self.campaigns:
            self.fail(400, "Invalid Campaign ID")
        number = text(body.get("send_id")) or "send-" + self.ids.uuid()
        self.send_ids.append(number)
        return self.reply(201, {"message": "success", "send_id": number})

    def data_series(self, request: Request) -> Response:
        campaign, send_id, length = request.item("campaign_id"), request.item("send_id"), integer(request.item("length"), 7)
        if campaign not in self.campaigns:
            self.fail(400, "Invalid Campaign ID")
        today, rows = self.now // 86_400_000, []
        for day in range(today - max(1, min(100, length)) + 1, today + 1):
            sent = [m for m in self.messages.values() if m["campaign"] == campaign and m["sendId"] == send_id and m["at"] // 86_400_000 == day]
            targets = [t for m in sent for t in m["targets"]]
            counts = {"variation_name": "Variant 1", "sent": len(targets), "direct_opens": 0, "total_opens": 0, "bounces": 0, "body_clicks": 0}
            people = len({t["user"] for t in targets})
            row = {"time": self.iso(day * 86_400_000)[:10], "messages": {"ios_push": [counts]}, "conversions": 0, "unique_recipients": people, "revenue": 0}
            rows.append(row)
        return self.reply(200, {"message": "success", "data": rows})

    def subscription_set(self, body: dict) -> Response:
        if body.get("email") and body.get("phone"):
            self.fail(400, "Either an email address or a phone number should be provided, but not both.")
        self.subscribe(text(body.get("subscription_group_id")), text(body.get("subscription_state")), body, "external_id")
        return self.reply(201, {"message": "success"})

    def subscription_set_v2(self, body: dict) -> Response:
        for group in self.objects(body, "subscription_groups"):
            self.subscribe(text(group.get("subscription_group_id")), text(group.get("subscription_state")), group, "external_ids")
        return self.reply(201, {"message": "success"})

    def subscribe(self, group: str, state: str, body: dict, ids: str) -> None:
        if not group or state not in ("subscribed", "unsubscribed"):
            # Assumed: the text for a wrong state.
            self.fail(400, "Invalid subscription_state")
        values = {name: [body[name]] if isinstance(body.get(name), str) else body.get(name) or [] for name in (ids, "email", "phone")}
        for entry in self.named(values, {ids: "external_id", "email": "email", "phone": "phone"}):
            profile = self.lookup(entry)
            if profile is not None:
                profile["subscriptions"][group] = state

    def subscription_get(self, request: Request) -> Response:
        group, status = request.item("subscription_group_id") or "", {}
        for name in ("external_id", "email", "phone"):
            value = request.item(name)
            if value:
                profile = self.lookup({name: value})
                status[value] = profile["subscriptions"].get(group, "unknown") if profile else "unknown"
        return self.reply(200, {"status": status, "message": "success"})

    def subscription_user(self, request: Request) -> Response:
        entry = {name: request.item(name) for name in ("external_id", "email", "phone")}
        profile = self.lookup({k: v for k, v in entry.items() if v})
        users = []
        if profile is not None:
            groups = [{"id": group, "status": state} for group, state in profile["subscriptions"].items()]
            users = [{"external_id": profile["external_id"], "subscription_groups": groups}]
        return self.reply(200, {"users": users, "total_count": len(users), "message": "success"})

    # The dashboard.

    def control(self, name: str, body: dict) -> object:
        if name == "campaigns":
            self.campaigns[text(body["campaign_id"])] = {"campaign_id": text(body["campaign_id"]), "apple_push": body.get("apple_push")}
            return {"campaigns": len(self.campaigns)}
        if name == "segments":
            self.segments[text(body["segment_id"])] = [text(user) for user in body["external_ids"]]
            return {"segments": len(self.segments)}
        return None

    def outcome(self, push: Push) -> None:
        if push.state == "rejected" and (push.status == 410 or push.reason in ("BadDeviceToken", "DeviceTokenNotForTopic")):
            self.forget(push.token)

    def snapshot(self) -> dict:
        devices = [t | {"user": p["external_id"] or p["braze_id"]} for p in self.profiles.values() for t in p["tokens"]]
        schedules = [{k: v for k, v in s.items() if k != "order"} for s in self.schedules.values()]
        users = list(self.profiles.values())
        return {"devices": devices, "users": users, "groups": self.segments, "messages": list(self.messages.values()), "schedules": schedules}
