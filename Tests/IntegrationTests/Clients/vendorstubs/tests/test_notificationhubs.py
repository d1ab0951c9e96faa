"""Notification Hubs: the documented examples, request and response, and the rules between them."""

import base64
import hashlib
import hmac
import json
import re
from urllib.parse import quote

from ..hubtext import TagError, TagExpression, TemplateError, folded, render
from ..notificationhubs import NotificationHubsStub
from .support import Bench, ContractTest, fixture

FULL = ("DefaultFullSharedAccessSignature", "ZmFrZS1rZXktZm9yLXRlc3RzLW9ubHktMDEyMzQ1Njc=")
LISTEN = ("DefaultListenSharedAccessSignature", "ZmFrZS1saXN0ZW4ta2V5LWZvci10ZXN0cy1vbmx5LTAxMjM=")
TOKEN, OTHER = "0A1B2C" + "0" * 58, "99FF" + "0" * 60
HOST = ("Host", "gw.example.com")
# The signatures that docs/contracts/notificationhubs.md#3.3 computes.
VECTORS = [
    ("http%3a%2f%2fgw.example.com%2fhub1%2f", "bMKJG0qDde58BMe3p91iUzUHXtycx56kbgnPKOMqDD0="),
    ("https%3A%2F%2Fgw.example.com%2Fhub1", "fAIPdsMCAX7xokRODM2riaHDDFYmlznIbHXuyV2h9y8="),
    ("https%3a%2f%2fgw.example.com%2fhub1%2finstallations%2fabc%3fapi-version%3d2020-06", "Z6CN6J3N+WbUJeeyoSQyoXkxCejyBqCSTW/wRrfXQGY="),
]


def signed(rule=FULL, resource: str = "http://gw.example.com/hub1/", expires: int = 1_893_456_000) -> tuple[str, str]:
    raw = quote(resource, safe="").lower()
    signature = base64.b64encode(hmac.new(rule[1].encode(), f"{raw}\n{expires}".encode(), hashlib.sha256).digest()).decode()
    return "Authorization", f"SharedAccessSignature sr={raw}&sig={quote(signature, safe='')}&se={expires}&skn={rule[0]}"


def example(name: str) -> str:
    text = fixture("NotificationHubs", name, **{"0A1B2C…64 hex…": TOKEN, "0a1b2c…64 hex…": TOKEN.lower(), "0A1B2C…": TOKEN, "0A1B…": TOKEN, "99FF…": OTHER})
    return re.sub(r"Authorization: [^\n]*…[^\n]*\n", "", text)


