"""Stub of UPMC (Uracle Morpheus Push): the Receiver's calls of apps and back ends, and the two calls of the marketing server.

Contract: docs/contracts/upmc.md. Not part of the stub: the history calls `gw_*`, which are an extension of the gateway, and UPNS, FCM and web push, whose
registrations are counted and never pushed to.
"""

import hashlib
import re
from datetime import datetime
from urllib.parse import unquote

from .apns import Push
from .http1 import Request, Response
from .stub import SEOUL, Refusal, Stub, dumps, form, integer, json_response, loads, multipart, text

ALIASES = {
    "APPID": "APP_ID", "APPLICATION_ID": "APP_ID", "DVC_ID": "DEVICE_ID", "UUID": "DEVICE_ID", "DEVICE_UUID": "DEVICE_ID", "DVC_TYP": "DEVICE_TYPE",
    "PNS_ID": "PNSID", "CBS_ID": "CBSID", "USER_NM": "CNAME", "CLIENT_NAME": "CNAME", "USER_HP": "PHONENUM", "PHONE_NUMBER": "PHONENUM",
    "PHONENO": "PHONENUM", "CLIENT_UID": "CUID", "KEY_PUSH_KEY": "PUSHKEY",
}  # fmt: skip
VERSIONS = ["3.0", "3.5", "3.6", "3.7", "3.8", "4.0", "4.0EE", "5.0", "5.1"]
SENDS = ("rcv_register_message", "rcv_register_groupmessage", "rcv_register_csvmessage")
GUEST = "GUEST"


