"""The calls of an app and of its back end in the dialect of each vendor, as far as a migration needs them.

They are sent to the gateway's address, as after the change of the address in the app and in the back end.
"""

import base64
import hashlib
import hmac
import json
import re
import time
from datetime import datetime, timedelta, timezone
from urllib.parse import quote

from .calls import Answer, Calls

SEOUL = timezone(timedelta(hours=9))
# Longer than a scene, so that its end comes only when the vendor's clock is moved.
FALLBACK_MINUTES = 100


class Refused(Exception):
    """A call that must succeed was refused."""


class Phone:
    """An installed app: one device of one user. `number` is its place among the phones, and its names are those of `draw` (default: the number)."""

    def __init__(self, number: int, run: str, draw: int | None = None):
        draw = number if draw is None else draw
        digest = hashlib.sha256(f"{run}/{draw}".encode()).hexdigest()
        self.number, self.user, self.run = number, f"user-{draw}", run
        self.device = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}".upper()
        self.key = digest[:32]
        self.phone = f"010{draw:08d}"
        self.refreshes = 0
        self.has_left = False

    @property
    def token(self) -> str:
        """The push token. It changes with each refresh."""
        return hashlib.sha256(f"{self.run}/{self.number}/{self.refreshes}".encode()).hexdigest()


def users(phones: list[Phone]) -> list[str]:
    """The users of the phones, each once."""
    return list(dict.fromkeys(phone.user for phone in phones))


def needs(answer: Answer, condition: bool, what: str) -> Answer:
    if not condition:
        raise Refused(f"{what}: {answer.status} {answer.body[:300]!r}")
    return answer


class Vendor:
    name = ""
    secret = ""
    # Whether the devices report to the vendor's own interface that a push arrived or was read.
    has_receipts = True
    # Whether the only report is that a push was read.
    always_reads = False
    # Whether a send names users, and reaches all of their devices.
    addresses_users = False
    # Whether a send that names several targets names each of them, so that a rollout splits it. Otherwise it is an audience, which the vendor pushes to before 100 %.
    names_each = True
    # Whether the gateway knows the devices of a send that it has proxied. Otherwise the duplicate guard lets a later message through.
    names_observed = True
    # Whether its list of devices has their push tokens.
    exports_tokens = True
    # Whether the vendor charges for a text message to those who do not read a push, if the send requests it.
    has_fallback = False
    # The beginning of the path of each send, also of those that the gateway makes at the vendor.
    send_path = ""

    def __init__(self, run: str):
        self.run = run

    # The provisioning file.

    def stub_settings(self) -> list[str]:
        return []

    def credential(self, url: str) -> str:
        """The upstream as members of YAML."""
        raise NotImplementedError

    def old_key(self, stub: Calls) -> str:
        """The secret `OLD_KEY` of the upstream. `stub` calls the vendor directly."""
        return self.secret

    def binding(self) -> str:
        raise NotImplementedError

    # The back end.

    def enter(self, calls: Calls) -> None:
        """The back end's own registration, before its first send."""

    def send(self, calls: Calls, text: str, phones: list[Phone]) -> Answer | None:
        """Sends once. None: the answer was lost, so that the send may have been accepted."""
        raise NotImplementedError

    def send_with_fallback(self, calls: Calls, text: str, phones: list[Phone]) -> Answer | None:
        """Sends once, and requests a text message that is charged, after `FALLBACK_MINUTES`."""
        raise NotImplementedError

    def is_accepted(self, answer: Answer) -> bool:
        raise NotImplementedError

    # The app.

    def register(self, calls: Calls, phone: Phone) -> None:
        """The first registration, and one with a new token."""
        raise NotImplementedError

    def leave(self, calls: Calls, phone: Phone) -> None:
        """The opt-out that the vendor's interface has: a push switch, a withdrawal, or an unregistration."""
        raise NotImplementedError

    def reference(self, payload: dict) -> str | None:
        """The message's name in a push, with which the app reports."""
        return None

    def report(self, calls: Calls, phone: Phone, reference: str, is_read: bool) -> None:
        """Reports that the push arrived, or was read."""

    def look(self, calls: Calls, phone: Phone) -> None:
        """A call that reads."""

    # The stub's state.

    def reachable(self, state: dict) -> dict[str, str]:
        """The devices to which the vendor would push: their keys and tokens."""
        raise NotImplementedError

    def key(self, phone: Phone) -> str:
        """The phone's key in `reachable`."""
        return phone.device

    def rollout_key(self, phone: Phone) -> str:
        """The key for a migration that does not state `by`: the user where the vendor pushes to all devices of a user, otherwise the device's key in its calls."""
        return self.key(phone)

    def receipt(self, entry: dict) -> tuple[str, str]:
        """The message and the device, or its token, of a receipt that the vendor has."""
        return entry["message"], entry["device"]


