"""Stub of RationalOwl and RationalUMS: the device REST API, the send REST API, the core REST API, and tracking callbacks.

Contract: docs/contracts/rationalowl.md. The closed TCP protocol between the device SDK and the vendor's gate is replaced by control calls
(`POST /_stub/gate/…`): registration, tokens and delivery receipts travel there. Where the contract marks an error's text or code as assumed, the stub assumes the same.
"""

import base64
import json
import re
from datetime import datetime

from .apns import Push
from .http1 import Request, Response
from .stub import SEOUL, Refusal, Stub, dumps, form, integer, json_response, loads, text

OK_COMMENT = "정상처리"
NO_ACCOUNT = "등록되지 않은 계정입니다."
UNREADABLE = "요청 형식이 올바르지 않습니다."
FIELD_MISSING = "필수 항목이 없거나 잘못되었습니다: "

# The name of a call → its command ID.
DEVICE_CALLS = {
    "installApp": 303, "unregUser": 305, "reqAuthNumber": 301, "verifyAuthNumber": 302, "notiRead": 311, "msgInfo": 312, "imgData": 313,
}  # fmt: skip
MAX_TARGETS = 2000
MAX_BODY_BYTES_CP949 = 2000


class RationalOwlStub(Stub):
    SETTINGS = {
        "account": ("a1b2c3d4-1111-4222-8333-444455556666", "aId of the only account"),
        "service": ("0123456789abcdef0123456789abcdef", "id of the only service"),
        "server": ("SVR11111111-2222-4333-8444-555555555555", "usRid: the ID of the UMS server in the account"),
        "channel": ("gw.example.com:8006", "channelServer that /server/register/ returns"),
        "alreadyCode": (-102, "rc of installApp for a device that is registered: -102, -301, -202 or 1"),
        "authNumber": ("1111", "the verification number of every reqAuthNumber; empty: none can be sent"),
        "senders": ("0212345678", "approved sending numbers, separated by commas"),
        "templates": ("", 'message templates as JSON: {"ID":"text with #{name}"}'),
        "waitPushMilliseconds": (60_000, "time without receipt until the fallback message is sent and paid"),
        "waitAlimtalkMilliseconds": (120_000, "time until an Alimtalk is delivered or fails"),
        "alimtalkFails": (False, "every Alimtalk fails, so that the second step follows"),
        "callbackMilliseconds": (1000, "time that changes wait for the tracking callback"),
        "takesTokens": (True, "Assumed: tk and env of installApp are kept; the vendor itself gets tokens by its gate only"),
    }

    def __init__(self, settings: dict, seed: str):
        super().__init__(settings, seed)
        self.devices: dict[str, dict] = {}
        self.auth: dict[str, dict] = {}
        self.servers: dict[str, dict] = {}
        self.clients: dict[str, dict] = {}
        self.groups: dict[str, dict] = {}
        self.messages: dict[str, dict] = {}
        self.images: dict[str, dict] = {}
        self.changed: dict[str, list[list]] = {}

    # Answers.

    def too_many(self, retry_after: int) -> Response:
        return json_response(429, {"rc": -1, "cmt": "요청이 너무 많습니다."}, ("Retry-After", str(retry_after)))

    def fail(self, status: int, code: int, comment: str):
        raise Refusal(json_response(status, {"rc": code, "cmt": comment}))

    def refuse(self, message: str):
        """The failure of the core API: human text without a code."""
        raise Refusal(json_response(200, {"error": message}))

    # Requests.

    def carry_out(self, request: Request) -> Response:
        parts = [part for part in request.path.split("/") if part]
        family, name = (parts[0], parts[1]) if len(parts) == 2 else ("", "")
        call = self.CALLS.get((family, name))
        if call is None:
            self.fail(404, -1, "알 수 없는 경로입니다.")
        if request.method != "POST":
            self.fail(405, -1, "POST만 사용할 수 있습니다.")
        if len(request.body) > (64 * 1024 if family == "pushApp" else 10 * 1024 * 1024):
            self.fail(413, -1, "요청이 너무 큽니다.")
        fields = self.fields(request)
        if family == "pushApp":
            return self.device_call(name, fields, request)
        if fields is None:
            self.fail(400, -1, UNREADABLE)
        if family != "msgClient" and text(fields.get("serviceId")) != self["service"]:
            self.refuse("service id is not registered")
        return getattr(self, call)(fields)

    @staticmethod
    def fields(request: Request) -> dict | None:
        body = loads(request.body)
        if isinstance(body, dict):
            return body
        kind = request.header("content-type") or ""
        return dict(form(request.body, kind)) if "form" in kind and request.body else None

    # Device REST API.

    def device_call(self, name: str, fields: dict | None, request: Request) -> Response:
        number = DEVICE_CALLS[name]
        if fields is None:
            if name == "notiRead":
                return Response(400, [("Content-Type", "text/plain; charset=utf-8")], b"error")
            return json_response(400, self.failed(name, number, {}, -1, UNREADABLE))
        if name == "notiRead":
            return self.noti_read(fields)
        if text(fields.get("aId")) != self["account"]:
            return json_response(200, self.failed(name, number, fields, -201, NO_ACCOUNT, request))
        try:
            return json_response(200, getattr(self, self.CALLS[("pushApp", name)])(number, fields, request))
        except DeviceRefusal as refusal:
            return json_response(200, self.failed(name, number, fields, refusal.code, refusal.comment, request))

    def failed(self, name: str, number: int, fields: dict, code: int, comment: str, request: Request | None = None) -> dict:
        """The failure of a device call: every key of its answer, so that strict decoders reach `rc`."""
        answer: dict = {"cId": number, "aId": text(fields.get("aId"))}
        if name == "unregUser":
            answer |= {key: text(fields[key]) for key in ("dRId", "pn") if key in fields} or {"dRId": ""}
        answer |= {"rc": code, "cmt": comment}
        if name == "installApp":
            answer["usRid"] = ""
        elif name == "msgInfo":
            answer |= {"mId": text(fields.get("mId"))} | self.fallback_state(fields, request, None)
        elif name == "imgData":
            answer["imgD"] = ""
        elif name == "verifyAuthNumber" and self.platform(fields, request) != 1:
            answer["c"] = comment
        return answer

    def platform(self, fields: dict, request: Request | None) -> int:
        """1 Android, 2 iOS, 0 unknown: the stored one, else `dt`, else the User-Agent."""
        device = self.devices.get(text(fields.get("dRId")))
        if device is not None:
            return device["dt"]
        if integer(fields.get("dt")) in (1, 2):
            return integer(fields["dt"])
        agent = (request.header("user-agent") or "") if request else ""
        if agent.startswith("okhttp/"):
            return 1
        return 2 if re.search("CFNetwork|Alamofire|Darwin", agent) else 0

    @staticmethod
    def phone(value) -> str:
        digits = re.sub(r"\D", "", text(value))
        return "0" + digits[2:] if digits.startswith("821") else digits

    def install(self, number: int, fields: dict, request: Request) -> dict:
        key, kind = text(fields.get("dRId")), integer(fields.get("dt"), -1) if "dt" in fields else self.platform(fields, request)
        if not key:
            raise DeviceRefusal(-1, FIELD_MISSING + "dRId")
        if kind not in (1, 2):
            raise DeviceRefusal(-1, FIELD_MISSING + "dt")
        old = self.devices.get(key)
        was_active = old is not None and old["state"] == "active"
        device = old or self.new_device(key)
        device["dt"], device["state"] = kind, "active"
        for name, value in (("pn", self.phone(fields.get("pn"))), ("auId", text(fields.get("auId"))), ("n", text(fields.get("n")))):
            device[name] = value or device[name]
        if self["takesTokens"] and text(fields.get("tk")):
            self.set_token(device, text(fields["tk"]), text(fields.get("env")))
        for other in self.devices.values():
            if device["pn"] and other is not device and other["pn"] == device["pn"] and other["state"] == "active":
                other["state"] = "replaced"
        code, comment = (self["alreadyCode"], "이미 등록된 단말입니다.") if was_active else (1, OK_COMMENT)
        return {"cId": number, "aId": self["account"], "rc": code, "cmt": comment, "usRid": self["server"]}

    def new_device(self, key: str) -> dict:
        device = {"dRId": key, "dt": 2, "pn": "", "auId": "", "n": "", "token": "", "env": "", "state": "gate"}
        self.devices[key] = device
        return device

    def set_token(self, device: dict, token: str, env: str) -> None:
        token = token.lower()
        for other in self.devices.values():
            if other is not device and other["token"] == token:
                other["token"] = ""
        device["token"], device["env"] = token, env or device["env"]

    def unregister(self, number: int, fields: dict, request: Request) -> dict:
        if not text(fields.get("dRId")) and not text(fields.get("pn")):
            # Assumed: the comment names the newer key.
            raise DeviceRefusal(-1, "필수 항목이 없습니다: dRId")
        for device in self.devices.values():
            if device["dRId"] == text(fields.get("dRId")) or "dRId" not in fields and device["pn"] == self.phone(fields.get("pn")):
                device["state"], device["token"] = "unregistered", ""
        names = {key: text(fields[key]) for key in ("dRId", "pn") if key in fields}
        return {"cId": number, "aId": self["account"]} | names | {"rc": 1, "cmt": OK_COMMENT}

    def request_auth(self, number: int, fields: dict, request: Request) -> dict:
        phone = self.phone(fields.get("pn"))
        if not 8 <= len(phone) <= 15:
            raise DeviceRefusal(-1, FIELD_MISSING + "pn")
        sent = [at for at in self.auth.get(phone, {}).get("sent", []) if at > self.now - 3600 * 1000]
        if not self["authNumber"] or len(sent) >= 5 or sent and self.now - sent[-1] < 30_000:
            raise DeviceRefusal(-1, "인증번호를 발송하지 못했습니다.")
        self.auth[phone] = {"sent": sent + [self.now], "tries": 0}
        self.pay("", phone, "sms")
        return {"cId": number, "aId": self["account"], "rc": 1, "cmt": OK_COMMENT}

    def verify_auth(self, number: int, fields: dict, request: Request) -> dict:
        entry = self.auth.get(self.phone(fields.get("pn")))
        is_open = entry is not None and self.now - entry["sent"][-1] <= 180_000 and entry["tries"] < 5
        if entry is not None:
            entry["tries"] += 1
        if not is_open or text(fields.get("an")) != self["authNumber"]:
            raise DeviceRefusal(-1, "인증번호가 일치하지 않습니다.")
        answer = {"cId": number, "aId": self["account"], "rc": 1}
        return answer if self.platform(fields, request) == 1 else answer | {"cmt": OK_COMMENT, "c": OK_COMMENT}

    def noti_read(self, fields: dict) -> Response:
        device, message = self.devices.get(text(fields.get("dRId"))), self.messages.get(text(fields.get("mId")))
        target = self.target_of(message, device)
        if self.receive("read", text(fields.get("mId")), text(fields.get("dRId"))) and target:
            target["nt"] = target["nt"] or self.now
            if not target["rt"]:
                target["rt"] = self.now
                self.change(message, target)
        return Response(200, [("Content-Type", "text/plain; charset=utf-8")], b"ok")

    @staticmethod
    def target_of(message: dict | None, device: dict | None) -> dict | None:
        if message is None or device is None:
            return None
        by_device = next((t for t in message["targets"] if t["dRId"] == device["dRId"]), None)
        return by_device or next((t for t in message["targets"] if device["pn"] and t["pn"] == device["pn"]), None)

    def message_info(self, number: int, fields: dict, request: Request) -> dict:
        message = self.messages.get(text(fields.get("mId")))
        target = self.target_of(message, self.devices.get(text(fields.get("dRId"))))
        if target is None:
            raise DeviceRefusal(-1, "메시지를 찾을 수 없습니다.")
        answer = {"cId": number, "aId": self["account"], "rc": 1, "cmt": OK_COMMENT, "mId": message["mId"]}
        return answer | self.fallback_state(fields, request, target)

    def fallback_state(self, fields: dict, request: Request | None, target: dict | None) -> dict:
        alimtalk, words = (target or {}).get("a") or {}, (target or {}).get("m") or {}
        is_legacy, platform = "pn" in fields or "r" in fields, self.platform(fields, request)
        names = ("as", "ase") if platform != 1 else ("as",) if is_legacy else ("ase",)
        states = {name: alimtalk.get("s", 0) for name in names}
        return {"ast": alimtalk.get("st", 0)} | states | {"mst": words.get("st", 0), "mt": words.get("t", 0), "ms": words.get("s", 0)}

    def image_data(self, number: int, fields: dict, request: Request) -> dict:
        image = self.images.get(text(fields.get("iId")))
        if image is None or image["mId"] != text(fields.get("mId")):
            raise DeviceRefusal(-1, "이미지를 찾을 수 없습니다.")
        return {"cId": number, "aId": self["account"], "rc": 1, "cmt": OK_COMMENT, "imgD": image["data"]}

    # Send REST API.

    def error(self, code: int, comment: str, message: str):
        raise Refusal(json_response(200, {"rc": code, "cmt": comment, "error": message}))

    def client_register(self, fields: dict) -> Response:
        if text(fields.get("aId")) != self["account"]:
            self.fail(200, -201, NO_ACCOUNT)
        server = text(fields.get("rId"))
        if server not in self.servers:
            self.fail(200, -1, FIELD_MISSING + "rId")
        if server in self.clients:
            return json_response(200, {"rc": -102, "srId": self.clients[server]["srId"], "cmt": "이미 등록된 발신 클라이언트입니다."})
        self.clients[server] = {"rId": server, "srId": self.ids.hex(32), "name": text(fields.get("mcn")), "ip": text(fields.get("ip")), "url": ""}
        return json_response(200, {"rc": 1, "srId": self.clients[server]["srId"], "cmt": OK_COMMENT})

    def client(self, fields: dict) -> dict:
        if text(fields.get("aId")) != self["account"]:
            self.error(-201, NO_ACCOUNT, "account not registered")
        client = self.clients.get(text(fields.get("rId")))
        if client is None:
            self.error(-101, "메시지 발신 클라이언트가 등록되지 않았습니다.", "message client not registered")
        return client

    def set_callback(self, fields: dict) -> Response:
        if text(fields.get("aId")) != self["account"]:
            self.fail(200, -201, NO_ACCOUNT)
        client = self.clients.get(text(fields.get("rId")))
        if client is None:
            self.fail(200, -101, "메시지 발신 클라이언트가 등록되지 않았습니다.")
        url = text(fields.get("url"))
        if url and not re.match(r"https?://[^/]+", url):
            self.fail(200, -1, "url")
        client["url"] = url
        return json_response(200, {"rc": 1})

    def send_by_phone(self, fields: dict) -> Response:
        return self.send(fields, "pn")

    def send_by_device(self, fields: dict) -> Response:
        return self.send(fields, "dId")

    def send(self, fields: dict, key: str) -> Response:
        client = self.client(fields)
        given = {name: fields.get(name) if isinstance(fields.get(name), dict) else {} for name in ("msg", "dest", "img", "rv", "a")}
        targets = self.targets(given["dest"], key)
        fallback = self.fallback(given["a"])
        due = self.reserved_at(given["rv"])
        title, template = text(given["msg"].get("title")), text(given["msg"].get("tId"))
        body = text(given["msg"].get("body"))
        if template:
            body = self.from_template(template, given["msg"].get("tArgv"))
        if not body or len(body.encode("cp949", "replace")) > MAX_BODY_BYTES_CP949:
            self.error(-1, FIELD_MISSING + "msg.body", "body")
        message = {
            "mId": self.ids.uuid(), "client": client["rId"], "by": key, "title": title, "body": body, "type": text(given["msg"].get("type"), "1"),
            "iId": "", "at": 0, "fallback": fallback, "targets": targets, "isCustom": False,
        }  # fmt: skip
        self.keep_image(message, given["img"])
        self.messages[message["mId"]] = message
        if due > self.now:
            self.later(due - self.now, "deliver", message["mId"])
        else:
            self.deliver(message["mId"])
        return json_response(200, {"mId": message["mId"]})

    def targets(self, dest: dict, key: str) -> list[dict]:
        kind, listed = integer(dest.get("t")), dest.get("tg")
        if kind == 1:
            return [self.target(d["pn"], d["dRId"], d["n"]) for d in self.devices.values() if d["state"] == "active"]
        if kind != 2 or not isinstance(listed, list) or not 0 < len(listed) <= MAX_TARGETS:
            self.error(-1, FIELD_MISSING + "dest", "dest")
        found: dict[str, dict] = {}
        for entry in listed:
            value = text(entry.get(key)) if isinstance(entry, dict) else ""
            value = self.phone(value) if key == "pn" else value
            if not value or key == "pn" and not 8 <= len(value) <= 15:
                self.error(-1, FIELD_MISSING + key, key)
            if key == "pn":
                device = next((d for d in self.devices.values() if d["pn"] == value and d["state"] == "active"), None)
                found.setdefault(value, self.target(value, device["dRId"] if device else "", text(entry.get("un"))))
            else:
                device = self.devices.get(value)
                is_there = device is not None and device["state"] in ("active", "gate")
                found.setdefault(value, self.target(device["pn"] if device else "", value if is_there else "", text(entry.get("un")), value))
        return list(found.values())

    @staticmethod
    def target(phone: str, device: str, name: str, named: str = "") -> dict:
        """`nt`, `rt`: delivered and read; `a`, `m`: Alimtalk and text."""
        return {"pn": phone, "dRId": device, "named": named or device, "un": name, "s": 1, "st": 0, "nt": 0, "rt": 0, "a": None, "m": None, "push": 0}

    def fallback(self, wish: dict) -> dict | None:
        if integer(wish.get("s")) != 2:
            return None
        kind, sender = integer(wish.get("t")), re.sub(r"\D", "", text(wish.get("sp")))
        if kind not in (11, 12) or sender not in self["senders"].split(","):
            self.error(-1, FIELD_MISSING + "a.sp", "sending number")
        if kind == 11 and (not text(wish.get("atId")) or not text(wish.get("kcId"))):
            self.error(-1, FIELD_MISSING + "a.atId", "Alimtalk template")
        return {"t": kind, "thenText": kind == 12 or integer(wish.get("atm")) == 2}

    def reserved_at(self, wish: dict) -> int:
        if integer(wish.get("t"), 1) != 2:
            return self.now
        found = re.fullmatch(r"(\d{4})/(\d{1,2})/(\d{1,2}) (\d{1,2}):(\d{1,2}):(\d{1,2})", text(wish.get("st")))
        try:
            due = int(datetime(*map(int, found.groups()), tzinfo=SEOUL).timestamp() * 1000) if found else 0
        except ValueError:
            due = 0
        if due <= self.now:
            self.error(-1, FIELD_MISSING + "rv.st", "reservation time")
        return due

    def from_template(self, name: str, arguments) -> str:
        template = (loads(self["templates"] or "{}") or {}).get(name)
        if template is None:
            self.error(-251, "템플릿이 없습니다.", "template does not exist")
        if isinstance(arguments, dict):
            return re.sub(r"#\{(.*?)\}", lambda m: text(arguments.get(m.group(1))), template)
        values = [text(v) for v in arguments] if isinstance(arguments, list) else []
        order = list(dict.fromkeys(re.findall(r"#\{(.*?)\}", template)))
        return re.sub(r"#\{(.*?)\}", lambda m: values[order.index(m.group(1))] if order.index(m.group(1)) < len(values) else "", template)

    def keep_image(self, message: dict, image: dict) -> None:
        data = text(image.get("imgD"))
        if not data:
            return
        try:
            base64.b64decode(data, validate=True)
        except ValueError:
            self.error(-1, FIELD_MISSING + "img.imgD", "image")
        message["iId"] = self.ids.hex(32)
        self.images[message["iId"]] = {"iId": message["iId"], "mId": message["mId"], "data": data}

    def deliver(self, number: str) -> None:
        message = self.messages[number]
        message["at"] = self.now
        for index, target in enumerate(message["targets"]):
            device = self.devices.get(target["dRId"])
            target["st"] = self.now
            if device is None or not device["token"]:
                target["s"] = 6
                self.fall_back(message, index)
            else:
                target["s"] = 2
                self.push_to(message, target, device)
                if message["fallback"]:
                    self.later(self["waitPushMilliseconds"], "not_received", number, index)
            self.change(message, target)

    def push_to(self, message: dict, target: dict, device: dict) -> None:
        """Assumed: the payload, because no public document shows the one that the vendor sends."""
        title, body, sent = message["title"], message["body"], str(message["at"])
        alert = {"title": title, "body": body} if title else {"body": body}
        payload = {"aps": {"alert": alert, "sound": "default", "mutable-content": 1}, "mId": message["mId"], "type": message["type"]}
        payload |= {"title": title, "body": body, "st": sent}
        if message["iId"]:
            payload["ii"] = message["iId"]
        payload |= {"notiTitle": title, "notiBody": body}
        if len(dumps(payload)) > 4096:
            payload["aps"]["alert"]["body"], payload["notiBody"] = body[:100], body[:100]
        push = self.push(message["mId"], device["auId"] or device["pn"], device["dRId"], device["token"], payload, {"apns-collapse-id": message["mId"]})
        target["push"] = push.number

    # Fallback messages, which the customer pays.

    def not_received(self, number: str, index: int) -> None:
        target = self.messages[number]["targets"][index]
        if not target["nt"] and not target["a"] and not target["m"]:
            target["s"] = 5
            self.fall_back(self.messages[number], index)
            self.change(self.messages[number], target)

    def fall_back(self, message: dict, index: int) -> None:
        wish, target = message["fallback"], message["targets"][index]
        if not wish or not target["pn"] or target["a"] or target["m"]:
            return
        if wish["t"] == 11:
            target["a"] = {"s": 1, "st": self.now}
            self.pay(message["mId"], target["pn"], "alimtalk")
            self.later(self["waitAlimtalkMilliseconds"] if self["alimtalkFails"] else 0, "alimtalk_ends", message["mId"], index)
        else:
            self.send_text(message, index)

    def alimtalk_ends(self, number: str, index: int) -> None:
        message = self.messages[number]
        target = message["targets"][index]
        target["a"]["s"] = 3 if self["alimtalkFails"] else 2
        if self["alimtalkFails"] and message["fallback"]["thenText"]:
            self.send_text(message, index)
        self.change(message, target)

    def send_text(self, message: dict, index: int) -> None:
        is_long = message["title"] or len(message["body"].encode("cp949", "replace")) > 90
        kind = 14 if message["iId"] else 13 if is_long else 12
        message["targets"][index]["m"] = {"t": kind, "s": 2, "st": self.now}
        self.pay(message["mId"], message["targets"][index]["pn"], {12: "sms", 13: "lms", 14: "mms"}[kind])

    # Tracking callbacks.

    def change(self, message: dict, target: dict) -> None:
        if target["rt"]:
            target["s"] = 4
        elif target["nt"]:
            target["s"] = 3
        client = self.clients.get(message["client"])
        if client is None or not client["url"]:
            return
        waiting = self.changed.setdefault(client["rId"], [])
        if not waiting:
            self.later(self["callbackMilliseconds"], "report", client["rId"])
        entry = [message["mId"], message["targets"].index(target)]
        if entry not in waiting[-100:]:
            waiting.append(entry)

    def report(self, server: str) -> None:
        # The client may have been unregistered, or its address removed.
        waiting, url = self.changed.pop(server, []), self.clients.get(server, {}).get("url")
        by_message: dict[str, list] = {}
        for number, index in waiting:
            message = self.messages[number]
            by_message.setdefault(number, []).append(self.reported(message, message["targets"][index]))
        if url and by_message:
            self.callback(url, dumps([{"mId": number, "ds": entries} for number, entries in by_message.items()]))

    @staticmethod
    def reported(message: dict, target: dict) -> dict:
        entry: dict = {"pn": target["pn"]} if message["by"] == "pn" and target["pn"] else {"dId": target["named"]}
        entry["p"] = {"s": target["s"], "st": target["st"]} | {key: target[key] for key in ("nt", "rt") if target[key]}
        if target["a"]:
            entry["a"] = target["a"]
        if target["m"]:
            entry["m"] = target["m"]
        return entry

    def outcome(self, push: Push) -> None:
        device = self.devices.get(push.device)
        if push.state != "rejected" or device is None or device["token"] != push.token:
            return
        if push.status == 410 or push.reason == "BadDeviceToken":
            device["token"] = ""
            message = self.messages.get(push.message)
            index = next((i for i, t in enumerate(message["targets"]) if t["push"] == push.number), None) if message else None
            if index is not None:
                self.later(0, "not_received", push.message, index)

    # Core REST API.

    def server_register(self, fields: dict) -> Response:
        name = text(fields.get("registerName"))
        if not name:
            self.refuse("registerName is missing")
        known = next((s for s in self.servers.values() if s["name"] == name), None)
        if known is None:
            # The first server of a fresh account is the account's own, which the contract's examples show.
            known = {"id": self["server"] if not self.servers else "SVR" + self.ids.uuid(), "name": name}
            self.servers[known["id"]] = known
        return json_response(200, {"serverRegId": known["id"], "channelServer": self["channel"]})

    def check_server(self, fields: dict) -> None:
        if text(fields.get("serverRegId")) not in ("", *self.servers):
            self.refuse("server is not registered")

    def server_unregister(self, fields: dict) -> Response:
        self.check_server(fields)
        self.servers.pop(text(fields.get("serverRegId")), None)
        self.clients.pop(text(fields.get("serverRegId")), None)
        return json_response(200, {})

    def listed(self, fields: dict, key: str, limit: int = MAX_TARGETS) -> list[str]:
        values = fields.get(key)
        if not isinstance(values, list) or len(values) > limit:
            self.refuse(f"{key} is missing or too long")
        return [text(v) for v in values]

    def group(self, fields: dict) -> dict:
        group = self.groups.get(text(fields.get("groupId")))
        if group is None:
            self.refuse("group does not exist")
        return group

    def group_create(self, fields: dict) -> Response:
        self.check_server(fields)
        members = self.listed(fields, "deviceList")
        known = [m for m in dict.fromkeys(members) if m in self.devices]
        group = {"groupId": self.ids.hex(32), "name": text(fields.get("groupName")), "description": text(fields.get("description")), "members": known}
        self.groups[group["groupId"]] = group
        return json_response(200, {"groupId": group["groupId"], "deviceSize": len(known), "failedDevice": [m for m in members if m not in known]})

    def group_add(self, fields: dict) -> Response:
        self.check_server(fields)
        group, added, failed = self.group(fields), 0, []
        for member in self.listed(fields, "deviceList"):
            if member in group["members"] or member not in self.devices:
                failed.append(member)
            else:
                group["members"].append(member)
                added += 1
        return self.group_size(group, "addedDeviceSize", added, failed)

    def group_subtract(self, fields: dict) -> Response:
        self.check_server(fields)
        group, removed, failed = self.group(fields), 0, []
        for member in self.listed(fields, "deviceList"):
            if member in group["members"]:
                group["members"].remove(member)
                removed += 1
            else:
                failed.append(member)
        return self.group_size(group, "removedDeviceSize", removed, failed)

    @staticmethod
    def group_size(group: dict, name: str, count: int, failed: list[str]) -> Response:
        size = len(group["members"])
        return json_response(200, {"groupId": group["groupId"], "totalDeviceSize": size, "totaldeviceSize": size, name: count, "failedDevice": failed})

    def group_remove(self, fields: dict) -> Response:
        self.check_server(fields)
        del self.groups[self.group(fields)["groupId"]]
        return json_response(200, {})

    def to_devices(self, fields: dict) -> list[str]:
        return list(dict.fromkeys(self.listed(fields, "deviceRegIds")))

    def to_all(self, fields: dict) -> list[str]:
        return [d["dRId"] for d in self.devices.values() if d["state"] in ("active", "gate")]

    def to_group(self, fields: dict) -> list[str]:
        return list(self.group(fields)["members"])

    def downstream(self, fields: dict, devices: list[str]) -> Response:
        self.check_server(fields)
        data = fields.get("data")
        if not isinstance(data, str):
            self.refuse("data is missing")
        title, body, sound = (text(fields.get(key)) for key in ("notiTitle", "notiBody", "notiSound"))
        message = self.core_message(fields, devices)
        number, sent = message["mId"], str(self.now)
        # Assumed: without texts the data is shown if it is plain, and nothing is pushed without queuing.
        if not title and not body and integer(fields.get("queuing")) and loads(data) is ...:
            body = data
        if title or body:
            alert = {"title": title, "body": body} if title else {"body": body}
            payload = {"aps": {"alert": alert, "sound": sound or "default", "mutable-content": 1}, "mId": number, "type": "1", "title": title, "body": body}
            self.push_core(message, payload | {"st": sent, "data": data, "notiTitle": title, "notiBody": body}, {})
        return json_response(200, {"mId": number})

    def core_message(self, fields: dict, devices: list[str]) -> dict:
        targets = [self.target("", key if key in self.devices else "", "", key) for key in devices]
        message = {
            "mId": self.ids.uuid(), "client": text(fields.get("serverRegId")), "by": "dId", "title": "", "body": "", "type": "1", "iId": "",
            "at": self.now, "fallback": None, "targets": targets, "isCustom": True,
        }  # fmt: skip
        self.messages[message["mId"]] = message
        return message

    def push_core(self, message: dict, payload: dict, headers: dict) -> None:
        for target in message["targets"]:
            device = self.devices.get(target["dRId"])
            target["st"] = self.now
            if device is None or not device["token"]:
                target["s"] = 6
                continue
            target["s"] = 2
            push = self.push(message["mId"], device["auId"] or device["pn"], device["dRId"], device["token"], payload, headers)
            target["push"] = push.number

    def custom(self, fields: dict, devices: list[str]) -> Response:
        self.check_server(fields)
        data = fields.get("data")
        if not isinstance(data, dict):
            self.refuse("data is missing")
        message = self.core_message(fields, devices)
        message["data"], message["silent"] = data, integer(fields.get("silent"))
        self.push_custom(message, message["mId"])
        return json_response(200, {"mId": message["mId"]})

    def push_custom(self, message: dict, number: str) -> None:
        own = {key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for key, value in message["data"].items()}
        base = {"mId": number, "type": "1", "st": str(self.now)}
        if message["silent"]:
            payload = {"aps": {"content-available": 1}} | base | {"silent": "1"} | own
            self.push_core(message, payload, {"apns-push-type": "background", "apns-priority": "5"})
            return
        title, body = own.get("notiTitle", own.get("title", "")), own.get("notiBody", own.get("body", ""))
        alert = {"title": title, "body": body or "새 메시지"} if title else {"body": body or "새 메시지"}
        payload = {"aps": {"alert": alert, "sound": own.get("notiSound", "default"), "mutable-content": 1}} | base | own
        self.push_core(message, payload, {"apns-collapse-id": number})

    def custom_retry(self, fields: dict) -> Response:
        self.check_server(fields)
        old = self.messages.get(text(fields.get("msgId")))
        if old is None or "data" not in old:
            self.refuse("message does not exist")
        state = "nt" if integer(fields.get("retryCondition")) == 1 else "rt"
        message = self.core_message(fields, [t["named"] for t in old["targets"] if not t[state]])
        message["data"], message["silent"] = old["data"], old["silent"]
        self.push_custom(message, old["mId"])
        return json_response(200, {"mId": message["mId"]})

    # Tracking and synchronization.

    def tracked(self, fields: dict, many: bool) -> list[dict]:
        self.check_server(fields)
        numbers = self.listed(fields, "msgIds", 100) if many else [text(fields.get("msgId"))]
        found = [self.messages[n] for n in numbers if n in self.messages]
        if not many and not found:
            self.refuse("message does not exist")
        return found

    @staticmethod
    def core_state(target: dict) -> int:
        """1 queued, 2 data delivered, 3 expired, 4 notification delivered."""
        return 2 if target["rt"] else 4 if target["nt"] else 1

    def msg_stats(self, fields: dict) -> Response:
        rows = []
        for message in self.tracked(fields, True):
            states = [self.core_state(t) for t in message["targets"]]
            counts = {"que": states.count(1), "notiDeliver": states.count(4), "deliver": states.count(2), "expire": 0}
            rows.append({"msgId": message["mId"], "total": len(states)} | counts)
        return json_response(200, {"serviceId": self["service"], "serverRegId": text(fields.get("serverRegId")), "msgs": rows})

    def wanted(self, fields: dict, message: dict) -> list[dict]:
        flags, kind = integer(fields.get("msgState")), integer(fields.get("deviceType"))
        flag = {1: 1, 2: 2, 3: 4, 4: 8}
        rows = [t for t in message["targets"] if not flags or flags & flag[self.core_state(t)]]
        return [t for t in rows if not kind or self.devices.get(t["dRId"], {}).get("dt", 0) & kind]

    def page(self, fields: dict, message: dict, show) -> Response:
        rows = self.wanted(fields, message)
        start, size = max(0, integer(fields.get("startIndex"))), min(1000, integer(fields.get("fetchSize"), 1000))
        part = [show(t) for t in rows[start : start + size]]
        answer = {"serviceId": self["service"], "msgId": message["mId"], "startIndex": start, "totalDeviceSize": len(rows), "fetchDeviceSize": len(part)}
        return json_response(200, answer | {"deviceList": part})

    def detail(self, target: dict) -> dict:
        device = self.devices.get(target["dRId"], {})
        state = self.core_state(target)
        entry = {"deviceRegId": target["named"], "deviceRegName": device.get("n", ""), "os": device.get("dt", 0), "deviceState": 1 if device else 0}
        entry["msgState"] = state
        if state == 2:
            entry["deliverTime"] = target["rt"]
        if target["nt"]:
            entry["notiTime"] = target["nt"]
        return entry

    def msg_devices(self, fields: dict) -> Response:
        return self.page(fields, self.tracked(fields, False)[0], lambda t: t["named"])

    def msg_details(self, fields: dict) -> Response:
        return self.page(fields, self.tracked(fields, False)[0], self.detail)

    def batch(self, fields: dict, show) -> Response:
        rows = [{"msgId": m["mId"], "deviceList": [show(t) for t in self.wanted(fields, m)]} for m in self.tracked(fields, True)]
        if sum(len(row["deviceList"]) for row in rows) >= 1000:
            self.refuse("too many devices")
        return json_response(200, {"serviceId": self["service"], "msgs": rows})

    def batch_devices(self, fields: dict) -> Response:
        return self.batch(fields, lambda t: t["named"])

    def batch_details(self, fields: dict) -> Response:
        return self.batch(fields, lambda t: {k: v for k, v in self.detail(t).items() if k != "deviceState"})

    def sync(self, fields: dict, ids: list[str], **more) -> Response:
        self.check_server(fields)
        start, size = max(0, integer(fields.get("startIndex"))), min(MAX_TARGETS, integer(fields.get("fetchSize"), MAX_TARGETS))
        part = ids[start : start + size]
        answer = {"totalDeviceSize": len(ids), "startIndex": start, "startingIndex": start, "fetchDeviceSize": len(part), "deviceList": part}
        return json_response(200, more | answer)

    def sync_devices(self, fields: dict) -> Response:
        return self.sync(fields, self.to_all(fields))

    def sync_group(self, fields: dict) -> Response:
        group = self.group(fields)
        return self.sync(fields, group["members"], groupId=group["groupId"])

    def sync_delete(self, fields: dict) -> Response:
        self.check_server(fields)
        for key in self.listed(fields, "deviceIds"):
            if key in self.devices:
                self.devices[key]["state"], self.devices[key]["token"] = "removed", ""
        return json_response(200, {})

    # The gate, which the closed SDK talks to.

    def control(self, name: str, body: dict) -> object:
        key, message = text(body.get("dRId")), self.messages.get(text(body.get("mId")))
        if name == "gate/register":
            device = self.devices.get(key) or self.new_device(key or self.ids.hex(32))
            if text(body.get("token")):
                self.set_token(device, text(body["token"]), text(body.get("env")))
            return {"dRId": device["dRId"]}
        if name in ("gate/token", "gate/unregister") and key in self.devices:
            if name == "gate/token":
                self.set_token(self.devices[key], text(body["token"]), text(body.get("env")))
            else:
                self.devices[key].update(state="unregistered", token="")
            return {"dRId": key}
        if name == "gate/delivered":
            target = self.target_of(message, self.devices.get(key))
            if self.receive("delivered", text(body.get("mId")), key) and target and not target["nt"]:
                target["nt"] = self.now
                self.change(message, target)
            return {"known": target is not None}
        return None

    def snapshot(self) -> dict:
        users: dict[str, list[str]] = {}
        for device in self.devices.values():
            users.setdefault(device["auId"] or device["pn"], []).append(device["dRId"])
        return {
            "devices": list(self.devices.values()), "users": users, "groups": list(self.groups.values()), "messages": list(self.messages.values()),
            "servers": list(self.servers.values()), "clients": list(self.clients.values()),
        }  # fmt: skip

    CALLS = {
        ("pushApp", "installApp"): "install", ("pushApp", "unregUser"): "unregister", ("pushApp", "reqAuthNumber"): "request_auth",
        ("pushApp", "verifyAuthNumber"): "verify_auth", ("pushApp", "notiRead"): "noti_read", ("pushApp", "msgInfo"): "message_info",
        ("pushApp", "imgData"): "image_data", ("msgClient", "register"): "client_register", ("msgClient", "setCallbackUrl"): "set_callback",
        ("msgClient", "msgClientSendMsgByPhoneNum"): "send_by_phone", ("msgClient", "sendMsg"): "send_by_phone",
        ("msgClient", "sendMsgByPhoneNum"): "send_by_phone", ("msgClient", "msgClientSendMsgByDeviceId"): "send_by_device",
        ("msgClient", "sendMsgByDeviceId"): "send_by_device", ("server", "register"): "server_register", ("server", "unregister"): "server_unregister",
        ("deviceGroup", "create"): "group_create", ("deviceGroup", "add"): "group_add", ("deviceGroup", "subtract"): "group_subtract",
        ("deviceGroup", "remove"): "group_remove", ("downstream", "multicast"): "downstream_multicast",
        ("downstream", "broadcast"): "downstream_broadcast", ("downstream", "group"): "downstream_group",
        ("custompush", "multicast"): "custom_multicast", ("custompush", "broadcast"): "custom_broadcast", ("custompush", "group"): "custom_group",
        ("custompush", "retry"): "custom_retry", ("tracking", "msgStats"): "msg_stats", ("tracking", "msgDevices"): "msg_devices",
        ("tracking", "msgDeviceDetail"): "msg_details", ("tracking", "msgDetail"): "msg_details", ("tracking", "batchMsgDevices"): "batch_devices",
        ("tracking", "batchMsgDeviceDetail"): "batch_details", ("sync", "deviceIds"): "sync_devices", ("sync", "groupDeviceIds"): "sync_group",
        ("sync", "deleteDevices"): "sync_delete",
    }  # fmt: skip

    def downstream_multicast(self, fields: dict) -> Response:
        return self.downstream(fields, self.to_devices(fields))

    def downstream_broadcast(self, fields: dict) -> Response:
        return self.downstream(fields, self.to_all(fields))

    def downstream_group(self, fields: dict) -> Response:
        return self.downstream(fields, self.to_group(fields))

    def custom_multicast(self, fields: dict) -> Response:
        return self.custom(fields, self.to_devices(fields))

    def custom_broadcast(self, fields: dict) -> Response:
        return self.custom(fields, self.to_all(fields))

    def custom_group(self, fields: dict) -> Response:
        return self.custom(fields, self.to_group(fields))


class DeviceRefusal(Exception):
    """A device call that fails with this `rc` and comment."""

    def __init__(self, code: int, comment: str):
        super().__init__(code)
        self.code, self.comment = code, comment
