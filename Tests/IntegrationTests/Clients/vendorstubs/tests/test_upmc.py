"""UPMC: the documented examples, request and response, and the rules between them."""

import hashlib
import json
import re
from urllib.parse import quote

from ..upmc import UPMCStub
from .support import Bench, ContractTest, fixture

TOKEN, OTHER = "9f2c" + "0" * 60, "aa" * 32
FORM = [("Content-Type", "application/x-www-form-urlencoded")]
# 2016-04-14T17:22:00 in Seoul, the time of the documented payloads.
EXAMPLE_TIME = 1_460_622_120_000


def requests(name: str) -> list[tuple[str, str]]:
    """Path and body of each call of an example; the texts that the document shortens are filled in, explanations are left out."""
    text = fixture("UPMC", name, **{"9f2c…64hex": TOKEN, "9f2c…": TOKEN, "6F0A…-UUID": "6F0A", "c2be…": "6F0A", "AUTHKEY=…": "AUTHKEY="})
    text = re.sub(r"\s{3,}\(.*?\)|^#.*$", "", text, flags=re.MULTILINE)
    found = re.findall(r"POST (/upmc/\S+)\s+(.*?)(?=\nPOST|\n\n|\Z)", text, re.DOTALL)
    return [(path, re.sub(r"\s*\n\s*", "", body)) for path, body in found]