class UPMC(Vendor):
    name = "upmc"
    app = "com.example.moving"
    addresses_users = True
    has_fallback = True
    send_path = "/upmc/rcv_register_message"

    def stub_settings(self) -> list[str]:
        return [f"app={self.app}"]

    def credential(self, url: str) -> str:
        return f'kind: upstream-upmc, url: "{url}"'

    def binding(self) -> str:
        return f'upmc: {{ applicationId: {self.app}, version: "5.1", settings: {{ senderNetworks: [127.0.0.1, "::1"] }} }}'

    def post(self, calls: Calls, service: str, fields: dict[str, str], once: bool = False) -> Answer | None:
        body = "&".join(f"{key}={quote(value, safe='')}" for key, value in ({"APP_ID": self.app} | fields).items())
        return calls.call("POST", f"/upmc/{service}.ctl", {"Content-Type": "application/x-www-form-urlencoded"}, body.encode(), once)

    def place(self, phone: Phone) -> dict[str, str]:
        return {"PNSID": "APNS", "PSID": phone.token, "DEVICE_ID": phone.device, "CUID": phone.user}

    def check(self, answer: Answer | None, what: str) -> Answer:
        assert answer is not None
        return needs(answer, answer.json().get("HEADER", {}).get("RESULT_CODE") == "0000", what)

    def register(self, calls: Calls, phone: Phone) -> None:
        about = {"CNAME": phone.user, "PHONENUM": phone.phone, "DEVICE_TYPE": "I", "CBSID": self.app, "APP_VER": "120", "APNS_MODE": "REAL"}
        self.check(self.post(calls, "new_rcv_register_service_and_user", self.place(phone) | about), "registration")

    def leave(self, calls: Calls, phone: Phone) -> None:
        self.check(self.post(calls, "rcv_delete_service", self.place(phone)), "unregistration")

    def fields(self, text: str, phones: list[Phone]) -> dict[str, str]:
        return {
            "TYPE": "E", "CUID": json.dumps(users(phones)), "MESSAGE": json.dumps({"title": "Shop", "body": text}), "PRIORITY": "3",
            "BADGENO": "1", "RESERVEDATE": "", "SERVICECODE": "ALL", "SOUNDFILE": "alert.aif", "EXT": "", "SENDERCODE": "admin", "DB_IN": "Y",
            "TEMPLATE_YN": "N", "SPLIT_MSG_CNT": "0", "DELAY_SECOND": "0", "PUSH_FAIL_SMS_SEND": "N",
        }  # fmt: skip

    def send(self, calls: Calls, text: str, phones: list[Phone]) -> Answer | None:
        return self.post(calls, "rcv_register_message", self.fields(text, phones), once=True)

    def send_with_fallback(self, calls: Calls, text: str, phones: list[Phone]) -> Answer | None:
        fallback = {"PUSH_FAIL_SMS_SEND": "Y", "SMS_READ_WAIT_MINUTE": str(FALLBACK_MINUTES)}
        return self.post(calls, "rcv_register_message", self.fields(text, phones) | fallback, once=True)

    def is_accepted(self, answer: Answer) -> bool:
        return answer.json().get("HEADER", {}).get("RESULT_CODE") in ("0000", "4400")

    def reference(self, payload: dict) -> str | None:
        found = re.search(r'"(?:seqno|SEQNO)"\s*:\s*"?(\d+)', json.dumps(payload))
        return found.group(1) if found else None

    def report(self, calls: Calls, phone: Phone, reference: str, is_read: bool) -> None:
        service = "rcv_register_send_result" if is_read else "rcv_register_sent_ack"
        hour = datetime.now(SEOUL).strftime("%Y%m%d%H")
        fields = self.place(phone) | {"SEQNO": reference, "SENDDATE": hour, "DB_IN": "Y", "SENDERCODE": "admin"} | ({"BADGENO": "-1"} if is_read else {})
        self.check(self.post(calls, service, fields), "receipt")

    def look(self, calls: Calls, phone: Phone) -> None:
        self.check(self.post(calls, "rcv_get_service", self.place(phone)), "reading")

    def reachable(self, state: dict) -> dict[str, str]:
        return {device["device"]: device["psid"] for device in state["devices"]}

    def rollout_key(self, phone: Phone) -> str:
        return f"APNS:{phone.device}"