class UPMCStub(Stub):
    SETTINGS = {
        "app": ("com.example.app", "APP_ID of the only app"),
        "version": ("5.1", f"server version, which decides the payload: {', '.join(VERSIONS)}"),
        "securityUsing": (False, "calls of apps need a valid AUTHKEY"),
        "singleDevicePerUser": (False, "a user's other devices become GUEST when the user registers (policy device)"),
        "firstSeqno": (1001, "first SENDMSG_SEQNO"),
        "firstGroup": (1, "first GROUPSEQ"),
        "minuteMilliseconds": (60_000, "length of the minutes of SMS_READ_WAIT_MINUTE, so that tests need not wait"),
    }

    def __init__(self, settings: dict, seed: str):
        super().__init__(settings, seed)
        self.devices: dict[str, dict] = {}
        self.pending_users: dict[str, tuple[str, str]] = {}
        self.known_devices: dict[str, str] = {}
        self.keys: dict[str, dict] = {}
        self.groups: dict[str, dict] = {}
        self.badges: dict[str, int] = {}
        self.messages: dict[str, dict] = {}
        self.reserved: dict[str, dict] = {}
        self.sessions: dict[str, int] = {}
        self.purchases: list[list[str]] = []
        self.seqno, self.group, self.reserve = self["firstSeqno"], self["firstGroup"], 1

    # Answers.

    def reply(self, service: str, body, code: str = "0000", message: str = "OK") -> Response:
        value = {"HEADER": {"RESULT_CODE": code, "RESULT_BODY": message, "SERVICE": service}, "BODY": body}
        return json_response(200, value, ("Access-Control-Allow-Origin", "*"), kind="application/json;charset=UTF-8")

    def fail(self, service: str, code: str, message: str):
        raise Refusal(self.reply(service, {} if service in SENDS else [{}], code, message))

    def too_many(self, retry_after: int) -> Response:
        # Assumed: the list of codes has none for a rate, so overload is the server's processing error.
        return self.reply("receiver", [{}], "500", "too many requests")

    # Requests.

    def carry_out(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(200, [("Access-Control-Allow-Origin", "*"), ("Access-Control-Allow-Methods", "POST, GET, OPTIONS")])
        name = request.raw_path.rstrip("/").rpartition("/")[2]
        if re.search(r"/mobile/(last-session|purchase)/?$", request.raw_path):
            return self.marketing(name, request)
        if not name.lower().endswith(".ctl"):
            return Response(404, [("Content-Type", "text/plain")], b"not found")
        service = name[:-4]
        known = {n.lower(): n for n in self.SERVICES}.get(service.lower())
        if known is None:
            self.fail(service, "40000", "unknown service")
        fields = self.fields(request)
        if known != "putAppLog" and text(fields.get("APP_ID")) != self["app"]:
            # Assumed: servers before 3.6 are called without APP_ID by some apps; the callback ID is the bundle then.
            if "APP_ID" in fields or text(fields.get("CBSID")) != self["app"]:
                self.fail(known, "40000", "APP_ID is missing or unknown")
        self.check_key(known, fields)
        return getattr(self, self.SERVICES[known])(known, fields, request)

    @staticmethod
    def fields(request: Request) -> dict:
        kind = request.header("content-type") or ""
        pairs = request.query + (form(request.body, kind) if request.body else [])
        found: dict[str, str] = {}
        for key, value in pairs:
            name = ALIASES.get(key, key)
            if name == "CUID" and found.get(name) and not kind.startswith("multipart"):
                # Repeated keys are a list.
                earlier = loads(found[name])
                found[name] = dumps([*(earlier if isinstance(earlier, list) else [found[name]]), value]).decode()
            else:
                found[name] = value
        return found

    def check_key(self, service: str, fields: dict) -> None:
        exempt = service in SENDS or service in ("asking_authorization", "getEncriptKey")
        is_web = fields.get("PNSID") == "WPNS" and service in ("rcv_register_sent_ack", "rcv_register_send_result")
        if not self["securityUsing"] or exempt or is_web:
            return
        key = self.keys.get(fields.get("AUTHKEY", ""))
        is_mine = key is not None and (not fields.get("PSID") or key["psid"] == self.psid(fields)) and key["until"] > self.now
        if not is_mine or key["cuid"] not in (GUEST, "", fields.get("CUID", "") or GUEST):
            self.fail(service, "40100", "authentication failed")

    def issue(self, cuid: str, psid: str) -> str:
        key = self.ids.hex(40)
        self.keys[key] = {"cuid": cuid.removeprefix("TMP0"), "psid": psid, "until": self.now + 24 * 3600 * 1000}
        return key

    @staticmethod
    def psid(fields: dict) -> str:
        value = fields.get("PSID", "")
        return re.sub(r"[<> ]", "", value).lower() if fields.get("PNSID", "APNS") == "APNS" else value

    def need(self, service: str, fields: dict, *names: str) -> None:
        for name in names:
            if not fields.get(name):
                self.fail(service, "40000", f"{name} is missing")

    @staticmethod
    def device_key(fields: dict) -> str:
        return f"{fields.get('PNSID') or 'APNS'}:{fields.get('DEVICE_ID', '')}"

    # Authorization and registration.

    def ask_authorization(self, service: str, fields: dict, request: Request) -> Response:
        return self.reply(service, [{"AUTHKEY": self.issue(fields.get("CUID", ""), self.psid(fields))}])

    def place(self, service: str, fields: dict, cuid: str, cname: str) -> str:
        """Creates or replaces the device's row. Returns DEVICEID_CHANGE_YN."""
        self.need(service, fields, "PSID", "DEVICE_ID", "PNSID")
        psid = self.psid(fields)
        if fields["PNSID"] == "APNS" and not re.fullmatch(r"([0-9a-f]{2}){32,}", psid):
            self.fail(service, "40000", "PSID is not valid")
        key = self.device_key(fields)
        for other in [k for k, d in self.devices.items() if d["psid"] == psid and k != key]:
            del self.devices[other]
        old = self.devices.get(key)
        if not cuid or cuid == GUEST:
            pending = self.pending_users.pop(fields["DEVICE_ID"], None) or self.pending_users.pop(psid, None)
            cuid, cname = pending or ((old["cuid"], old["cname"]) if old else (GUEST, GUEST))
        changed = "Y" if cuid != GUEST and self.known_devices.get(cuid, key) != key else "N"
        row = {
            "key": key, "pnsid": fields["PNSID"], "device": fields["DEVICE_ID"], "psid": psid, "cuid": cuid, "cname": cname, "phone": fields.get("PHONENUM", ""),
            "mode": fields.get("APNS_MODE", ""), "model": fields.get("DEVICE_MD", ""), "os": fields.get("OS_VER", ""), "app": fields.get("APP_VER", ""),
        }  # fmt: skip
        self.devices[key] = row
        self.set_user(row, cuid, cname)
        return changed

    def set_user(self, row: dict, cuid: str, cname: str) -> None:
        row["cuid"], row["cname"] = cuid, cname or cuid
        if cuid == GUEST:
            return
        self.known_devices[cuid] = row["key"]
        if self["singleDevicePerUser"]:
            for other in self.devices.values():
                if other is not row and other["cuid"] == cuid:
                    other["cuid"] = other["cname"] = GUEST

    def register_service(self, service: str, fields: dict, request: Request) -> Response:
        changed = self.place(service, fields, fields.get("CUID", ""), fields.get("CNAME", ""))
        row = self.devices[self.device_key(fields)]
        key = self.issue(row["cuid"], row["psid"])
        return self.reply(service, [{"APPID": self["app"], "PSID": fields["PSID"], "AUTHKEY": key, "DEVICEID_CHANGE_YN": changed}])

    def register_both(self, service: str, fields: dict, request: Request) -> Response:
        self.need(service, fields, "CUID")
        changed = self.place(service, fields, fields["CUID"], fields.get("CNAME", ""))
        key = self.issue(fields["CUID"], self.psid(fields))
        return self.reply(service, [{"DEVICEID_CHANGE_YN": changed, "APPID": self["app"], "AUTHKEY": key, "PSID": fields["PSID"]}])

    def find(self, fields: dict) -> dict | None:
        row = self.devices.get(self.device_key(fields))
        return row or next((d for d in self.devices.values() if d["psid"] and d["psid"] == self.psid(fields)), None)

    def register_user(self, service: str, fields: dict, request: Request) -> Response:
        self.need(service, fields, "CUID")
        row = self.find(fields)
        if row is None:
            if VERSIONS.index(self["version"]) > 1:
                self.fail(service, "4400", "the service is not registered")
            # Up to 3.5 the user may come before the service.
            self.pending_users[fields.get("DEVICE_ID") or self.psid(fields)] = (fields["CUID"], fields.get("CNAME", ""))
        else:
            self.set_user(row, fields["CUID"], fields.get("CNAME", ""))
        answer = {"APPID": self["app"], "PSID": fields.get("PSID", ""), "CUID": fields["CUID"], "AUTHKEY": self.issue(fields["CUID"], self.psid(fields))}
        return self.reply(service, [answer])

    def get_service(self, service: str, fields: dict, request: Request) -> Response:
        row = self.devices.get(self.device_key(fields))
        if row is None or row["psid"] != self.psid(fields):
            return self.reply(service, [{"ISREGISTERED": "N", "APPID": self["app"], "PSID": fields.get("PSID", ""), "CUID": fields.get("CUID", "")}])
        state = "C" if fields.get("CUID") and fields["CUID"] != row["cuid"] else "Y"
        return self.reply(service, [{"ISREGISTERED": state, "APPID": self["app"], "PSID": fields.get("PSID", ""), "CUID": row["cuid"]}])

    def delete_service(self, service: str, fields: dict, request: Request) -> Response:
        row = self.find(fields)
        if row is not None:
            del self.devices[row["key"]]
        return self.reply(service, [{}])

    def delete_user(self, service: str, fields: dict, request: Request) -> Response:
        row = self.find(fields)
        if row is not None:
            row["cuid"] = row["cname"] = GUEST
        return self.reply(service, [{}])

    def alive(self, service: str, fields: dict, request: Request) -> Response:
        return self.reply(service, [{}])

    def refuse_key_exchange(self, service: str, fields: dict, request: Request) -> Response:
        return self.reply(service, [{}], "40000", "no key exchange")

    def configuration(self, service: str, fields: dict, request: Request) -> Response:
        answer = {"RECONNECT_PERIOD": "", "KEEPALIVE_PERIOD": "", "SERVICE_STOP": "Y", "VERSION": "", "CONNECT_IP": "", "CONNECT_PORT": ""}
        return self.reply(service, [answer])

    def reallocate(self, service: str, fields: dict, request: Request) -> Response:
        return self.reply(service, [{}], "4404", "no broker")

    # Groups.

    def the_group(self, service: str, fields: dict) -> dict:
        found = self.groups.get(fields.get("GROUPSEQ", ""))
        if found is None:
            self.fail(service, "40000", "GROUPSEQ is missing or unknown")
        return found

    def join(self, service: str, fields: dict, request: Request) -> Response:
        found = self.the_group(service, fields)
        if not fields.get("CUID") or fields["CUID"] == GUEST:
            self.fail(service, "40000", "CUID is missing or GUEST")
        members = found["members"]
        if service == "rcv_register_usergroup_user" and fields["CUID"] not in members:
            members.append(fields["CUID"])
        if service == "rcv_delete_usergroup_user" and fields["CUID"] in members:
            members.remove(fields["CUID"])
        return self.reply(service, [{"GROUPSEQ": found["seq"], "CUID": fields["CUID"]}])

    def make_group(self, service: str, fields: dict, request: Request) -> Response:
        self.need(service, fields, "GROUPNAME")
        seq, self.group = str(self.group), self.group + 1
        self.groups[seq] = {"seq": seq, "name": fields["GROUPNAME"], "members": []}
        return self.reply(service, [{"GROUPSEQ": seq, "GROUPNAME": fields["GROUPNAME"]}])

    def get_groups(self, service: str, fields: dict, request: Request) -> Response:
        wanted = fields.get("GROUPSEQ", "")
        return self.reply(service, [{"GROUPSEQ": g["seq"], "GROUPNAME": g["name"]} for g in self.groups.values() if not wanted or g["seq"] == wanted])

    def delete_group(self, service: str, fields: dict, request: Request) -> Response:
        del self.groups[self.the_group(service, fields)["seq"]]
        return self.reply(service, [{}])

    def get_members(self, service: str, fields: dict, request: Request) -> Response:
        names = {d["cuid"]: d["cname"] for d in self.devices.values()}
        rows = []
        for group in self.groups.values():
            if fields.get("GROUPSEQ") in (None, "", group["seq"]):
                members = [m for m in group["members"] if fields.get("CUID") in (None, "", m)]
                rows += [{"GROUPSEQ": group["seq"], "GROUPNAME": group["name"], "CUID": m, "CNAME": names.get(m, "")} for m in members]
        return self.reply(service, rows)

    # Receipts and badges.

    def target(self, fields: dict) -> tuple[dict, dict] | None:
        message = self.messages.get(fields.get("SEQNO", ""))
        if message is None:
            return None
        psid, cuid = self.psid(fields), fields.get("CUID", "")
        by_device = next((t for t in message["targets"] if psid and t["psid"] == psid), None)
        found = by_device or next((t for t in message["targets"] if cuid and t["cuid"] == cuid), None)
        return (message, found) if found else None

    def ack(self, service: str, fields: dict, request: Request) -> Response:
        found = self.target(fields)
        if self.receive("received", fields.get("SEQNO", ""), self.psid(fields), fields.get("CUID", "")) and found:
            found[1]["received"] = found[1]["received"] or self.now
        return self.reply(service, [{}])

    def read(self, service: str, fields: dict, request: Request) -> Response:
        option = self.badge_option(service, fields) if "BADGENO" in fields else None
        found = self.target(fields)
        is_first = found is not None and not found[1]["read"]
        if self.receive("read", fields.get("SEQNO", ""), self.psid(fields), fields.get("CUID", "")) and found:
            found[1]["received"] = found[1]["received"] or self.now
            found[1]["read"] = found[1]["read"] or self.now
        badge = self.badge_key(fields)
        if option is not None and option >= 0:
            self.badges[badge] = option
        elif option == -1 and is_first:
            self.badges[badge] = max(0, self.badges.get(badge, 0) - 1)
        return self.reply(service, [{"BADGENO": str(self.badges.get(badge, 0))}])

    def badge_option(self, service: str, fields: dict) -> int:
        option = integer(fields.get("BADGENO"), -2)
        if not -1 <= option <= 1000:
            self.fail(service, "40000", "BADGENO is not valid")
        return option

    def badge_key(self, fields: dict) -> str:
        cuid = fields.get("CUID") or GUEST
        return cuid if cuid != GUEST else f"device {self.psid(fields)}"

    def set_badge(self, service: str, fields: dict, request: Request) -> Response:
        option = self.badge_option(service, fields)
        if option < 0:
            self.fail(service, "40000", "BADGENO is not valid")
        self.badges[self.badge_key(fields)] = option
        return self.reply(service, [{"BADGENO": str(option)}])

    # Sends.

    def send_to_users(self, service: str, fields: dict, request: Request) -> Response:
        self.need(service, fields, "TYPE", "CUID", "MESSAGE", "SERVICECODE", "SENDERCODE")
        return self.accept(service, fields, {cuid: [] for cuid in self.cuids(fields["CUID"])})

    @staticmethod
    def cuids(value: str) -> list[str]:
        """One CUID, a JSON array, or an unquoted list in brackets."""
        listed = loads(value) if value.startswith("[") else ...
        if isinstance(listed, list):
            return list(dict.fromkeys(text(c) for c in listed if text(c)))
        if value.startswith("[") and value.endswith("]"):
            return list(dict.fromkeys(c.strip() for c in value[1:-1].split(",") if c.strip()))
        return [value]

    def send_to_group(self, service: str, fields: dict, request: Request) -> Response:
        self.need(service, fields, "TYPE", "MESSAGE", "SERVICECODE", "SENDERCODE")
        if fields["TYPE"] == "G":
            users = list(self.the_group(service, fields)["members"])
        elif fields["TYPE"] == "A":
            users = list(dict.fromkeys(d["cuid"] for d in self.devices.values()))
        else:
            self.fail(service, "40000", "TYPE is not valid")
        return self.accept(service, fields, {cuid: [] for cuid in users})

    def send_to_list(self, service: str, fields: dict, request: Request) -> Response:
        self.need(service, fields, "MESSAGE", "SERVICECODE", "SENDERCODE")
        parts = multipart(request.body, request.header("content-type") or "")
        data = next((d for h, d in parts if h.get("name") == "upload_file"), None)
        if data is None:
            self.fail(service, "40000", "upload_file is missing")
        rows = [line.split(",") for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
        return self.accept(service, fields, {row[0].strip(): [v.strip() for v in row[1:]] for row in rows})

    def accept(self, service: str, fields: dict, users: dict[str, list[str]]) -> Response:
        wanted = loads(fields.get("REQ_PSIDS") or "null")
        only = {p.lower() for p in wanted if isinstance(p, str)} if isinstance(wanted, list) and wanted else None
        by_user: dict[str, list[dict]] = {}
        for device in self.devices.values():
            if only is None or device["psid"].lower() in only:
                by_user.setdefault(device["cuid"], []).append(device)
        known = {cuid: by_user[cuid] for cuid in users if cuid in by_user}
        due = self.reserved_at(service, fields.get("RESERVEDATE", "").strip())
        if not known:
            self.fail(service, "4401" if due > self.now else "4400", "no subscribed target")
        order = {"fields": {k: v for k, v in fields.items() if k != "AUTHKEY"}, "users": users, "devices": [d["key"] for ds in known.values() for d in ds]}
        if due > self.now:
            number, self.reserve = str(self.reserve), self.reserve + 1
            self.reserved[number] = order
            self.later(due - self.now, "release", number)
            return self.reply(service, {"RESERVE_SEQNO": number})
        seqno = self.deliver(order)
        networks = [d["pnsid"] for ds in known.values() for d in ds]
        missing = [cuid for cuid in users if cuid not in known]
        body: dict = {"SENDMSG_SEQNO": seqno, "REG_SUCCESS_CNT": str(len(known)), "REG_FAIL_CNT": str(len(missing))}
        if self["version"] >= "5":
            body["NOTEXISTCUIDS"] = missing
        body |= {network: str(networks.count(network)) for network in ("APNS", "FCM", "GCM", "UPNS", "WPNS")}
        body |= {name: fields[name] for name in ("CUST_KEY", "CUST_VAR1", "CUST_VAR2", "CUST_VAR3") if name in fields}
        return self.reply(service, body | {"HOST_URL": ""})

    def reserved_at(self, service: str, date: str) -> int:
        if not date:
            return self.now
        try:
            due = int(datetime.strptime(date, "%Y%m%d %H%M%S").replace(tzinfo=SEOUL).timestamp() * 1000)
        except ValueError:
            self.fail(service, "40000", "RESERVEDATE is not valid")
        if due < self.now - 60 * 60 * 1000:
            self.fail(service, "5500", "the reserved time is over by more than 60 minutes")
        return due

    def release(self, number: str) -> None:
        order = self.reserved.pop(number)
        # Assumed: devices that went meanwhile are left out.
        order["devices"] = [key for key in order["devices"] if key in self.devices]
        self.deliver(order)

    def deliver(self, order: dict) -> str:
        fields, seqno = order["fields"], str(self.seqno)
        self.seqno += 1
        message = {"seqno": seqno, "fields": fields, "at": self.now, "targets": []}
        self.messages[seqno] = message
        raised: set[str] = set()
        for key in order["devices"]:
            device = self.devices[key]
            target = {"cuid": device["cuid"], "psid": device["psid"], "device": key, "phone": device["phone"], "received": 0, "read": 0, "push": 0}
            message["targets"].append(target)
            badge = self.badge(fields, device, raised)
            if device["pnsid"] == "APNS":
                payload = self.payload(message, device, badge, order["users"].get(device["cuid"], []))
                priority = "5" if fields.get("PRIORITY") == "1" and self["version"] == "5.1" else "10"
                target["push"] = self.push(seqno, device["cuid"], key, device["psid"], payload, {"apns-priority": priority}).number
            minutes = integer(fields.get("SMS_READ_WAIT_MINUTE"), 0)
            if minutes > 0:
                self.later(minutes * self["minuteMilliseconds"], "pay_if_unread", seqno, len(message["targets"]) - 1)
        return seqno

    def pay_if_unread(self, seqno: str, index: int) -> None:
        target = self.messages[seqno]["targets"][index]
        if not target["read"] and not target.get("isPaid"):
            target["isPaid"] = True
            self.pay(seqno, target["phone"] or target["cuid"], "sms")

    def badge(self, fields: dict, device: dict, raised: set[str]) -> int | None:
        """BADGENO is an increment of the user's counter from 4.0EE on, and the value itself before."""
        number = max(0, integer(fields.get("BADGENO"), 0))
        if self["version"] < "4.0EE":
            return number or None
        key = device["cuid"] if device["cuid"] != GUEST else f"device {device['psid']}"
        if number and key not in raised:
            raised.add(key)
            self.badges[key] = self.badges.get(key, 0) + number
        return self.badges[key] if number else None

    def payload(self, message: dict, device: dict, badge: int | None, variables: list[str]) -> dict:
        fields, version = message["fields"], VERSIONS.index(self["version"])
        words = self.fill(self.message_text(fields["MESSAGE"]), fields, device, variables)
        parsed = loads(words)
        alert: object = words
        if isinstance(parsed, dict) and "body" in parsed:
            title, body = text(parsed.get("title")), text(parsed["body"])
            alert = {"title": title, "body": body} if version >= 7 else f"{title}\n{body}" if title else body
        aps: dict = {"alert": alert}
        if badge is not None:
            aps["badge"] = badge
        aps["sound"] = fields.get("SOUNDFILE") or "default"
        seqno = message["seqno"]
        mps = {"appid": self["app"], "seqno": seqno, "sender": fields["SENDERCODE"], "ext": self.fill(fields.get("EXT", ""), fields, device, variables)}
        if version >= 2:
            mps["senddate"] = self.moment(SEOUL).strftime("%Y%m%d%H")
        if version >= 3:
            mps["db_in"] = fields.get("DB_IN") or "Y"
        else:
            mps["messageuniquekey"] = hashlib.sha1(f"{self['app']}|{seqno}|{device['psid']}".encode()).hexdigest()
        if version >= 6:
            mps["pushkey"] = hashlib.sha1(f"{self['app']}|{device['cuid']}|{device['psid']}".encode()).hexdigest()
        return {"aps": aps, "mps": mps}

    @staticmethod
    def message_text(value: str) -> str:
        """The console encodes MESSAGE once before its HTTP library does."""
        if re.search(r"%[0-9A-Fa-f]{2}", value) and " " not in value and value.isascii():
            try:
                return unquote(value, errors="strict")
            except UnicodeDecodeError:
                return value
        return value

    @staticmethod
    def fill(words: str, fields: dict, device: dict, variables: list[str]) -> str:
        if fields.get("TEMPLATE_YN") != "Y":
            return words
        name = variables[0] if variables else device["cname"]
        for number in range(10, 0, -1):
            words = words.replace(f"%VAR{number}%", variables[number] if len(variables) > number else "")
        return words.replace("%CUID%", device["cuid"]).replace("%CNAME%", name)

    def outcome(self, push: Push) -> None:
        message = self.messages[push.message]
        target = next(t for t in message["targets"] if t["push"] == push.number)
        if push.state == "rejected":
            device = self.devices.get(push.device)
            if device and device["psid"] == push.token and (push.status == 410 or push.reason == "BadDeviceToken"):
                del self.devices[push.device]
        if push.state in ("rejected", "unsent") and message["fields"].get("PUSH_FAIL_SMS_SEND") == "Y" and not target.get("isPaid"):
            target["isPaid"] = True
            self.pay(push.message, target["phone"] or target["cuid"], "sms")

    # Marketing server.

    def marketing(self, name: str, request: Request) -> Response:
        body = loads(request.body)
        if not isinstance(body, dict):
            return json_response(400, {"code": "40000", "message": "the body is not JSON"})
        for field in ("appId", "cuid") + (("id",) if name == "purchase" else ()):
            if not text(body.get(field)):
                return json_response(200, {"code": "40000", "message": f"{field} is required"})
        if name == "last-session":
            self.sessions[text(body["cuid"])] = self.now
        elif [text(body["id"]), text(body["cuid"])] not in self.purchases:
            self.purchases.append([text(body["id"]), text(body["cuid"])])
        return json_response(200, {"code": "0000", "message": "SUCCESS"})

    def snapshot(self) -> dict:
        users: dict[str, list[str]] = {}
        for key, device in self.devices.items():
            users.setdefault(device["cuid"], []).append(key)
        return {
            "devices": list(self.devices.values()), "users": users, "groups": list(self.groups.values()), "messages": list(self.messages.values()),
            "reserved": self.reserved, "badges": self.badges, "sessions": self.sessions, "purchases": self.purchases,
        }  # fmt: skip

    SERVICES = {
        "asking_authorization": "ask_authorization", "getEncriptKey": "refuse_key_exchange", "rcv_register_service": "register_service",
        "rcv_add_service": "register_service", "rcv_register_user": "register_user", "new_rcv_register_service_and_user": "register_both",
        "wpns_rcv_register_service_and_user": "register_both", "rcv_get_service": "get_service", "rcv_delete_service": "delete_service",
        "rcv_delete_user": "delete_user", "rcv_register_usergroup_user": "join", "rcv_delete_usergroup_user": "join",
        "rcv_get_usergroup_user": "get_members", "rcv_register_usergroup": "make_group", "rcv_get_usergroup": "get_groups",
        "rcv_delete_usergroup": "delete_group", "rcv_register_sent_ack": "ack", "rcv_register_send_result": "read", "rcv_init_badgeNo": "set_badge",
        "rcv_register_message": "send_to_users", "rcv_register_groupmessage": "send_to_group", "rcv_register_csvmessage": "send_to_list",
        "rcv_appAlive": "alive", "rcv_comm_configuration": "configuration", "reAllocateUpns": "reallocate", "putAppLog": "alive",
    }  # fmt: skip
