"""Stub of iPNS (iPNG). Contract: docs/contracts/ipns.md.

Assumed: the whole wire format. The vendor publishes only the surface of its library, so paths, keys and codes are those of contract v1.
"""

from datetime import datetime

from .apns import Push
from .http1 import Request, Response
from .stub import SEOUL, Refusal, Stub, dumps, form, integer, json_response, loads, text


def plain(name: str) -> str:
    """Keys and operations compare without case, `_` and `-`."""
    return name.replace("_", "").replace("-", "").lower()


class IPNSStub(Stub):
    SETTINGS = {
        "app": ("hr.mobile", "APP_ID of the only app"),
        "mount": ("/ipns", "path before the operation"),
        "apiKey": ("stub-api-key", "Authorization: Bearer of send"),
    }
    OPERATIONS = ("appRegist", "recvReport", "readReport", "updateConfig", "getConfig", "getMsgs", "getMsgDetail", "polling", "send")

    def __init__(self, settings: dict, seed: str):
        super().__init__(settings, seed)
        self.devices: dict[str, dict] = {}
        self.messages: dict[str, dict] = {}
        self.last_second, self.in_second = "", 0

    # Answers.

    @staticmethod
    def result(code: str, message: str, **more) -> Response:
        error = "" if code == "0000" else message
        return json_response(200, {"RT": code, "RT_MSG": message, "rtCode": code, "error": error, **more}, kind="application/json; charset=UTF-8")

    def success(self, **more) -> Response:
        return self.result("0000", "SUCCESS", **more)

    def fail(self, code: str, message: str):
        raise Refusal(self.result(code, message))

    def too_many(self, retry_after: int) -> Response:
        # Assumed: overload is the general failure.
        return self.result("9999", "too many calls")

    # Requests.

    def carry_out(self, request: Request) -> Response:
        mount = self["mount"].rstrip("/")
        if request.path != mount and not request.path.startswith(mount + "/"):
            return Response(404, [("Content-Type", "text/plain; charset=UTF-8")], b"not found")
        fields = self.fields(request)
        named = plain(request.path.rstrip("/").rpartition("/")[2])
        if named not in {plain(name) for name in self.OPERATIONS}:
            named = next((plain(str(fields[key])) for key in ("cmd", "command", "method", "reqcmd") if key in fields), "")
        operation = next((name for name in self.OPERATIONS if plain(name) == named), None)
        if operation is None:
            self.fail("9999", "unknown operation")
        if not text(fields.get("appid")):
            self.fail("2001", "APP_ID is missing")
        if text(fields["appid"]) != self["app"]:
            self.fail("1400", "APP_ID does not exist")
        if operation == "send" and request.header("authorization") != f"Bearer {self['apiKey']}":
            # Assumed: a wrong key is the general failure, because the table of codes has none for it.
            self.fail("9999", "the API key is not valid")
        return getattr(self, operation)(fields)

    def fields(self, request: Request) -> dict:
        """The fields of JSON, form or query, by their plain names."""
        found = dict(request.query)
        kind = request.header("content-type", "") or ""
        if request.body and ("form" in kind.lower()):
            found |= dict(form(request.body, kind))
        elif request.body:
            body = loads(request.body)
            if not isinstance(body, dict):
                response = self.result("9999", "the body is not readable")
                response.status = 400
                raise Refusal(response)
            found |= body
        return {plain(key): value for key, value in found.items()}

    def device(self, fields: dict) -> dict:
        """The registered device of a call, by DEVICE_ID, else by PUSH_TOKEN."""
        known = self.devices.get(text(fields.get("deviceid")))
        if known is None and text(fields.get("pushtoken")):
            token = text(fields["pushtoken"]).lower()
            known = next((d for d in self.devices.values() if d["token"] == token), None)
        if known is None:
            self.fail("2003", "the device is not registered")
        return known

    # Registration.

    def appRegist(self, fields: dict) -> Response:
        user, token = text(fields.get("usercn")), text(fields.get("pushtoken")).lower()
        if not user:
            self.fail("2001", "USER_CN is missing")
        if len(token) < 64 or any(c not in "0123456789abcdef" for c in token):
            self.fail("1305", "the device token is not valid")
        # Assumed: without DEVICE_ID the token is the device.
        key = text(fields.get("deviceid")) or token
        for other in self.devices.values():
            if other["token"] == token and other["id"] != key:
                other["token"] = ""
        known = self.devices.get(key)
        wish = self.flag(fields.get("pushyn"))
        if known is None:
            known = {"id": key, "user": user, "token": token, "enabled": True if wish is None else wish, "start": "0000", "end": "2359", "cpUser": user}
            self.devices[key] = known
        else:
            known["user"], known["token"] = user, token
            if wish is not None:
                known["enabled"] = wish
        return self.success(DEVICE_ID=key, PUSH_YN="Y" if known["enabled"] else "N")

    def flag(self, value) -> bool | None:
        word = text(value).lower()
        if word in ("y", "true", "1"):
            return True
        if word in ("n", "false", "0"):
            return False
        if word:
            self.fail("2002", "PUSH_YN is not valid")
        return None

    def updateConfig(self, fields: dict) -> Response:
        device = self.device(fields)
        start, end = text(fields.get("starttime")), text(fields.get("endtime"))
        for value in (start, end):
            if value and not (len(value) == 4 and value.isdigit() and int(value[:2]) < 24 and int(value[2:]) < 60):
                self.fail("2002", "the time is not valid")
        wish = self.flag(fields.get("pushyn"))
        device["start"], device["end"] = start or device["start"], end or device["end"]
        device["enabled"] = device["enabled"] if wish is None else wish
        device["cpUser"] = text(fields.get("cpuserid")) or device["cpUser"]
        return self.success()

    def getConfig(self, fields: dict) -> Response:
        device = self.device(fields)
        return self.success(PUSH_YN="Y" if device["enabled"] else "N", START_TIME=device["start"], END_TIME=device["end"], CP_USER_ID=device["cpUser"])

    # Messages.

    def delivery(self, fields: dict, device: dict, name: str = "reqid") -> dict:
        """The message of a call, if it was sent to the device or to its user."""
        message = self.messages.get(text(fields.get(name)))
        if message is None or not self.is_for(message, device):
            self.fail("2004", "the message does not exist")
        return message

    @staticmethod
    def is_for(message: dict, device: dict) -> bool:
        return device["id"] in message["devices"] or device["user"] in message["users"]

    @staticmethod
    def state(message: dict, device: dict) -> dict:
        """Receipt and read state on one device. A user's other device, which was not a target, gets its own state when it asks."""
        return message["states"].setdefault(device["id"], {"received": False, "read": False})

    def item(self, message: dict, device: dict) -> dict:
        state = self.state(message, device)
        return {
            "REQ_ID": message["id"], "TITLE": message["title"], "ALERT": message["alert"], "MESSAGE": message["message"], "SEND_DATE": message["sent"],
            "RECV_YN": "Y" if state["received"] else "N", "READ_YN": "Y" if state["read"] else "N",
            "USER_CN": message["devices"].get(device["id"], device["user"]),
        }  # fmt: skip

    def recvReport(self, fields: dict) -> Response:
        device = self.device(fields)
        message = self.delivery(fields, device, "msgid" if "msgid" in fields else "reqid")
        if self.receive("received", message["id"], device["id"], device["user"]):
            self.state(message, device)["received"] = True
        return self.success()

    def readReport(self, fields: dict) -> Response:
        device = self.device(fields)
        message = self.delivery(fields, device)
        if self.receive("read", message["id"], device["id"], device["user"]):
            self.state(message, device).update(received=True, read=True)
        return self.success()

    def count(self, fields: dict, default: int) -> int:
        wanted = integer(fields.get("count"), 0)
        return default if wanted < 1 else min(wanted, 50)

    def getMsgs(self, fields: dict) -> Response:
        device = self.device(fields)
        scope, kind, reference = text(fields.get("pushidtype")), text(fields.get("reqtype")), text(fields.get("reqid"))
        if scope not in ("@00", "@01") or kind not in ("N", "O"):
            self.fail("2002", "PUSH_ID_TYPE or REQ_TYPE is not valid")
        if kind == "O" and not reference:
            self.fail("2001", "REQ_ID is missing")
        mine = [m for m in self.messages.values() if (device["id"] in m["devices"] if scope == "@00" else device["user"] in m["users"])]
        mine = [m for m in mine if m["isSent"] and (kind == "N" or m["id"] < reference)]
        page = sorted(mine, key=lambda m: m["id"], reverse=True)[: self.count(fields, 20)]
        for message in page:
            # A list shows that the device has the message.
            self.state(message, device)["received"] = True
        return self.success(COUNT=len(page), LIST=[self.item(m, device) for m in page])

    def getMsgDetail(self, fields: dict) -> Response:
        device = self.device(fields)
        message = self.delivery(fields, device)
        self.state(message, device)["received"] = True
        return self.success(ITEM=self.item(message, device))

    def polling(self, fields: dict) -> Response:
        device = self.device(fields)
        mine = [m for m in self.messages.values() if m["isSent"] and device["id"] in m["devices"] and not self.state(m, device)["received"]]
        mine.sort(key=lambda m: m["id"])
        page = mine[: self.count(fields, 10)]
        for message in page:
            self.state(message, device)["received"] = True
        return self.success(REMAIN=len(mine) - len(page), LIST=[self.item(m, device) for m in page])

    # Sends.

    def send(self, fields: dict) -> Response:
        scope, named = text(fields.get("pushidtype")), fields.get("pushid")
        names = [text(n) for n in named] if isinstance(named, list) else [text(named)] if text(named) else []
        if scope not in ("@00", "@01"):
            self.fail("2002", "PUSH_ID_TYPE is not valid")
        if not names or not text(fields.get("alert")):
            self.fail("2001", "PUSH_ID or ALERT is missing")
        reserved = text(fields.get("sendtype"), "I") == "R"
        due = self.reserved_at(text(fields.get("resvdate"))) if reserved else self.now
        targets, missing = [], []
        for name in dict.fromkeys(names):
            devices = self.addressed(scope, name)
            targets += devices
            missing += [] if devices else [name]
        if not targets:
            self.fail("2003", "no target is registered")
        badge = fields.get("badge", fields.get("bedge"))
        message = {
            "id": self.next_id(), "title": text(fields.get("title")), "alert": text(fields["alert"]), "message": text(fields.get("message")),
            "sound": text(fields.get("sound")), "badge": None if badge in (None, "") else integer(badge), "sent": self.moment(SEOUL).strftime("%Y%m%d%H%M%S"),
            "devices": {d["id"]: d["user"] for d in targets}, "users": list(dict.fromkeys(d["user"] for d in targets)), "states": {}, "isSent": False,
        }  # fmt: skip
        if len(dumps(self.payload(message))) > 4096:
            self.fail("1036", "the message is too large")
        self.messages[message["id"]] = message
        self.later(due - self.now, "deliver", message["id"]) if due > self.now else self.deliver(message["id"])
        answer = {"RT": "0000", "RT_MSG": "SUCCESS", "MESSAGE_ID": message["id"], "ACCEPTED": len(names) - len(missing), "NOT_FOUND": missing}
        return json_response(200, answer, kind="application/json; charset=UTF-8")

    def reserved_at(self, date: str) -> int:
        try:
            return int(datetime.strptime(date, "%Y%m%d%H%M%S").replace(tzinfo=SEOUL).timestamp() * 1000)
        except ValueError:
            self.fail("2002", "RESV_DATE is not valid")
        return 0

    def addressed(self, scope: str, name: str) -> list[dict]:
        if scope == "@00":
            return [self.devices[name]] if name in self.devices else []
        by_config = [d for d in self.devices.values() if d["cpUser"] == name]
        return by_config or [d for d in self.devices.values() if d["user"] == name]

    def next_id(self) -> str:
        """yyyyMMddHHmmss of Seoul and four digits, increasing; a full second borrows the next one."""
        second = max(self.moment(SEOUL).strftime("%Y%m%d%H%M%S"), self.last_second)
        if second != self.last_second:
            self.last_second, self.in_second = second, 0
        self.in_second += 1
        if self.in_second > 9999:
            self.last_second, self.in_second = str(int(second) + 1), 0
        return f"{self.last_second}{self.in_second:04d}"

    def payload(self, message: dict) -> dict:
        """Assumed: the key of the message's ID is not published, so it goes out under three names, as the contract has it."""
        aps: dict = {"alert": message["alert"]}
        if message["badge"] is not None:
            aps["badge"] = message["badge"]
        aps |= {"sound": message["sound"] or "default", "content-available": 1}
        number = message["id"]
        return {"aps": aps, "message": message["message"], "msg_id": number, "req_id": number, "requestId": number, "app_id": self["app"]}

    def deliver(self, number: str) -> None:
        message = self.messages[number]
        message["isSent"] = True
        message["sent"] = self.moment(SEOUL).strftime("%Y%m%d%H%M%S")
        data = dumps(self.payload(message))
        clock = self.moment(SEOUL).strftime("%H%M")
        for key, user in message["devices"].items():
            device = self.devices.get(key)
            self.state(message, {"id": key})
            # Outside the window, and with push off, the message is only kept for history and polling.
            if device is None or not device["token"] or not device["enabled"] or not self.is_open(device, clock):
                continue
            self.push(number, user, key, device["token"], data, {})

    @staticmethod
    def is_open(device: dict, clock: str) -> bool:
        start, end = device["start"], device["end"]
        return start <= clock <= end if start <= end else clock >= start or clock <= end

    def outcome(self, push: Push) -> None:
        device = self.devices.get(push.device)
        if device and device["token"] == push.token and push.state == "rejected" and (push.status == 410 or push.reason == "BadDeviceToken"):
            device["token"] = ""

    def snapshot(self) -> dict:
        users: dict[str, list[str]] = {}
        for device in self.devices.values():
            users.setdefault(device["user"], []).append(device["id"])
        return {"devices": list(self.devices.values()), "users": users, "groups": {}, "messages": list(self.messages.values())}