class IPNS(Vendor):
    name = "ipns"
    send_path = "/ipns/send"
    app = "moving.mobile"
    secret = "key-of-the-back-end"

    def stub_settings(self) -> list[str]:
        return [f"app={self.app}", f"apiKey={self.secret}"]

    def credential(self, url: str) -> str:
        return f'kind: upstream-ipns, url: "{url}", apiKeyEnv: OLD_KEY'

    def binding(self) -> str:
        return f'ipns: {{ appId: {self.app}, settings: {{ senderNetworks: [127.0.0.1, "::1"] }} }}'

    def post(self, calls: Calls, operation: str, fields: dict, headers: dict[str, str] | None = None, once: bool = False) -> Answer | None:
        return calls.json("POST", f"/ipns/{operation}", headers or {}, {"APP_ID": self.app} | fields, once)

    def check(self, answer: Answer | None, what: str) -> Answer:
        assert answer is not None
        return needs(answer, answer.json().get("RT") == "0000", what)

    def register(self, calls: Calls, phone: Phone) -> None:
        fields = {"USER_CN": phone.user, "DEVICE_ID": phone.device, "PUSH_TOKEN": phone.token, "PUSH_TYPE": "ios"}
        self.check(self.post(calls, "appRegist", fields), "registration")

    def leave(self, calls: Calls, phone: Phone) -> None:
        self.check(self.post(calls, "updateConfig", {"DEVICE_ID": phone.device, "PUSH_TOKEN": phone.token, "PUSH_YN": "N"}), "opt-out")

    def send(self, calls: Calls, text: str, phones: list[Phone]) -> Answer | None:
        fields = {
            "PUSH_ID_TYPE": "@00", "PUSH_ID": [phone.device for phone in phones], "TITLE": "Shop", "ALERT": text, "MESSAGE": "{}", "SOUND": "default",
            "PRIORITY": "3", "SEND_TYPE": "I", "RESV_DATE": "", "REPORT_URL": "",
        }  # fmt: skip
        # The vendor checks its own key while sends are proxied, and the gateway takes the network as the proof.
        return self.post(calls, "send", fields, {"Authorization": f"Bearer {self.secret}"}, once=True)

    def is_accepted(self, answer: Answer) -> bool:
        return answer.json().get("RT") in ("0000", "2003")

    def reference(self, payload: dict) -> str | None:
        found = payload.get("msg_id") or payload.get("req_id")
        return str(found) if found else None

    def report(self, calls: Calls, phone: Phone, reference: str, is_read: bool) -> None:
        fields = {"DEVICE_ID": phone.device, "PUSH_TOKEN": phone.token}
        if is_read:
            self.check(self.post(calls, "readReport", fields | {"USER_CN": phone.user, "REQ_ID": reference}), "read receipt")
        else:
            self.check(self.post(calls, "recvReport", fields | {"MSG_ID": reference}), "receipt")

    def look(self, calls: Calls, phone: Phone) -> None:
        fields = {"DEVICE_ID": phone.device, "USER_CN": phone.user, "PUSH_ID_TYPE": "@00", "REQ_ID": "", "REQ_TYPE": "N", "COUNT": 20}
        self.check(self.post(calls, "getMsgs", fields), "reading")

    def reachable(self, state: dict) -> dict[str, str]:
        return {device["id"]: device["token"] for device in state["devices"] if device["enabled"]}


