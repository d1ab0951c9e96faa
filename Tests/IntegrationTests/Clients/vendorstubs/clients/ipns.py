"""iPNS: registration, token refresh, settings, sends, reservation, receipts, history, polling."""

from datetime import timedelta

from ..stub import SEOUL
from .script import Script


def play(script: Script, settings: dict[str, str]) -> None:
    app, mount, key = settings.get("app", "hr.mobile"), settings.get("mount", "/ipns"), settings.get("apiKey", "stub-api-key")
    one, two, three = (script.uuid(f"device {name}") for name in ("one", "two", "three"))

    def post(name: str, operation: str, headers: dict | None = None, **fields):
        return script.call(name, "POST", f"{mount}/{operation}", headers, {"APP_ID": app, **fields})

    def send(name: str, authorization: str = key, **fields):
        return post(name, "send", {"Authorization": f"Bearer {authorization}"}, **fields)

    post("registers", "appRegist", USER_CN="E12345", DEVICE_ID=one, PUSH_TOKEN=script.token("one"), PUSH_TYPE="ios", PUSH_YN="Y")
    post("refreshes the token", "appRegist", USER_CN="E12345", DEVICE_ID=one, PUSH_TOKEN=script.token("one again"), PUSH_TYPE="ios")
    post("registers a second device", "appRegist", USER_CN="E12345", DEVICE_ID=two, PUSH_TOKEN=script.token("two"), PUSH_TYPE="ios")
    post("registers a second user", "appRegist", USER_CN="E77777", DEVICE_ID=three, PUSH_TOKEN=script.token("three"), PUSH_TYPE="ios")
    post("registers without a user", "appRegist", USER_CN="", DEVICE_ID=one, PUSH_TOKEN=script.token("one"))
    post("registers a broken token", "appRegist", USER_CN="E12345", DEVICE_ID=one, PUSH_TOKEN="zz")
    script.call("registers at another app", "POST", f"{mount}/appRegist", None, {"APP_ID": "other", "USER_CN": "E12345", "PUSH_TOKEN": script.token("one")})
    form = f"app_id={app}&deviceid={one}"
    script.call("reads its settings by form", "POST", f"{mount}/getConfig", {"Content-Type": "application/x-www-form-urlencoded"}, form)
    post("changes its settings", "updateConfig", DEVICE_ID=one, START_TIME="0000", END_TIME="2359", PUSH_YN="Y", CP_USER_ID="E12345")
    post("sets a wrong time", "updateConfig", DEVICE_ID=one, START_TIME="2560")
    post("reads its settings", "getConfig", DEVICE_ID=one)

    words = {"TITLE": "Approval", "ALERT": "You have a new approval", "MESSAGE": '{"docId":"A-77"}', "SOUND": "default", "BADGE": 1}
    now = {"PRIORITY": "3", "SEND_TYPE": "I", "RESV_DATE": "", "REPORT_URL": ""}
    first = send("sends to users", PUSH_ID_TYPE="@01", PUSH_ID=["E12345", "E77777", "E00000"], **now, **words).json().get("MESSAGE_ID", "")
    second = send("sends to a device", PUSH_ID_TYPE="@00", PUSH_ID=[two], **now, **words).json().get("MESSAGE_ID", "")
    send("sends with a wrong key", "wrong", PUSH_ID_TYPE="@00", PUSH_ID=[two], **now, **words)
    send("sends to nobody", PUSH_ID_TYPE="@01", PUSH_ID=["E00000"], **now, **words)
    send("sends without text", PUSH_ID_TYPE="@01", PUSH_ID=["E12345"], **now)
    later = (script.at + timedelta(days=1)).astimezone(SEOUL).strftime("%Y%m%d%H%M%S")
    send("reserves", PUSH_ID_TYPE="@01", PUSH_ID=["E77777"], **(now | {"SEND_TYPE": "R", "RESV_DATE": later}), **words)

    post("polls", "polling", DEVICE_ID=three, USER_CN="E77777", COUNT=10)
    post("polls again", "polling", DEVICE_ID=three, USER_CN="E77777", COUNT=10)
    post("acknowledges", "recvReport", DEVICE_ID=one, MSG_ID=first)
    post("reads", "readReport", DEVICE_ID=one, USER_CN="E12345", REQ_ID=first)
    post("reads again", "readReport", DEVICE_ID=one, USER_CN="E12345", REQ_ID=first)
    post("reads an unknown message", "readReport", DEVICE_ID=one, USER_CN="E12345", REQ_ID="200001010000000001")
    post("reads on the second device", "readReport", DEVICE_ID=two, USER_CN="E12345", REQ_ID=second)
    post("reads from an unknown device", "readReport", DEVICE_ID="unknown", REQ_ID=first)
    post("lists by user", "getMsgs", DEVICE_ID=one, USER_CN="E12345", PUSH_ID_TYPE="@01", REQ_ID="", REQ_TYPE="N", COUNT=20)
    post("lists by device", "getMsgs", DEVICE_ID=two, USER_CN="E12345", PUSH_ID_TYPE="@00", REQ_ID="", REQ_TYPE="N", COUNT=1)
    post("lists older ones", "getMsgs", DEVICE_ID=two, USER_CN="E12345", PUSH_ID_TYPE="@00", REQ_ID=second, REQ_TYPE="O", COUNT=20)
    post("lists in a wrong way", "getMsgs", DEVICE_ID=two, PUSH_ID_TYPE="@02", REQ_ID="", REQ_TYPE="N")
    post("reads a detail", "getMsgDetail", DEVICE_ID=one, REQ_ID=first)
    post("reads a foreign detail", "getMsgDetail", DEVICE_ID=three, REQ_ID=second)
    post("switches push off", "updateConfig", DEVICE_ID=three, PUSH_YN="N")
    post("calls an unknown operation", "unknown")