class NotificationHubsTests(ContractTest):
    def setUp(self):
        self.bench = Bench(NotificationHubsStub)

    def call(self, method: str, path: str, body="", *headers, rule=FULL, version: str = "2017-04"):
        separator = "&" if "?" in path else "?"
        return self.bench.call(method, f"/hub1/{path}{separator}api-version={version}", body, [HOST, signed(rule), *headers])

    def http(self, name: str, *headers, rule=FULL):
        return self.bench.http(example(name), *(h for h in (HOST,) if "Host:" not in example(name)), signed(rule), *headers)

    def same_error(self, response, name: str) -> None:
        """An error body is the documented one except for the tracking ID and the time, which the answer's header and the clock give."""
        wanted = re.sub(r"TrackingId:.*?,TimeStamp:.*?</Detail>", "TrackingId:…</Detail>", example(name))
        found = re.sub(rb"TrackingId:([-0-9a-f]{36}_G1),TimeStamp:\d+/\d+/\d{4} \d+:\d\d:\d\d [AP]M</Detail>", "TrackingId:…</Detail>".encode(), response.body)
        response.body = found
        self.same_http(response, wanted, "TrackingId")

    def send(self, *headers, body: str = '{"aps":{"alert":"Sale today"}}', path: str = "messages/", **named):
        names = {h[0] for h in headers}
        defaults = [h for h in (("ServiceBusNotification-Format", "apple"), ("Content-Type", "application/json")) if h[0] not in names]
        return self.call("POST", path, body, *defaults, *headers, **named)

    def install(self, number: str = "5d9c7b3e-7c41-4c39-9c51-6b1d2a9f0e77", **fields):
        body = {"installationId": number, "platform": "apns", "pushChannel": TOKEN, "tags": ["seoul"]} | fields
        return self.call("PUT", f"installations/{number}", body, rule=LISTEN)

    def test_documented_signatures(self):
        for resource, signature in VECTORS:
            for broken in (False, True):
                sig = quote(signature[:4] + ("A" if signature[4] != "A" else "B") + signature[5:] if broken else signature, safe="")
                header = ("Authorization", f"SharedAccessSignature skn={FULL[0]}&sr={resource}&se=1893456000&sig={sig}")
                answer = self.bench.call("DELETE", "/hub1/installations/abc", headers=[HOST, header])
                self.assertEqual(answer.status, 401 if broken else 204, resource)
        self.same_error(self.bench.call("GET", "/hub1/messages/x", headers=[HOST, signed((FULL[0], "no"))]), "access/signature.response.txt")

    def test_refused_signatures(self):
        for header, text in (
            (("X", ""), "MissingToken"), (signed(expires=1_000_000_000), "ExpiredToken: "), (signed(resource="http://other.example.com/hub1"), "InvalidAudience"),
            (signed(resource="http://gw.example.com/hub"), "InvalidAudience"), (signed(("Unknown", FULL[1])), "InvalidSignature"),
        ):  # fmt: skip
            answer = self.bench.call("GET", "/hub1/installations/abc", headers=[HOST, header])
            self.assertEqual(answer.status, 401)
            self.assertIn(f"<Detail>{text}", answer.body.decode())
        self.assertEqual(self.bench.call("GET", "/hub1/installations/abc", headers=[HOST, signed(expires=1_767_225_400)]).status, 404)
        self.same_http(self.send(rule=LISTEN), example("access/listen.response.txt"), "TrackingId", "x-ms-correlation-request-id")
        self.assertEqual(self.call("GET", "registrations", rule=LISTEN).status, 401)
        answer = self.bench.call("GET", "/hub2/installations/abc", headers=[HOST, signed(resource="http://gw.example.com/")])
        self.same_error(answer, "access/hub.response.txt")
        self.assertEqual(self.call("GET", "installations/abc", version="1999-01").status, 400)

    def test_the_rate_limit(self):
        self.bench.stub.settings["callsPerSecond"] = 1
        self.send()
        answer = self.send()
        self.assertEqual(dict(answer.headers)["Retry-After"], "1")
        documented = re.sub(r"TimeStamp:…", "TimeStamp:1/1/2026 12:00:00 AM", example("access/throttled.response.txt"))
        wanted = re.sub(r"TrackingId:.*?,", "TrackingId:,", documented)
        answer.body = re.sub(rb"TrackingId:.*?,", b"TrackingId:,", answer.body)
        self.same_http(answer, wanted, "Retry-After")

    def test_installations(self):
        self.same_http(self.http("installations/put.request.txt", rule=LISTEN), example("installations/put.response.txt"))
        number = "5d9c7b3e-7c41-4c39-9c51-6b1d2a9f0e77"
        found = self.call("GET", f"installations/{number}", version="2020-06")
        wanted = example("installations/get.response.txt").replace('"5d9c…"', f'"{number}"')
        documented = json.loads(wanted.partition("\n\n")[2])
        shown = json.loads(found.body)
        # The documented answer is a recording of an installation without user.
        self.assertEqual(shown.pop("userId"), "u-1")
        self.assertEqual(shown, documented)
        self.assertEqual(dict(found.headers)["Content-Type"], "application/xml; charset=utf-8")
        self.same_error(self.call("GET", "installations/none"), "installations/missing.response.txt")
        self.same_http(self.http("installations/patch.request.txt"), example("installations/patch.response.txt"))
        stored = self.bench.stub.installations[number]
        self.assertEqual((stored["tags"], stored["userId"], stored["templates"]["news"]["headers"]), (["shop:vip", "busan"], "u-2", {"apns-priority": "5"}))
        self.same_error(self.call("PATCH", f"installations/{number}", [{"op": "add", "path": "/colour", "value": "x"}]), "installations/path.response.txt")
        self.assertEqual([self.call("DELETE", f"installations/{number}").status for _ in range(2)], [204, 204])

    def test_refused_installations(self):
        for wrong, text in (
            ({"pushChannel": "0g"}, "not a hexadecimal digit"), ({"pushChannel": "abc"}, "odd number of nibbles"), ({"platform": ""}, "platform"),
            ({"tags": ["a b"]}, "a b"), ({"installationId": "other"}, "does not match"),
        ):  # fmt: skip
            answer = self.install(**wrong)
            self.assertEqual(answer.status, 400, wrong)
            self.assertIn(text, answer.body.decode())

    def test_registrations(self):
        made = self.http("registrations/newid.request.txt", rule=LISTEN)
        location = dict(made.headers)["Location"]
        self.assertEqual(made.status, 201)
        self.assertRegex(location, r"^https://gw\.example\.com/hub1/registrationids/\d+-\d+-1\?api-version=2017-04$")
        self.bench.at -= 2  # The entry shows the time of the examples to the second.
        answer = self.http("registrations/put.request.txt", rule=LISTEN)
        self.same_http(answer, example("registrations/put.response.txt"))
        condition = ("If-Match", '"9"')
        self.same_error(self.http("registrations/put.request.txt", condition), "registrations/mismatch.response.txt")
        self.assertEqual(dict(self.http("registrations/put.request.txt", ("If-Match", "*")).headers)["ETag"], 'W/"2"')
        self.assertEqual(self.call("DELETE", "registrations/123-234-1", "", ("If-Match", "*")).status, 200)
        self.same_error(self.http("registrations/put.request.txt"), "registrations/gone.response.txt")
        self.assertEqual(self.call("GET", "registrations/123-234-1").status, 404)

    def entry(self, token: str, kind: str = "Apple", tags: str = "seoul", more: str = "") -> str:
        names = 'xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"'
        body = f"<Tags>{tags}</Tags><DeviceToken>{token}</DeviceToken>{more}"
        return f"<entry><content><{kind}RegistrationDescription {names}>{body}</{kind}RegistrationDescription></content></entry>"

    def test_a_template_registration_shows_the_documented_elements(self):
        documented = example("registrations/template.xml").replace("\n", "")
        inner = re.search(r"<BodyTemplate>.*</ApnsHeaders>", documented).group()
        answer = self.call("POST", "registrations", self.entry(TOKEN, "AppleTemplate", "seoul", '<PushVariables>{"nick":"Mina"}</PushVariables>' + inner))
        number = re.search(r"/registrations/([-\d]+)\?", dict(answer.headers)["Content-Location"]).group(1)
        self.assertIn(documented.replace("4497227228776861650-7267172778370643468-3", number), answer.body.decode())

    def test_lists_pages_and_filters(self):
        for index in range(5):
            self.call("PUT", f"registrations/1-{index}-1", self.entry(f"{index:064x}", tags="seoul" if index % 2 else "busan"))
        first = self.call("GET", "registrations?$top=2")
        token = dict(first.headers)["x-ms-continuationtoken"]
        self.assertEqual(first.body.count(b"<entry"), 2)
        wanted = example("registrations/list.response.txt").partition("\n\n")[2].partition("<entry>")[0]
        shape = re.sub(r"continuationtoken=[^\"]*", "", wanted)
        found = re.sub(r"continuationtoken=[^\"]*", "", first.body.decode().partition("<entry")[0])
        self.assertEqual(found.replace("registrations?$top=2&amp;", "registrations?"), shape)
        rest = [self.call("GET", f"registrations?$top=2&continuationtoken={token}")]
        rest.append(self.call("GET", f"registrations?$top=2&continuationtoken={dict(rest[0].headers)['x-ms-continuationtoken']}"))
        self.assertEqual([r.body.count(b"<entry") for r in rest], [2, 1])
        self.assertNotIn("x-ms-continuationtoken", dict(rest[1].headers))
        for condition in (f"deviceToken+eq+'{1:064X}'", f"ChannelUri%20eq%20%27{1:064x}%27"):
            self.assertEqual(self.call("GET", f"registrations?$filter={condition}", rule=LISTEN).body.count(b"<entry"), 1)
        self.assertEqual(self.call("GET", "registrations?$filter=x+eq+'1'").status, 400)
        self.assertEqual(self.call("GET", "tags/SEOUL/registrations").body.count(b"<entry"), 2)

    def test_refused_registrations(self):
        for body in ("<", self.entry("0g"), self.entry(TOKEN, tags="$Other"), "<!DOCTYPE x>" + self.entry(TOKEN), self.entry(TOKEN, tags=",".join(f"t{n}" for n in range(61)))):
            self.assertEqual(self.call("PUT", "registrations/1-2-1", body).status, 400, body[:40])

    def test_documented_tag_expressions(self):
        tags = ["a", "b", "c"]
        for source, own, result in (
            ("seoul", ["Seoul"], True), ("a && !b", ["a"], True), ("a && !b", ["a", "b"], False), ("(a || b) && c", ["b", "c"], True),
            ("(a || b) && c", ["a", "b"], False), ("a || b && c", ["a"], True), ("!(a || b)", [], True), ("$UserId:u-1", ["$UserId:{u-1}"], True),
            ("$InstallationId:{5d9c} && news", ["$InstallationId:{5d9c}", "news"], True), ("$UserId:{U-1}", ["$UserId:{u-1}"], False),
        ):  # fmt: skip
            self.assertEqual(TagExpression(source).matches({folded(t) for t in own}), result, source)
        for source in (" || ".join(f"t{n}" for n in range(21)), "a b", "", "a &", "(a", "a && && b", " && ".join(tags * 3)):
            self.assertRaises(TagError, TagExpression, source)
        self.assertTrue(TagExpression(" || ".join(f"t{n}" for n in range(20))).matches({"t19"}))

    def test_documented_template_expressions(self):
        template = {"aps": {"alert": "{ 'Hi ' + $(name:{friend}) }"}}
        self.assertEqual(render(template, {"name": "Mina"}), {"aps": {"alert": "Hi Mina"}})
        self.assertEqual(render(template, {}), {"aps": {"alert": "Hi friend"}})
        values = {"name": "Minsoo Kim", "n": "3"}
        for source, result in (("$(name, 3)", "Min"), (".(name, 6)", "Min..."), ("%(name)", "Minsoo%20Kim"), ("#(n)", 3), ("plain $(name)", "plain $(name)")):
            self.assertEqual(render(source, values), result)
        for source in ("$body", "{ #(n) }", "%(name, 3)", "{ 'a' - 'b' }", "$(name"):
            self.assertRaises(TemplateError, render, source, values)

    def test_a_send_by_tags(self):
        self.install(tags=["username:mina"])
        answer = self.http("messages/send.request.txt")
        self.same_http(answer, example("messages/send.response.txt"), "Location")
        self.assertRegex(dict(answer.headers)["Location"], r"^https://gw\.example\.com/hub1/messages/[0-9a-f]{32}-20260101000000-\d+-\d+\?api-version=2017-04$")
        push, = self.bench.pushes()  # fmt: skip
        lines, _, payload = example("messages/alert.push.txt").partition("\n\n")
        documented = dict(line.split(" = ", 1) for line in lines.split("\n"))
        self.assertEqual((push.payload.decode(), f"/3/device/{push.token}"), (payload.strip(), documented[":path"]))
        for name in ("apns-topic", "apns-push-type", "apns-priority"):
            self.assertEqual(push.headers[name], documented[name])
        self.same_error(self.http("messages/tags.request.txt"), "messages/tags.response.txt")

    def test_a_native_send_reaches_a_token_once_and_templates_reach_each_target(self):
        templates = {"news": {"body": '{"aps":{"alert":"$(title)"}}', "headers": {"apns-priority": "5"}}, "other": {"body": '{"aps":{"alert":"$body"}}'}}
        self.install(templates=templates, userId="u-1")
        self.call("PUT", "registrations/1-2-1", self.entry(TOKEN.lower()))
        self.send(("ServiceBusNotification-Tags", "seoul"))
        self.assertEqual(len(self.bench.pushes()), 1)
        self.send(("ServiceBusNotification-Format", "template"), body='{"title":"News"}')
        push, = self.bench.pushes()  # fmt: skip
        self.assertEqual((push.payload, push.headers["apns-priority"], push.user), (b'{"aps":{"alert":"News"}}', "5", "u-1"))
        self.send(("ServiceBusNotification-Format", "gcm"))
        self.assertEqual(self.bench.pushes(), [])

    def test_direct_and_batch_sends(self):
        self.assertEqual(self.send(path="messages/?direct").status, 400)
        self.send(("ServiceBusNotification-DeviceHandle", TOKEN), path="messages?direct=true")
        self.assertEqual([p.token for p in self.bench.pushes()], [TOKEN.lower()])
        kind = ("Content-Type", 'multipart/mixed; boundary="nh-batch-multipart-boundary"')
        body = example("messages/batch.body.txt").replace("\n", "\r\n")
        answer = self.send(kind, body=body, path="messages/$batch?direct")
        self.assertRegex(dict(answer.headers)["Location"], r"/messages/\$batch/[-0-9a-f]+\?api-version=2017-04&direct$")
        self.assertEqual([(p.token, p.payload) for p in self.bench.pushes()], [(TOKEN.lower(), b'{"aps":{"alert":"Hi"}}'), (OTHER.lower(), b'{"aps":{"alert":"Hi"}}')])

    def test_inferred_headers(self):
        self.install()
        rich = example("messages/rich.push.txt").partition("\n\n")[2].strip()
        self.send(body=rich)
        self.send(("apns-push-type", "alert"), ("apns-collapse-id", "c"), ("ServiceBusNotification-Apns-Expiry", "2026-01-02T00:00:00"))
        first, second = self.bench.pushes()
        self.assertEqual((first.payload.decode(), first.headers["apns-push-type"], first.headers["apns-priority"]), (rich, "background", "5"))
        self.assertEqual((second.headers["apns-collapse-id"], second.headers["apns-expiration"]), ("c", "1767312000"))

    def test_schedules(self):
        self.install()
        answer = self.http("messages/schedule.request.txt")
        self.same_http(answer, example("messages/schedule.response.txt"), "Location")
        number = dict(answer.headers)["Location"].partition("?")[0].rpartition("/")[2]
        self.assertRegex(number, r"^[0-9a-f]{32}_20260101000000_\d+_\d+$")
        other = dict(self.http("messages/schedule.request.txt").headers)["Location"].partition("?")[0].rpartition("/")[2]
        self.assertEqual([self.call("DELETE", f"schedulednotifications/{other}").status for _ in range(2)], [200, 404])
        self.bench.wait(33 * 3600 * 1000)
        self.assertEqual(len(self.bench.pushes()), 1)
        for time in ("2026-01-02T09:04:00", "2026-01-20T00:00:00", "soon"):
            answer = self.send(("ServiceBusNotification-ScheduleTime", time), path="schedulednotifications")
            self.assertEqual(answer.status, 400, time)
        self.assertEqual(self.send(("ServiceBusNotification-ScheduleTime", "2026-01-02'T'10:00:00.000Z"), path="schedulednotifications").status, 201)

    def test_telemetry(self):
        self.install()
        number = dict(self.send().headers)["Location"].partition("?")[0].rpartition("/")[2]
        push, = self.bench.pushes()  # fmt: skip
        self.assertIn(b"<State>Processing</State>", self.call("GET", f"messages/{number}", version="2016-07").body)
        push.state, push.status = "accepted", 200
        self.bench.stub.outcome(push)
        found = self.call("GET", f"messages/{number}", version="2016-07").body.decode()
        wanted = example("messages/telemetry.response.xml").replace("<Outcome><Name>ExpiredChannel</Name><Count>1</Count></Outcome>", "")
        self.assertEqual(re.findall(r"<(\w+)[ >]", found), re.findall(r"<(\w+)[ >]", wanted))
        self.assertIn("<State>Completed</State>", found)

    def test_a_dead_token_leaves_the_hub(self):
        self.install()
        self.call("PUT", "registrations/1-2-1", self.entry(TOKEN))
        self.send()
        push, = self.bench.pushes()  # fmt: skip
        push.state, push.status, push.reason = "rejected", 410, "Unregistered"
        self.bench.stub.outcome(push)
        self.send()
        self.assertEqual((self.bench.pushes(), self.bench.stub.registrations), ([], {}))

    def test_refused_sends(self):
        for headers, body in (
            ([("ServiceBusNotification-Format", "pigeon")], "{}"), ([], "no"), ([], '{"a":"' + "x" * 5000 + '"}'),
            ([("ServiceBusNotification-Tags", " ")], "{}"), ([("ServiceBusNotification-Format", "template")], '{"a":1}'),
        ):  # fmt: skip
            self.assertEqual(self.send(*headers, body=body).status, 400, (headers, body[:20]))
        self.assertEqual(self.send(body="x" * 70_000).status, 413)
        self.assertEqual(self.call("GET", "feedbackcontainer").status, 404)
