"""RationalOwl and RationalUMS: sign-up with phone verification, token refresh, groups, sends by phone and device, reservation, receipts, unregistration."""

from datetime import timedelta

from ..stub import SEOUL
from .script import Script

ACCOUNT = "a1b2c3d4-1111-4222-8333-444455556666"
SERVICE = "0123456789abcdef0123456789abcdef"
IOS = {"User-Agent": "umsDemo/1 CFNetwork/1494.0.7 Darwin/23.4.0"}
ANDROID = {"User-Agent": "okhttp/4.11.0"}


def play(script: Script, settings: dict[str, str]) -> None:
    account, service = settings.get("account", ACCOUNT), settings.get("service", SERVICE)
    one, two, three = (script.hex(f"device {name}", 32) for name in ("one", "two", "three"))
    phone, other = "010" + str(int(script.hex("phone", 8), 16) % 10**8).zfill(8), "010" + str(int(script.hex("other", 8), 16) % 10**8).zfill(8)

    def device(name: str, call: str, number: int, headers: dict = IOS, **fields):
        return script.call(name, "POST", f"/pushApp/{call}", headers, {"cId": number, "aId": account, **fields})

    def post(name: str, path: str, **fields):
        return script.call(name, "POST", path, {}, fields)

    # An app signs up.
    device("requests a number", "reqAuthNumber", 301, cc="82", pn=phone)
    device("verifies a wrong number", "verifyAuthNumber", 302, dt=2, pn=phone, an="0000")
    device("verifies the number", "verifyAuthNumber", 302, dt=2, pn=phone, an="1111")
    device("installs", "installApp", 303, dt=2, dRId=one, pn=phone, auId="gildong", n="홍길동", tk=script.token("one"), env="dev")
    device("refreshes the token", "installApp", 303, dt=2, dRId=one, pn=phone, auId="gildong", n="홍길동", tk=script.token("one again"), env="dev")
    device("installs a second device", "installApp", 303, dt=2, dRId=two, pn=other, auId="gildong", tk=script.token("two"))
    device("installs on Android", "installApp", 303, ANDROID, dt=1, dRId=three)
    device("names no device", "installApp", 303, dt=2)
    script.call("installs for another account", "POST", "/pushApp/installApp", IOS, {"cId": 303, "aId": "00000000-0000-0000-0000-000000000000", "dt": 2, "dRId": one})
    script.call("sends no JSON", "POST", "/pushApp/installApp", {"Content-Type": "application/json", **IOS}, "{")

    # A back end registers and sends.
    registered = post("registers the server", "/server/register/", serviceId=service, registerName="shop backend 1", privateNetwork=1)
    server = registered.json().get("serverRegId", "")
    sender = {"rId": server, "aId": account, "ip": "203.0.113.10"}
    post("sends before it is a client", "/msgClient/msgClientSendMsgByDeviceId", **sender, msg={"body": "x"}, dest={"t": 2, "tg": [{"dId": one}]})
    post("registers the client", "/msgClient/register", cId=1, r=1, t=12, sId=service, **sender, mcn="shop backend 1")
    post("registers the client again", "/msgClient/register", cId=1, r=1, t=12, sId=service, **sender, mcn="shop backend 1")
    # An address of this machine where nothing listens, and which is removed before a change is reported.
    post("sets its callback", "/msgClient/setCallbackUrl", sId=service, **sender, url="http://127.0.0.1:9/ums/callback")
    post("removes its callback", "/msgClient/setCallbackUrl", sId=service, **sender, url="")
    core = {"serviceId": service, "serverRegId": server}
    group = post("creates a group", "/deviceGroup/create/", **core, groupName="vip", description="VIP", deviceList=[one]).json().get("groupId", "")
    post("adds to the group", "/deviceGroup/add/", **core, groupId=group, deviceList=[two, "unknown"])
    msg = {"title": "공지", "body": "공지사항입니다~"}
    sent = post("sends by device", "/msgClient/msgClientSendMsgByDeviceId", **sender, msg=msg, dest={"t": 2, "tg": [{"dId": one}, {"dId": "unknown"}]})
    to_phone = post("sends by phone", "/msgClient/msgClientSendMsgByPhoneNum", **sender, msg={"body": "안내"}, dest={"t": 2, "tg": [{"pn": other, "un": "홍길동"}]})
    later = (script.at + timedelta(days=1)).astimezone(SEOUL)
    time = f"{later.year}/{later.month}/{later.day} {later.hour}:{later.minute}:{later.second}"
    post("reserves", "/msgClient/sendMsg", **sender, msg=msg, dest={"t": 2, "tg": [{"pn": phone}]}, rv={"t": 2, "st": time})
    post("names no target", "/msgClient/sendMsg", **sender, msg=msg, dest={"t": 2, "tg": []})
    image = {"imgN": "box.jpg", "imgD": "/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAMCAgMC", "imgS": 30}
    post("sends an image to all", "/msgClient/sendMsg", **sender, msg={"body": "점검 안내"}, img=image, dest={"t": 1})
    custom = post("sends a custom push", "/custompush/group/", **core, groupId=group, silent=0, data={"notiTitle": "제목", "notiBody": "내용", "number": 11111})

    custom_data = {"silent": 1, "data": {"numberData": 11111, "stringData": "what you want"}}
    post("sends a silent push", "/custompush/multicast/", **core, deviceRegIds=[one, "unknown"], **custom_data)
    post("sends a silent push to all", "/custompush/broadcast/", **core, **custom_data)
    post("sends a custom push again", "/custompush/retry/", **core, msgId=custom.json().get("mId", ""), retryCondition=1)
    data = {"queuing": 1, "data": '{"k":1}', "notiTitle": "제목", "notiBody": "내용", "notiSound": "my_custom_sound.wav"}
    post("sends data", "/downstream/multicast/", **core, deviceRegIds=[one], **data)
    post("sends data to all", "/downstream/broadcast/", **core, **data)
    post("sends data to the group", "/downstream/group/", **core, groupId=group, **data)
    post("sends data to an unknown group", "/downstream/group/", **core, groupId="unknown", **data)

    # The devices answer.
    number = sent.json().get("mId", "")
    device("reads", "notiRead", 311, dRId=one, mId=number)
    device("reads again, as an older app", "notiRead", 311, r=1, dRId=one, pn=phone, mId=number)
    device("reads on the second device", "notiRead", 311, dRId=two, mId=to_phone.json().get("mId", ""))
    device("reads an unknown message", "notiRead", 311, dRId=one, mId="11111111-2222-4333-8444-555555555555")
    device("asks for the state", "msgInfo", 312, dRId=one, mId=number)
    device("asks for the state, as an older app", "msgInfo", 312, dRId=one, pn=phone, mId=number)
    device("asks for an unknown message", "msgInfo", 312, dRId=one, mId="11111111-2222-4333-8444-555555555555")
    device("asks for an unknown image", "imgData", 313, iId="9d5a0c7be1f74d0c8f0d3f6b1a2c4e5d", mId=number)
    ids = [n for n in (number, custom.json().get("mId", "")) if n]
    post("reads statistics", "/tracking/msgStats/", **core, msgIds=ids)
    post("reads the devices of a message", "/tracking/msgDeviceDetail/", **core, msgId=ids[-1] if ids else "", msgState=0, deviceType=0, startIndex=0, fetchSize=500)
    page = {"msgId": ids[-1] if ids else "", "msgState": 0, "deviceType": 0, "startIndex": 0, "fetchSize": 500}
    post("reads the devices that have it", "/tracking/msgDevices/", **core, **page)
    post("reads them as the old tester does", "/tracking/msgDetail/", **core, **page)
    post("reads the devices of messages", "/tracking/batchMsgDevices/", **core, msgIds=ids, msgState=2)
    post("reads the details of messages", "/tracking/batchMsgDeviceDetail/", **core, msgIds=ids, msgState=0)
    post("lists the devices of the group", "/sync/groupDeviceIds/", **core, groupId=group, startIndex=0, fetchSize=2000)
    post("lists the devices", "/sync/deviceIds/", **core, startIndex=0, fetchSize=2000)
    post("takes from the group", "/deviceGroup/subtract/", **core, groupId=group, deviceList=[two])
    post("removes the group", "/deviceGroup/remove/", **core, groupId=group)

    # The devices and the back end leave.
    post("removes a device", "/sync/deleteDevices/", **core, deviceIds=[three])
    device("leaves", "unregUser", 305, dRId=two)
    device("leaves, as an older app", "unregUser", 305, pn=phone)
    device("leaves without a name", "unregUser", 305)
    post("unregisters the server", "/server/unregister/", **core)
    post("names another service", "/server/register/", serviceId="other", registerName="x")
    script.call("calls an unknown path", "POST", "/pushApp/unknown", IOS, {"aId": account})