class RationalOwl(Vendor):
    name = "rationalowl"
    always_reads = True
    exports_tokens = False
    send_path = "/msgClient/msgClientSendMsg"
    account = "a1b2c3d4-1111-4222-8333-444455556666"
    service = "0123456789abcdef0123456789abcdef"
    agent = {"User-Agent": "shop/1 CFNetwork/1494.0.7 Darwin/23.4.0"}

    def __init__(self, run: str):
        super().__init__(run)
        self.server = ""

    def stub_settings(self) -> list[str]:
        return [f"account={self.account}", f"service={self.service}"]

    def entered(self, calls: Calls, name: str) -> str:
        """Registers a back end and returns its `rId`."""
        answer = calls.json("POST", "/server/register/", {}, {"serviceId": self.service, "registerName": name, "privateNetwork": 1})
        assert answer is not None
        server = str(needs(answer, "serverRegId" in answer.json(), "registration of the back end").json()["serverRegId"])
        fields = {"cId": 1, "r": 1, "t": 12, "sId": self.service, "rId": server, "aId": self.account, "mcn": name, "ip": "203.0.113.10"}
        answer = calls.json("POST", "/msgClient/register", {}, fields)
        assert answer is not None
        needs(answer, answer.json().get("rc") in (1, -102), "registration of the client")
        return server

    def credential(self, url: str) -> str:
        # The gateway sends as a back end of its own.
        return f'kind: upstream-rationalowl, url: "{url}", serverRegIdEnv: OLD_KEY'

    def old_key(self, stub: Calls) -> str:
        return self.entered(stub, "push gateway")

    def binding(self) -> str:
        return f'rationalowl: {{ accountId: {self.account}, serviceId: {self.service}, settings: {{ senderNetworks: [127.0.0.1, "::1"] }} }}'

    def enter(self, calls: Calls) -> None:
        self.server = self.entered(calls, "shop backend")

    def device(self, calls: Calls, name: str, number: int, **fields) -> Answer:
        answer = calls.json("POST", f"/pushApp/{name}", self.agent, {"cId": number, "aId": self.account} | fields)
        assert answer is not None
        return answer

    def register(self, calls: Calls, phone: Phone) -> None:
        fields = {"dt": 2, "dRId": phone.key, "pn": phone.phone, "auId": phone.user, "n": phone.user, "tk": phone.token, "env": "prod"}
        answer = self.device(calls, "installApp", 303, **fields)
        needs(answer, answer.json().get("rc") in (1, -102), "registration")

    def leave(self, calls: Calls, phone: Phone) -> None:
        answer = self.device(calls, "unregUser", 305, dRId=phone.key, pn=phone.phone)
        needs(answer, answer.json().get("rc") == 1, "unregistration")

    def send(self, calls: Calls, text: str, phones: list[Phone]) -> Answer | None:
        fields = {"rId": self.server, "aId": self.account, "ip": "203.0.113.10", "msg": {"title": "Shop", "body": text}}
        fields["dest"] = {"t": 2, "tg": [{"dId": phone.key} for phone in phones]}
        return calls.json("POST", "/msgClient/msgClientSendMsgByDeviceId", {}, fields, once=True)

    def is_accepted(self, answer: Answer) -> bool:
        return bool(answer.json().get("mId"))

    def reference(self, payload: dict) -> str | None:
        return payload.get("mId")

    def report(self, calls: Calls, phone: Phone, reference: str, is_read: bool) -> None:
        # Deliveries are reported by the vendor's TCP protocol, which no proxy sees; the app reports that a message was read.
        answer = self.device(calls, "notiRead", 311, dRId=phone.key, mId=reference)
        needs(answer, answer.status == 200 and answer.body.strip() == b"ok", "receipt")

    def look(self, calls: Calls, phone: Phone) -> None:
        answer = self.device(calls, "msgInfo", 312, dRId=phone.key, mId="11111111-2222-4333-8444-555555555555")
        needs(answer, answer.status == 200, "reading")

    def reachable(self, state: dict) -> dict[str, str]:
        return {device["dRId"]: device["token"] for device in state["devices"] if device["state"] == "active" and device["token"]}

    def key(self, phone: Phone) -> str:
        return phone.key


class Braze(Vendor):
    name = "braze"
    addresses_users = True
    send_path = "/messages/send"
    # Opened pushes are reported by the vendor's SDK, whose calls the stub does not have.
    has_receipts = False
    secret = "00000000-aaaa-4bbb-8ccc-dddddddddddd"
    ios = "11111111-2222-4333-8444-555555555555"

    def stub_settings(self) -> list[str]:
        return [f"restKey={self.secret}", f"iosApp={self.ios}"]

    def credential(self, url: str) -> str:
        return f'kind: upstream-braze, url: "{url}", restKeyEnv: OLD_KEY'

    def binding(self) -> str:
        return f"braze: {{ sdkKey: {self.ios}, restKeyEnv: OLD_KEY }}"

    def post(self, calls: Calls, path: str, fields: dict, once: bool = False) -> Answer | None:
        return calls.json("POST", path, {"Authorization": f"Bearer {self.secret}"}, fields, once)

    def track(self, calls: Calls, attributes: dict, what: str) -> None:
        answer = self.post(calls, "/users/track", {"attributes": [attributes]})
        assert answer is not None
        needs(answer, answer.status == 201, what)

    def register(self, calls: Calls, phone: Phone) -> None:
        tokens = [{"app_id": self.ios, "token": phone.token, "device_id": phone.device}]
        self.track(calls, {"external_id": phone.user, "push_tokens": tokens}, "registration")

    def leave(self, calls: Calls, phone: Phone) -> None:
        self.track(calls, {"external_id": phone.user, "push_subscribe": "unsubscribed"}, "opt-out")

    def send(self, calls: Calls, text: str, phones: list[Phone]) -> Answer | None:
        fields = {"external_user_ids": users(phones), "messages": {"apple_push": {"alert": {"title": "Shop", "body": text}}}}
        return self.post(calls, "/messages/send", fields, once=True)

    def is_accepted(self, answer: Answer) -> bool:
        return answer.status == 201

    def look(self, calls: Calls, phone: Phone) -> None:
        answer = self.post(calls, "/users/export/ids", {"external_ids": [phone.user], "fields_to_export": ["external_id"]})
        assert answer is not None
        needs(answer, answer.status in (200, 201), "reading")

    def reachable(self, state: dict) -> dict[str, str]:
        gone = {user["external_id"] for user in state["users"] if user["standard"].get("push_subscribe") == "unsubscribed"}
        return {device["device_id"]: device["token"] for device in state["devices"] if device["user"] not in gone}

    def rollout_key(self, phone: Phone) -> str:
        return phone.user