class UPMCTests(ContractTest):
    def setUp(self):
        self.bench = Bench(UPMCStub, EXAMPLE_TIME)

    def post(self, service: str, body: str | None = None, **fields):
        whole = body if body is not None else "&".join(f"{k}={quote(str(v), safe='')}" for k, v in ({"APP_ID": "com.example.app"} | fields).items())
        return self.bench.call("POST", service if service.startswith("/") else f"/upmc/{service}.ctl", whole, FORM)

    def code(self, service: str, **fields) -> str:
        return json.loads(self.post(service, **fields).body)["HEADER"]["RESULT_CODE"]

    def first(self, service: str, **fields) -> dict:
        return json.loads(self.post(service, **fields).body)["BODY"][0]

    def register(self, cuid: str = "hong", device: str = "6F0A", token: str = TOKEN, **more) -> dict:
        return self.first("new_rcv_register_service_and_user", CUID=cuid, CNAME=cuid.title(), DEVICE_ID=device, PNSID="APNS", PSID=token, **more)

    def send(self, **fields) -> dict:
        common = {"TYPE": "E", "CUID": "hong", "MESSAGE": "Hello", "SERVICECODE": "ALL", "SENDERCODE": "admin", "PRIORITY": "3", "BADGENO": "0"}
        return json.loads(self.post("rcv_register_message", **(common | fields)).body)

    def same_example(self, response, name: str, **replaced):
        """The answer is the documented one, except for keys that each server draws."""
        wanted, found = json.loads(fixture("UPMC", name)), json.loads(response.body)
        body = found["BODY"][0] if isinstance(found["BODY"], list) and found["BODY"] else found["BODY"]
        shape = wanted["BODY"][0] if isinstance(wanted["BODY"], list) else wanted["BODY"]
        self.assertEqual(list(body), list(shape))
        shape.update({key: body[key] for key in ("AUTHKEY", "PSID", "SENDMSG_SEQNO", "RESERVE_SEQNO") if key in shape} | replaced)
        self.assertEqual(found, wanted)

    def test_asking_authorization(self):
        (path, body), = requests("asking_authorization/before.request.txt")  # fmt: skip
        self.same_example(self.post(path, body), "asking_authorization/issued.response.json")

    def test_registration(self):
        (path, body), = requests("rcv_register_service/guest.request.txt")  # fmt: skip
        self.same_example(self.post(path, body), "rcv_register_service/registered.response.json")
        (path, body), = requests("new_rcv_register_service_and_user/combined.request.txt")  # fmt: skip
        self.same_example(self.post(path, body), "new_rcv_register_service_and_user/registered.response.json")
        self.same_example(self.post("rcv_get_service", PNSID="APNS", DEVICE_ID="6F0A", PSID=TOKEN, CUID="hong"), "rcv_get_service/registered.response.json")
        self.assertEqual(self.first("rcv_get_service", PNSID="APNS", DEVICE_ID="6F0A", PSID=TOKEN, CUID="kim")["ISREGISTERED"], "C")
        self.assertEqual(self.first("rcv_get_service", PNSID="APNS", DEVICE_ID="6F0A", PSID=OTHER)["ISREGISTERED"], "N")

    def test_refused_registrations(self):
        fields = {"CUID": "hong", "DEVICE_ID": "6F0A", "PNSID": "APNS", "PSID": TOKEN}
        for wrong in ({"APP_ID": "other"}, {"PSID": "{length = 32, bytes = 0x00}"}, {"PSID": ""}, {"DEVICE_ID": ""}, {"CUID": ""}):
            self.assertEqual(self.code("new_rcv_register_service_and_user", **(fields | wrong)), "40000", wrong)
        self.assertEqual(self.code("rcv_register_user", **fields), "4400")
        self.assertEqual(self.code("rcv_unknown"), "40000")

    def test_the_old_dialect_registers_the_same_row(self):
        self.post("rcv_register_service", CUST_CD="x", DVC_ID="6F0A", DVC_TYP="I", PNS_ID="APNS", PSID=f"<{TOKEN[:8]} {TOKEN[8:].upper()}>", CBS_ID="com.example.app")
        self.register()
        self.assertEqual([(d["key"], d["psid"], d["cuid"]) for d in self.bench.stub.devices.values()], [("APNS:6F0A", TOKEN, "hong")])

    def test_a_refreshed_token_and_a_moved_one(self):
        self.register(token=OTHER)
        self.register(token=TOKEN)
        self.assertEqual(self.register(device="B", token=TOKEN)["DEVICEID_CHANGE_YN"], "Y")
        self.assertEqual([(d["device"], d["psid"]) for d in self.bench.stub.devices.values()], [("B", TOKEN)])

    def test_security(self):
        self.bench.stub.settings["securityUsing"] = True
        key = self.first("asking_authorization", CUID="TMP0GUEST", PSID=TOKEN)["AUTHKEY"]
        fields = {"CUID": "hong", "DEVICE_ID": "6F0A", "PNSID": "APNS", "PSID": TOKEN}
        self.assertEqual(self.code("new_rcv_register_service_and_user", **fields), "40100")
        fresh = self.register(AUTHKEY=key)["AUTHKEY"]
        self.assertEqual(self.code("rcv_appAlive", **fields, AUTHKEY=fresh), "0000")
        self.assertEqual(self.code("rcv_appAlive", **(fields | {"CUID": "kim"}), AUTHKEY=fresh), "40100")
        self.assertEqual(self.code("rcv_register_sent_ack", PNSID="WPNS", SEQNO="1"), "0000")
        self.bench.at += 25 * 3600 * 1000
        self.assertEqual(self.code("rcv_appAlive", **fields, AUTHKEY=fresh), "40100")

    def test_groups(self):
        self.bench.stub.group = 12
        self.assertEqual(self.first("rcv_register_usergroup", GROUPNAME="vip"), {"GROUPSEQ": "12", "GROUPNAME": "vip"})
        self.assertEqual(self.first("rcv_register_usergroup_user", CUID="hong", GROUPSEQ="12"), {"GROUPSEQ": "12", "CUID": "hong"})
        self.register()
        self.assertEqual(self.first("rcv_get_usergroup_user", GROUPSEQ="12"), {"GROUPSEQ": "12", "GROUPNAME": "vip", "CUID": "hong", "CNAME": "Hong"})
        for wrong in ({"CUID": "GUEST", "GROUPSEQ": "12"}, {"CUID": "hong"}, {"CUID": "hong", "GROUPSEQ": "13"}):
            self.assertEqual(self.code("rcv_register_usergroup_user", **wrong), "40000")

    def test_a_send_to_users(self):
        self.register()
        self.register("kim", "B", OTHER)
        (path, body), = requests("rcv_register_message/users.request.txt")  # fmt: skip
        self.same_example(self.post(path, body), "rcv_register_message/accepted.response.json")
        self.assertEqual([(p.user, p.token) for p in self.bench.pushes()], [("hong", TOKEN), ("kim", OTHER)])
        nobody = json.loads(fixture("UPMC", "rcv_register_message/nobody.response.json"))
        found = self.send(CUID="nobody")
        self.assertEqual((found["HEADER"]["RESULT_CODE"], found["BODY"]), (nobody["HEADER"]["RESULT_CODE"], nobody["BODY"]))

    def test_a_send_narrowed_to_devices(self):
        self.register()
        self.register(device="B", token=OTHER)
        self.assertEqual(self.send(REQ_PSIDS=f'["{OTHER.upper()}"]')["BODY"]["APNS"], "1")
        self.assertEqual([p.token for p in self.bench.pushes()], [OTHER])

    def test_reserved_sends(self):
        self.register()
        response = self.post("rcv_register_message", TYPE="E", CUID="hong", MESSAGE="x", SERVICECODE="ALL", SENDERCODE="a", RESERVEDATE="20160414 172300")
        self.same_example(response, "rcv_register_message/reserved.response.json")
        self.assertEqual(self.bench.pushes(), [])
        self.bench.wait(60_000)
        self.assertEqual(len(self.bench.pushes()), 1)
        self.assertEqual(self.send(RESERVEDATE="20160414 162100")["HEADER"]["RESULT_CODE"], "5500")
        self.assertIn("SENDMSG_SEQNO", self.send(RESERVEDATE="20160414 162400")["BODY"])
        self.assertEqual(self.send(CUID="nobody", RESERVEDATE="20160415 172300")["HEADER"]["RESULT_CODE"], "4401")

    def payload(self, version: str, **fields) -> dict:
        self.bench = Bench(UPMCStub, EXAMPLE_TIME, version=version, firstSeqno=104)
        self.register()
        self.send(**({"BADGENO": "1", "SOUNDFILE": "alert.aif", "DB_IN": "N"} | fields))
        push, = self.bench.pushes()  # fmt: skip
        return json.loads(push.payload)

    def test_the_payload_of_each_version(self):
        documented = fixture("UPMC", "payload/versions.txt")
        for names, keys in re.findall(r"// ([^\n]+)\n.*?\"mps\":\{(.*?)\}\}", documented, re.DOTALL):
            for version in names.replace("5.x", "5.1").split(", "):
                found = self.payload(version)
                self.assertEqual(list(found["mps"]), re.findall(r'"(\w+)":', keys), version)
                self.assertEqual((found["aps"]["badge"], found["aps"]["sound"]), (1, "alert.aif"))
                self.assertEqual(found["mps"]["seqno"], "104")
        simple, found = json.loads(fixture("UPMC", "payload/vendor-simple.json")), self.payload("4.0EE")
        self.assertEqual((list(found["aps"]), list(found["mps"])), (list(simple["aps"]), ["appid", "seqno", "sender", "ext", "senddate", "db_in", "pushkey"]))
        self.assertEqual(found["mps"]["senddate"], simple["mps"]["senddate"])
        self.assertEqual(found["mps"]["pushkey"], hashlib.sha1(f"com.example.app|hong|{TOKEN}".encode()).hexdigest())
        self.assertEqual(self.payload("5.1", MESSAGE='{"title":"T","body":"B"}')["aps"]["alert"], {"title": "T", "body": "B"})
        self.assertEqual(self.payload("4.0", MESSAGE='{"title":"T","body":"B"}')["aps"]["alert"], "T\nB")

    def test_receipts(self):
        self.register()
        seqno = self.send()["BODY"]["SENDMSG_SEQNO"]
        (path, body), = requests("rcv_register_sent_ack/ack.request.txt")  # fmt: skip
        self.same_example(self.post(path, body.replace("SEQNO=104", f"SEQNO={seqno}")), "rcv_register_sent_ack/ok.response.json")
        self.same_example(self.post(path, body), "rcv_register_sent_ack/ok.response.json")
        old, new = re.findall(r"^APP_ID=\S+", fixture("UPMC", "rcv_register_send_result/forms.request.txt"), re.MULTILINE)
        for form in (old, new):
            body = form.replace("9f2c…", TOKEN).replace("SEQNO=104", f"SEQNO={seqno}")
            response = self.post("rcv_register_send_result", body + "&BADGENO=10")
        self.same_example(response, "rcv_register_send_result/read.response.json")
        target, = self.bench.stub.messages[seqno]["targets"]  # fmt: skip
        self.assertTrue(0 < target["received"] < target["read"])

    def test_badges(self):
        self.register()
        seqno = self.send(BADGENO="3")["BODY"]["SENDMSG_SEQNO"]
        mine = {"CUID": "hong", "PSID": TOKEN, "PNSID": "APNS", "SEQNO": seqno}
        self.assertEqual([self.first("rcv_register_send_result", **mine, BADGENO="-1")["BADGENO"] for _ in range(2)], ["2", "2"])
        self.assertEqual(self.first("rcv_register_send_result", **mine, BADGENO="0")["BADGENO"], "0")
        for wrong in ("1001", "-2", "x"):
            self.assertEqual(self.code("rcv_register_send_result", **mine, BADGENO=wrong), "40000")
        self.assertEqual(self.first("rcv_init_badgeNo", CUID="hong", PSID=TOKEN, BADGENO="3"), {"BADGENO": "3"})

    def test_paid_messages(self):
        self.register(PHONENUM="01012345678")
        seqno = self.send(SMS_READ_WAIT_MINUTE="2")["BODY"]["SENDMSG_SEQNO"]
        other = self.send(SMS_READ_WAIT_MINUTE="2")["BODY"]["SENDMSG_SEQNO"]
        self.post("rcv_register_send_result", CUID="hong", PSID=TOKEN, SEQNO=seqno)
        self.bench.wait(121_000)
        self.assertEqual([(p["message"], p["target"]) for p in self.bench.stub.paid], [(other, "01012345678")])

    def test_multipart_and_lists(self):
        self.register()
        kind = [("Content-Type", "multipart/form-data; boundary=b")]
        fields = {"APP_ID": "com.example.app", "TYPE": "C", "MESSAGE": "Hi %CNAME% %VAR1%", "SERVICECODE": "ALL", "SENDERCODE": "a", "TEMPLATE_YN": "Y"}
        body = "".join(f'--b\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in fields.items())
        body += '--b\r\nContent-Disposition: form-data; name="upload_file"; filename="l.csv"\r\n\r\nhong,Gildong,7\r\nnobody,No\r\n--b--\r\n'
        found = json.loads(self.bench.call("POST", "/upmc/rcv_register_csvmessage.ctl", body, kind).body)
        self.assertEqual((found["BODY"]["REG_SUCCESS_CNT"], found["BODY"]["NOTEXISTCUIDS"]), ("1", ["nobody"]))
        self.assertEqual(json.loads(self.bench.pushes()[0].payload)["aps"]["alert"], "Hi Gildong 7")

    def test_lists_of_users_and_a_message_that_is_encoded_twice(self):
        self.register()
        self.register("kim", "B", OTHER)
        for cuids in ("[hong, kim]", '["kim","hong","kim"]'):
            self.assertEqual(self.send(CUID=cuids)["BODY"]["REG_SUCCESS_CNT"], "2")
        self.bench.pushes()
        self.send(MESSAGE="%EC%95%88%EB%85%95")
        self.assertEqual(json.loads(self.bench.pushes()[0].payload)["aps"]["alert"], "안녕")

    def test_marketing(self):
        calls = re.findall(r"POST \{umpc\}(\S+)\s+(\{.*\})", fixture("UPMC", "mobile/calls.request.txt"))
        answers = re.findall(r"HTTP (\d+) (\{.*\})", fixture("UPMC", "mobile/answers.response.txt"))
        for path, body in calls:
            self.same(self.bench.call("POST", path, body), answers[0][1])
            self.same(self.bench.call("POST", path, '{"cuid":"hong"}'), answers[1][1])

    def test_any_mount_and_the_form_of_answers(self):
        self.register()
        for path in ("/upmc//rcv_appAlive.ctl", "/rcv_appAlive.ctl", "/receiver/RCV_APPALIVE.ctl/"):
            answer = self.bench.call("POST", path, "APP_ID=com.example.app")
            self.assertEqual(json.loads(answer.body)["HEADER"]["RESULT_CODE"], "0000", path)
        self.assertEqual(dict(answer.headers)["Access-Control-Allow-Origin"], "*")
        self.assertEqual(self.bench.call("OPTIONS", "/upmc/rcv_appAlive.ctl").status, 200)
