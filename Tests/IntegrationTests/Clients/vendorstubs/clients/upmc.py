"""UPMC: authorization, registration, token refresh, users, groups, sends, reservation, receipts, badges, unregistration."""

from datetime import timedelta
from urllib.parse import quote

from ..stub import SEOUL
from .script import Script


def play(script: Script, settings: dict[str, str]) -> None:
    app, mount = settings.get("app", "com.example.app"), settings.get("mount", "/upmc")
    devices = {name: script.uuid(f"device {name}") for name in ("one", "two", "three")}

    def post(name: str, service: str, **fields):
        body = "&".join(f"{key}={quote(str(value), safe='')}" for key, value in fields.items())
        return script.call(name, "POST", f"{mount}/{service}.ctl", {"Content-Type": "application/x-www-form-urlencoded"}, body)

    def key_of(answer) -> str:
        body = answer.json().get("BODY") or [{}]
        return body[0].get("AUTHKEY", "") if isinstance(body, list) else ""

    def place(name: str, token: str) -> dict:
        return {"APP_ID": app, "PNSID": "APNS", "PSID": script.token(token), "DEVICE_ID": devices[name], "DEVICE_TYPE": "I"}

    about = {"CBSID": app, "PHONENUM": "01012345678", "DEVICE_MD": "iPhone14,2", "OS_VER": "17.4", "APP_VER": "120", "APNS_MODE": "REAL"}
    key = key_of(post("asks for a key", "asking_authorization", APP_ID=app, CUID="TMP0GUEST", PSID=script.token("one")))
    key = key_of(post("registers the service", "rcv_register_service", **place("one", "one"), CUID="GUEST", CNAME="GUEST", **about, AUTHKEY=key)) or key
    key = key_of(post("registers the user", "rcv_register_user", **place("one", "one"), CUID="hong", CNAME="Hong Gildong", AUTHKEY=key)) or key
    refreshed = post("refreshes the token", "rcv_register_service", **place("one", "one again"), CUID="hong", CNAME="Hong Gildong", **about, AUTHKEY=key)
    key = key_of(refreshed) or key
    post("registers a second device", "new_rcv_register_service_and_user", **place("two", "two"), CUID="hong", CNAME="Hong Gildong", **about)
    other = key_of(post("registers a second user", "new_rcv_register_service_and_user", **place("three", "three"), CUID="kim", CNAME="Kim", **about))
    post("asks whether it is registered", "rcv_get_service", **place("one", "one again"), CUID="hong", AUTHKEY=key)
    post("asks as another user", "rcv_get_service", **place("one", "one again"), CUID="kim", AUTHKEY=key)
    post("registers a broken token", "rcv_register_service", **(place("one", "one") | {"PSID": "{length = 32}"}), CUID="hong", AUTHKEY=key)
    post("names no app", "rcv_register_service", **(place("one", "one") | {"APP_ID": "com.example.other"}), CUID="hong")
    post("adds a service", "rcv_add_service", **place("one", "one again"), CUID="hong", CNAME="Hong Gildong", **about, AUTHKEY=key)
    web = {"APP_ID": app, "PNSID": "WPNS", "PSID": "https://push.example.com/e/1", "DEVICE_ID": "auth", "CUID": "web", "CNAME": "Web", "P256DH": "key"}
    post("registers a browser", "wpns_rcv_register_service_and_user", **web, AUTHKEY=key)
    for name in ("getEncriptKey", "rcv_comm_configuration", "reAllocateUpns"):
        post(f"calls {name}", name, **place("one", "one again"), AUTHKEY=key)
    post("uploads its log", "putAppLog", log='{"lib-version":"5.1.3"}')
    post("is alive", "rcv_appAlive", **place("one", "one again"), CUID="hong", AUTHKEY=key)

    made = post("makes a group", "rcv_register_usergroup", APP_ID=app, GROUPNAME="vip", AUTHKEY=key).json().get("BODY") or [{}]
    group = made[0].get("GROUPSEQ", "") if isinstance(made, list) else ""
    post("joins the group", "rcv_register_usergroup_user", APP_ID=app, CUID="hong", GROUPSEQ=group, AUTHKEY=key)
    post("joins without a group", "rcv_register_usergroup_user", APP_ID=app, CUID="hong", AUTHKEY=key)
    post("lists the groups", "rcv_get_usergroup", APP_ID=app, GROUPSEQ="", AUTHKEY=key)
    post("lists the members", "rcv_get_usergroup_user", APP_ID=app, GROUPSEQ=group, CUID="", AUTHKEY=key)

    common = {
        "PRIORITY": "3", "BADGENO": "1", "RESERVEDATE": "", "SERVICECODE": "ALL", "SOUNDFILE": "alert.aif", "EXT": "", "SENDERCODE": "admin", "APP_ID": app,
        "DB_IN": "Y", "TEMPLATE_YN": "N", "SPLIT_MSG_CNT": "0", "DELAY_SECOND": "0", "PUSH_FAIL_SMS_SEND": "N",
    }  # fmt: skip
    words = '{"title":"Notice","body":"Maintenance at 02:00"}'
    sent = post("sends to users", "rcv_register_message", TYPE="E", CUID='["hong","kim","nobody"]', MESSAGE=words, **common)
    one = post("sends to one device", "rcv_register_message", TYPE="E", CUID="hong", MESSAGE="Hello", **common, REQ_PSIDS=f'["{script.token("two")}"]')
    post("sends to nobody", "rcv_register_message", TYPE="E", CUID="nobody", MESSAGE="Hello", **common)
    post("sends without text", "rcv_register_message", TYPE="E", CUID="hong", **common)
    later = (script.at + timedelta(days=1)).astimezone(SEOUL).strftime("%Y%m%d %H%M%S")
    past = (script.at - timedelta(hours=2)).astimezone(SEOUL).strftime("%Y%m%d %H%M%S")
    post("reserves", "rcv_register_message", TYPE="E", CUID="kim", MESSAGE="Later", **(common | {"RESERVEDATE": later}))
    post("reserves in the past", "rcv_register_message", TYPE="E", CUID="kim", MESSAGE="Late", **(common | {"RESERVEDATE": past}))
    post("sends to the group", "rcv_register_groupmessage", TYPE="G", GROUPSEQ=group, MESSAGE="To the group", **common)
    post("sends to all", "rcv_register_groupmessage", TYPE="A", GROUPSEQ="", MESSAGE="To all", **common)
    boundary = "stub-boundary"
    parts = {"TYPE": "C", "MESSAGE": "Hi %CNAME%", **(common | {"TEMPLATE_YN": "Y"})}
    body = "".join(f'--{boundary}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in parts.items())
    body += f'--{boundary}\r\nContent-Disposition: form-data; name="upload_file"; filename="list.csv"\r\nContent-Type: text/csv\r\n\r\nhong,Hong\nnobody,No\r\n'
    kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    script.call("sends to a list", "POST", f"{mount}/rcv_register_csvmessage.ctl", kind, f"{body}--{boundary}--\r\n")

    def number(answer) -> str:
        found = answer.json().get("BODY") or {}
        return found.get("SENDMSG_SEQNO", "") if isinstance(found, dict) else ""

    hour = script.at.astimezone(SEOUL).strftime("%Y%m%d%H")
    mine = {"APP_ID": app, "CUID": "hong", "PSID": script.token("one again"), "PNSID": "APNS", "SENDDATE": hour, "DB_IN": "Y", "SENDERCODE": "admin"}
    post("acknowledges", "rcv_register_sent_ack", **mine, SEQNO=number(sent), AUTHKEY=key)
    post("acknowledges an unknown message", "rcv_register_sent_ack", **mine, SEQNO="99999999", AUTHKEY=key)
    second = mine | {"PSID": script.token("two")}
    post("acknowledges on the second device", "rcv_register_sent_ack", **second, SEQNO=number(one), AUTHKEY=key)
    post("reads and keeps the badge", "rcv_register_send_result", **mine, SEQNO=number(sent), BADGENO="-1", AUTHKEY=key)
    post("reads again", "rcv_register_send_result", **mine, SEQNO=number(sent), BADGENO="-1", AUTHKEY=key)
    post("sets a badge that is too large", "rcv_register_send_result", **mine, SEQNO=number(sent), BADGENO="1001", AUTHKEY=key)
    post("sets the badge", "rcv_init_badgeNo", APP_ID=app, CUID="hong", PSID=mine["PSID"], PNSID="APNS", DEVICE_ID=devices["one"], BADGENO="3", AUTHKEY=key)
    third = {"APP_ID": app, "CUID": "kim", "PSID": script.token("three"), "PNSID": "APNS", "AUTHKEY": other}
    post("the second user reads", "rcv_register_send_result", **third, SEQNO=number(sent), SENDDATE=hour, BADGENO="0")
    script.call("reports a session", "POST", "/mobile/last-session", {}, {"appId": app, "cuid": "hong"})
    script.call("reports a purchase", "POST", "/mobile/purchase", {}, {"appId": app, "id": "730", "cuid": "hong"})

    post("leaves the group", "rcv_delete_usergroup_user", APP_ID=app, CUID="hong", GROUPSEQ=group, AUTHKEY=key)
    post("removes the group", "rcv_delete_usergroup", APP_ID=app, GROUPSEQ=group, AUTHKEY=key)
    post("removes the user", "rcv_delete_user", **place("three", "three"), CUID="kim", AUTHKEY=other)
    post("removes the service", "rcv_delete_service", **place("two", "two"), CUID="hong", AUTHKEY=key)
    post("calls an unknown service", "rcv_unknown", APP_ID=app)
