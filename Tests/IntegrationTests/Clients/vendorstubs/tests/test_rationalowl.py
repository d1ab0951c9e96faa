"""RationalOwl: the documented examples, request and response, and the rules between them."""

import json

from ..rationalowl import RationalOwlStub
from .support import Bench, ContractTest, fixture

IOS = [("User-Agent", "umsDemo CFNetwork/1494.0.7 Darwin/23.4.0")]
ANDROID = [("User-Agent", "okhttp/4.11.0")]
DEVICE, OTHER = "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf", "d1" * 16
MESSAGE = "3f0c2c1e-0a55-4f6e-9a3c-5d2b9a1e7c11"
TOKEN = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"


def example(name: str) -> str:
    return fixture("RationalOwl", name)


class RationalOwlTests(ContractTest):
    def setUp(self):
        self.bench = Bench(RationalOwlStub)

    def post(self, path: str, body, headers=IOS):
        return self.bench.call("POST", path, body, headers)

    def install(self, key: str = DEVICE, **fields):
        return self.post("/pushApp/installApp", json.loads(example("installApp/minimal-2025.request.json")) | {"dRId": key} | fields)

    def sender(self) -> dict:
        self.post("/server/register/", example("serverRegister/server.request.json"))
        self.post("/msgClient/register", example("clientRegister/client.request.json"))
        return json.loads(example("clientRegister/client.request.json"))

    def send(self, name: str = "sendByDeviceID/devices.request.json", path: str = "msgClientSendMsgByDeviceId", **fields) -> str:
        answer = self.post(f"/msgClient/{path}", json.loads(example(name)) | fields)
        found = json.loads(answer.body)
        self.assertEqual(list(found), list(json.loads(example("sendByDeviceID/accepted.response.json"))), found)
        return found["mId"]

    def test_installApp(self):
        self.same(self.post("/pushApp/installApp", example("installApp/vendor-document.request.json")), example("installApp/first-time.response.json"))
        self.same(self.post("/pushApp/installApp", example("installApp/minimal-2025.request.json")), example("installApp/already.response.json"))
        wrong = example("installApp/minimal-2025.request.json").replace("a1b2c3d4-1111-4222-8333-444455556666", "00000000-0000-0000-0000-000000000000")
        self.same(self.post("/pushApp/installApp", wrong), example("installApp/unknown-account.response.json"))
        missing = json.loads(example("installApp/minimal-2025.request.json")) | {"dRId": ""}
        self.same(self.post("/pushApp/installApp", missing), example("installApp/missing-field.response.json"))
        unreadable = self.post("/pushApp/installApp", "{")
        self.assertEqual((unreadable.status, json.loads(unreadable.body)), (400, json.loads(example("installApp/unreadable.response.json"))))

    def test_a_new_device_of_a_phone_replaces_the_old_one(self):
        self.install(pn="01022221111")
        self.install(OTHER, pn="+82 10-2222-1111")
        self.assertEqual([d["state"] for d in self.bench.stub.devices.values()], ["replaced", "active"])

    def test_a_refreshed_token_replaces_the_old_one_and_moves(self):
        self.install(tk=TOKEN.upper(), env="dev")
        self.install(OTHER, tk=TOKEN)
        self.assertEqual([d["token"] for d in self.bench.stub.devices.values()], ["", TOKEN])

    def test_unregUser(self):
        self.install()
        self.install(OTHER, pn="01022221111")
        self.same(self.post("/pushApp/unregUser", example("unregUser/device.request.json")), example("unregUser/device.response.json"))
        self.same(self.post("/pushApp/unregUser", example("unregUser/phone.request.json")), example("unregUser/phone.response.json"))
        self.assertEqual({d["state"] for d in self.bench.stub.devices.values()}, {"unregistered"})
        missing = json.loads(example("unregUser/device.request.json"))
        del missing["dRId"]
        self.same(self.post("/pushApp/unregUser", missing), example("unregUser/missing-field.response.json"))
        wrong = json.loads(example("unregUser/device.request.json")) | {"aId": "00000000-0000-0000-0000-000000000000"}
        self.same(self.post("/pushApp/unregUser", wrong), example("unregUser/unknown-account.response.json"))

    def test_phone_verification(self):
        self.same(self.post("/pushApp/reqAuthNumber", example("reqAuthNumber/phone.request.json")), example("reqAuthNumber/sent.response.json"))
        self.same(self.post("/pushApp/reqAuthNumber", example("reqAuthNumber/phone.request.json")), example("reqAuthNumber/not-sent.response.json"))
        code = json.loads(example("verifyAuthNumber/code.request.json"))
        self.same(self.post("/pushApp/verifyAuthNumber", code), example("verifyAuthNumber/right-ios.response.json"))
        self.same(self.post("/pushApp/verifyAuthNumber", code | {"dt": 1}, ANDROID), example("verifyAuthNumber/right-android.response.json"))
        self.same(self.post("/pushApp/verifyAuthNumber", code | {"an": "2"}), example("verifyAuthNumber/wrong-ios.response.json"))
        self.same(self.post("/pushApp/verifyAuthNumber", code | {"an": "2", "dt": 1}, ANDROID), example("verifyAuthNumber/wrong-android.response.json"))

    def test_notiRead_always_answers_ok(self):
        for name in ("notiRead/vendor-document.request.json", "notiRead/current.request.json"):
            answer = self.post("/pushApp/notiRead", example(name))
            self.assertEqual((answer.status, answer.body, answer.headers), (200, b"ok", [("Content-Type", "text/plain; charset=utf-8")]))
        self.assertEqual((self.post("/pushApp/notiRead", "no").status, self.post("/pushApp/notiRead", "no").body), (400, b"error"))

    def place_message(self, a=None, m=None) -> None:
        target = {"pn": "", "dRId": DEVICE, "named": DEVICE, "un": "", "s": 2, "st": 1, "nt": 0, "rt": 0, "a": a, "m": m, "push": 0}
        self.bench.stub.messages[MESSAGE] = {"mId": MESSAGE, "client": "", "by": "dId", "targets": [target]}

    def test_msgInfo(self):
        self.install()
        current, older = example("msgInfo/current.request.json"), example("msgInfo/vendor-document.request.json")
        unknown = current.replace(MESSAGE, "11111111-2222-3333-4444-555555555555")
        self.same(self.post("/pushApp/msgInfo", unknown), example("msgInfo/unknown-message.response.json"))
        self.place_message()
        self.same(self.post("/pushApp/msgInfo", current), example("msgInfo/push-only.response.json"))
        self.place_message({"s": 3, "st": 1731999999123}, {"t": 13, "s": 2, "st": 1732000059456})
        self.same(self.post("/pushApp/msgInfo", current), example("msgInfo/fallback-ios.response.json"))
        wrong = current.replace("a1b2c3d4-1111-4222-8333-444455556666", "00000000-0000-0000-0000-000000000000")
        self.same(self.post("/pushApp/msgInfo", wrong), example("msgInfo/unknown-account.response.json"))
        self.install(dt=1)
        self.same(self.post("/pushApp/msgInfo", current), example("msgInfo/fallback-android.response.json"))
        self.same(self.post("/pushApp/msgInfo", older), example("msgInfo/fallback-android-legacy.response.json"))

    def test_imgData(self):
        request = json.loads(example("imgData/image.request.json"))
        self.same(self.post("/pushApp/imgData", request), example("imgData/unknown-image.response.json"))
        data = json.loads(example("imgData/found.response.json"))["imgD"]
        self.bench.stub.images[request["iId"]] = {"iId": request["iId"], "mId": request["mId"], "data": data}
        self.same(self.post("/pushApp/imgData", request), example("imgData/found.response.json"))
        wrong = request | {"aId": "00000000-0000-0000-0000-000000000000"}
        self.same(self.post("/pushApp/imgData", wrong), example("imgData/unknown-account.response.json"))

    def test_registration_of_a_sender(self):
        wrong = json.loads(example("serverRegister/server.request.json")) | {"serviceId": "other"}
        self.same(self.post("/server/register/", wrong), example("serverRegister/unknown-service.response.json"))
        self.same(self.post("/server/register/", example("serverRegister/server.request.json")), example("serverRegister/registered.response.json"))
        client = json.loads(example("clientRegister/client.request.json"))
        first = json.loads(self.post("/msgClient/register", client).body)
        wanted = json.loads(example("clientRegister/new.response.json"))
        self.assertEqual(first, wanted | {"srId": first["srId"]})
        again = json.loads(example("clientRegister/already.response.json")) | {"srId": first["srId"]}
        self.same(self.post("/msgClient/register", client), json.dumps(again))
        self.same(self.post("/msgClient/register", client | {"rId": ""}), example("clientRegister/missing-field.response.json"))
        self.same(self.post("/msgClient/register", client | {"aId": "other"}), example("clientRegister/unknown-account.response.json"))
        self.same(self.post("/msgClient/setCallbackUrl", example("setCallbackURL/set.request.json")), example("setCallbackURL/set.response.json"))

    def test_a_send_needs_a_registered_client(self):
        for path in ("msgClientSendMsgByPhoneNum", "sendMsg", "sendMsgByPhoneNum"):
            self.same(self.post(f"/msgClient/{path}", example("sendByPhoneNumber/simple.request.json")), example("sendByPhoneNumber/unknown-sender.response.json"))

    def test_a_send_pushes_the_documented_payload_once_per_device(self):
        self.sender()
        self.install(tk=TOKEN)
        number = self.send()
        self.assertEqual([(p.device, p.token) for p in self.bench.pushes()], [(DEVICE, TOKEN)])
        image = {"imgN": "a", "imgD": "AAAA", "imgS": 3}
        number = self.send(img=image)
        payload = json.loads((push := self.bench.pushes()[0]).payload)
        wanted = json.loads(example("payload/alert.json"))
        self.assertEqual(list(payload), list(wanted))
        changed = {"mId": number, "st": str(self.bench.at), "ii": payload["ii"]}
        self.assertEqual(payload, wanted | changed)
        self.assertEqual(push.headers["apns-collapse-id"], number)

    def test_targets_without_app_get_the_paid_fallback_at_once(self):
        self.sender()
        self.bench.stub.settings["templates"] = '{"77777777-8888-4999-8aaa-bbbbbbbbbbbb":"#{고객명}님 #{배송시간}"}'
        everything = json.loads(example("sendByPhoneNumber/everything.request.json")) | {"rv": {"t": 1}}
        number = self.send("sendByPhoneNumber/everything.request.json", "sendMsg", rv={"t": 1})
        self.assertEqual([(p["message"], p["target"], p["kind"]) for p in self.bench.stub.paid], [(number, "01022222222", "alimtalk")])
        self.assertEqual(self.bench.stub.messages[number]["body"], "홍길동님 13시")
        self.same(self.post("/msgClient/sendMsg", everything | {"a": {"s": 2, "t": 12, "sp": "01000000000"}}),
                  '{"rc":-1,"cmt":"필수 항목이 없거나 잘못되었습니다: a.sp","error":"sending number"}')  # fmt: skip

    def test_a_missing_receipt_is_paid_and_a_receipt_is_not(self):
        self.sender()
        self.install(tk=TOKEN, pn="01011111111")
        self.install(OTHER, tk="00" * 32, pn="01022222222")
        number = self.send("sendByPhoneNumber/everyone.request.json", "sendMsg")
        self.bench.stub.now = self.bench.at
        self.assertEqual(self.bench.stub.control("gate/delivered", {"dRId": DEVICE, "mId": number}), {"known": True})
        self.bench.wait(59_000)
        self.assertEqual(self.bench.stub.paid, [])
        self.bench.wait(2_000)
        self.assertEqual([(p["target"], p["kind"]) for p in self.bench.stub.paid], [("01022222222", "sms")])
        self.assertEqual([t["s"] for t in self.bench.stub.messages[number]["targets"]], [3, 5])

    def test_a_reserved_send_waits_for_its_time(self):
        self.sender()
        self.install(tk=TOKEN, pn="01022222222")
        number = self.send("sendByPhoneNumber/simple.request.json", "sendMsg", rv={"t": 2, "st": "2026/1/1 9:5:0"})
        self.assertEqual(self.bench.pushes(), [])
        self.bench.wait(5 * 60_000)
        self.assertEqual([p.message for p in self.bench.pushes()], [number])

    def test_the_tracking_callback(self):
        self.sender()
        self.post("/msgClient/setCallbackUrl", example("setCallbackURL/set.request.json"))
        self.install(tk=TOKEN)
        number = self.send()
        self.post("/pushApp/notiRead", {"cId": 311, "aId": self.bench.stub["account"], "dRId": DEVICE, "mId": number})
        read = self.bench.at
        self.bench.wait(1000)
        (url, body), = self.bench.stub.callbacks.values()  # fmt: skip
        self.assertEqual(url, json.loads(example("setCallbackURL/set.request.json"))["url"])
        found = json.loads(body)
        shape = json.loads(example("callback/device.json"))[0]
        self.assertEqual(list(found[0]), list(shape))
        self.assertEqual(found[0]["ds"][0], {"dId": DEVICE, "p": {"s": 4, "st": read - 1, "nt": read, "rt": read}})
        self.assertEqual(found[0]["ds"][1]["p"], {"s": 6, "st": read - 1})

    def test_a_silent_custom_push(self):
        self.sender()
        self.install(tk=TOKEN)
        wanted = json.loads(example("payload/silent.json"))
        data = {"numberData": 11111, "stringData": wanted["stringData"]}
        core = {"serviceId": self.bench.stub["service"], "serverRegId": self.bench.stub["server"]}
        number = self.bench.json("POST", "/custompush/multicast/", core | {"deviceRegIds": [DEVICE], "silent": 1, "data": data})["mId"]
        push = self.bench.pushes()[0]
        self.assertEqual(json.loads(push.payload), wanted | {"mId": number, "st": str(self.bench.at)})
        self.assertEqual((push.headers["apns-push-type"], push.headers["apns-priority"]), ("background", "5"))

    def test_a_dead_token_is_forgotten(self):
        self.sender()
        self.install(tk=TOKEN)
        self.send()
        push = self.bench.pushes()[0]
        push.state, push.status, push.reason = "rejected", 410, "Unregistered"
        self.bench.stub.outcome(push)
        self.assertEqual(self.bench.stub.devices[DEVICE]["token"], "")

    def test_other_methods_sizes_and_paths(self):
        self.assertEqual(self.bench.call("GET", "/pushApp/installApp").status, 405)
        self.assertEqual(self.post("/pushApp/none", {}).status, 404)
        self.assertEqual(self.post("/pushApp/installApp", b"x" * 70_000).status, 413)
        self.bench.stub.settings["callsPerSecond"] = 1
        self.assertEqual([self.post("/pushApp/none", {}).status for _ in range(2)][1], 429)