class NotificationHubs(Vendor):
    name = "notificationhubs"
    # The service has no receipts.
    has_receipts = False
    # Several installations are an expression of tags.
    names_each = False
    # So is one: the message is observed without devices (docs/routing.md#cross-vendor-duplicates).
    names_observed = False
    hub = "moving-hub"
    send_path = f"/{hub}/messages"
    rule = "DefaultFullSharedAccessSignature"
    secret = "ZmFrZS1rZXktZm9yLXRlc3RzLW9ubHktMDEyMzQ1Njc="

    def stub_settings(self) -> list[str]:
        return [f"hub={self.hub}", f"fullName={self.rule}", f"fullKey={self.secret}"]

    def credential(self, url: str) -> str:
        return f'kind: upstream-notificationhubs, url: "{url}", hub: {self.hub}, keyName: {self.rule}, keyEnv: OLD_KEY'

    def binding(self) -> str:
        return f"notificationhubs: {{ hub: {self.hub}, keys: [{{ name: {self.rule}, valueEnv: OLD_KEY, rights: [listen, send, manage] }}] }}"

    def signed(self, calls: Calls) -> str:
        resource = quote(f"http://{calls.host}/{self.hub}/".lower(), safe="").lower()
        expiry = int(time.time()) + 1200
        signature = base64.b64encode(hmac.new(self.secret.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()).decode()
        return f"SharedAccessSignature sr={resource}&sig={quote(signature, safe='')}&se={expiry}&skn={self.rule}"

    def hub_call(self, calls: Calls, method: str, path: str, body: dict | str | None, headers: dict | None = None, once: bool = False) -> Answer | None:
        own = {"Authorization": self.signed(calls)} | (headers or {})
        target = f"/{self.hub}/{path}?api-version=2020-06"
        if isinstance(body, dict):
            return calls.json(method, target, own, body, once)
        return calls.call(method, target, own, (body or "").encode(), once)

    def register(self, calls: Calls, phone: Phone) -> None:
        value = {"installationId": phone.device.lower(), "platform": "apns", "pushChannel": phone.token, "userId": phone.user, "tags": ["seoul"]}
        answer = self.hub_call(calls, "PUT", f"installations/{phone.device.lower()}", value)
        assert answer is not None
        needs(answer, answer.status == 200, "installation")

    def leave(self, calls: Calls, phone: Phone) -> None:
        answer = self.hub_call(calls, "DELETE", f"installations/{phone.device.lower()}", None)
        assert answer is not None
        needs(answer, answer.status == 204, "deletion")

    def send(self, calls: Calls, text: str, phones: list[Phone]) -> Answer | None:
        tags = " || ".join(f"$InstallationId:{{{phone.device.lower()}}}" for phone in phones)
        headers = {"ServiceBusNotification-Format": "apple", "Content-Type": "application/json;charset=utf-8", "ServiceBusNotification-Tags": tags}
        body = json.dumps({"aps": {"alert": {"title": "Shop", "body": text}}})
        return self.hub_call(calls, "POST", "messages/", body, headers, once=True)

    def is_accepted(self, answer: Answer) -> bool:
        return answer.status == 201

    def look(self, calls: Calls, phone: Phone) -> None:
        answer = self.hub_call(calls, "GET", f"installations/{phone.device.lower()}", None)
        assert answer is not None
        needs(answer, answer.status in (200, 404), "reading")

    def reachable(self, state: dict) -> dict[str, str]:
        return {device["device"]: device["token"].lower() for device in state["devices"]}

    def key(self, phone: Phone) -> str:
        return phone.device.lower()


VENDORS = {vendor.name: vendor for vendor in (UPMC, IPNS, RationalOwl, Braze, NotificationHubs)}
