"""iPNS: the documented examples, request and response, and the rules between them."""

import json
import re

from ..ipns import IPNSStub
from .support import Bench, ContractTest, fixture

TOKEN = "9f2c" + "0" * 60
# 2020-01-15T09:00:00 in Seoul, the time of the documented examples.
EXAMPLE_TIME = 1_579_046_400_000


def exchanges(name: str) -> list[tuple[str, dict, str]]:
    """Path, request and response text of each exchange of an example."""
    text = fixture("IPNS", name, **{"9f2c…64hex": TOKEN, "5B1C…": "5B1C"})
    found = re.findall(r"^POST (\S+)[^\n]*\n(\{.*?\})\n→ (\{.*?\})\s*(?=\nPOST|\Z)", text, re.DOTALL | re.MULTILINE)
    return [(path, json.loads(request), response) for path, request, response in found]


class IPNSTests(ContractTest):
    def setUp(self):
        self.bench = Bench(IPNSStub, EXAMPLE_TIME)
        (self.path, self.registration, self.registered), = exchanges("appRegist.txt")  # fmt: skip

    def post(self, path: str, body, *headers):
        return self.bench.call("POST", path, body, list(headers))

    def code(self, operation: str, **fields) -> str:
        return json.loads(self.post(f"/ipns/{operation}", {"APP_ID": "hr.mobile", "DEVICE_ID": "5B1C", **fields}).body)["RT"]

    def register(self, **fields):
        return self.post(self.path, self.registration | fields)

    def send(self, **fields) -> dict:
        (path, request, _), = exchanges("send.txt")  # fmt: skip
        return json.loads(self.post(path, request | fields, ("Authorization", "Bearer stub-api-key")).body)

    def test_appRegist(self):
        self.same(self.register(), self.registered)
        self.assertEqual(self.code("appRegist", USER_CN="", PUSH_TOKEN=TOKEN), "2001")
        self.assertEqual(self.code("appRegist", USER_CN="E1", PUSH_TOKEN="9f2c"), "1305")
        self.assertEqual(self.code("appRegist", APP_ID="other"), "1400")
        self.assertEqual(self.code("appRegist", APP_ID=""), "2001")

    def test_a_registration_without_PUSH_YN_keeps_the_setting(self):
        self.register(PUSH_YN="N")
        del self.registration["PUSH_YN"]
        self.assertEqual(json.loads(self.register().body)["PUSH_YN"], "N")

    def test_config(self):
        self.register()
        for path, request, response in exchanges("config.txt"):
            self.same(self.post(path, request), response)
        self.assertEqual(self.code("updateConfig", START_TIME="2460"), "2002")
        self.assertEqual(self.code("getConfig", DEVICE_ID="unknown"), "2003")

    def test_send_history_detail_and_read(self):
        self.register()
        (_, _, wanted), = exchanges("send.txt")  # fmt: skip
        answer = self.send()
        self.assertEqual(list(answer), list(json.loads(wanted)))
        self.assertEqual(answer, json.loads(wanted) | {"MESSAGE_ID": answer["MESSAGE_ID"]})
        self.assertRegex(answer["MESSAGE_ID"], r"^20200115090000\d{4}$")
        push, = self.bench.pushes()  # fmt: skip
        shape = json.loads(fixture("IPNS", "payload.json"))
        self.assertEqual((list(json.loads(push.payload)), push.token), (list(shape), TOKEN))
        (path, request, listed), = exchanges("getMsgs.txt")  # fmt: skip
        found = json.loads(self.post(path, request).body)
        first = json.loads(listed)["LIST"][0]
        self.assertEqual(found["LIST"], [first | {"REQ_ID": answer["MESSAGE_ID"]}])
        self.assertEqual(found["COUNT"], 1)
        (path, request, _), = exchanges("readReport.txt")  # fmt: skip
        self.same(self.post(path, request | {"REQ_ID": answer["MESSAGE_ID"]}), exchanges("readReport.txt")[0][2])
        self.assertEqual(self.code("readReport", REQ_ID="202001150900009999"), "2004")
        detail = self.bench.json("POST", "/ipns/getMsgDetail", {"APP_ID": "hr.mobile", "DEVICE_ID": "5B1C", "REQ_ID": answer["MESSAGE_ID"]})
        self.assertEqual(detail["ITEM"], first | {"REQ_ID": answer["MESSAGE_ID"], "READ_YN": "Y"})

    def test_polling_is_oldest_first_and_marks_received(self):
        self.register()
        sent = [self.send()["MESSAGE_ID"] for _ in range(5)]
        (path, request, wanted), = exchanges("polling.txt")  # fmt: skip
        first = self.bench.json("POST", path, request | {"COUNT": 2})
        self.assertEqual(([m["REQ_ID"] for m in first["LIST"]], first["REMAIN"]), (sent[:2], 3))
        self.assertEqual(list(first), re.findall(r'"(\w+)":', wanted))
        rest = self.bench.json("POST", path, request | {"COUNT": 50})
        self.assertEqual(([m["REQ_ID"] for m in rest["LIST"]], rest["REMAIN"]), (sent[2:], 0))

    def test_a_send_needs_the_key_and_targets(self):
        self.register()
        self.assertEqual(self.code("send", PUSH_ID=["E12345"]), "9999")
        self.assertEqual(self.send(PUSH_ID=["E00000"])["RT"], "2003")
        self.assertEqual(self.send(ALERT="x" * 5000)["RT"], "1036")
        self.assertEqual(self.send(SEND_TYPE="R", RESV_DATE="soon")["RT"], "2002")
        self.assertEqual(self.bench.pushes(), [])

    def test_outside_the_window_a_message_is_kept_and_not_pushed(self):
        self.register()
        self.code("updateConfig", START_TIME="1000", END_TIME="0859")
        self.send()
        self.assertEqual(self.bench.pushes(), [])
        self.assertEqual(self.bench.json("POST", "/ipns/polling", {"APP_ID": "hr.mobile", "DEVICE_ID": "5B1C"})["REMAIN"], 0)

    def test_the_front_door_reads_forms_queries_and_commands(self):
        self.register()
        form = [("Content-Type", "application/x-www-form-urlencoded")]
        self.assertEqual(self.bench.json("POST", "/ipns/GET_CONFIG", "appid=hr.mobile&DeviceId=5B1C", form)["RT"], "0000")
        self.assertEqual(self.bench.json("GET", "/ipns/getConfig?APPID=hr.mobile&device-id=5B1C")["RT"], "0000")
        self.assertEqual(self.bench.json("POST", "/ipns/x", {"cmd": "getConfig", "APP_ID": "hr.mobile", "DEVICE_ID": "5B1C"})["RT"], "0000")
        self.assertEqual(self.code("unknown"), "9999")
        self.assertEqual(self.post("/ipns/getConfig", "{").status, 400)
