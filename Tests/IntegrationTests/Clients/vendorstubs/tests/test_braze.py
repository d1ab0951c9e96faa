"""Braze: the documented examples, request and response, and the rules between them."""

import json

from ..braze import BrazeStub
from .support import Bench, ContractTest, fixture

KEY = ("Authorization", "Bearer 00000000-aaaa-4bbb-8ccc-dddddddddddd")
APP = "11111111-2222-4333-8444-555555555555"
TOKEN, OTHER = "0a1b2c" + "0" * 58, "aa" * 32


def example(name: str) -> str:
    return fixture("Braze", name, **{"0a1b2c…64 hex…": TOKEN, "0a1b2c…": TOKEN, "5D9C…": "5D9C", '"1111…"': f'"{APP}"', "99ff…": "99ff"})


class BrazeTests(ContractTest):
    def setUp(self):
        self.bench = Bench(BrazeStub)

    def post(self, path: str, body, *headers):
        return self.bench.call("POST", path, body, [*(headers or (KEY,))])

    def track(self, *attributes: dict):
        return self.post("/users/track", {"attributes": list(attributes)})

    def users(self) -> None:
        """The users of the documented sends: u-1 has one device, u-2 has none."""
        token = {"app_id": APP, "token": TOKEN, "device_id": "5D9C"}
        self.track({"external_id": "u-1", "first_name": "Mina", "push_tokens": [token]}, {"external_id": "u-2"})

    def sends(self, push, **body):
        return self.post("/messages/send", {"external_user_ids": ["u-1"], "messages": {"apple_push": push}} | body)

    def pushed(self) -> list[dict]:
        return [json.loads(push.payload) for push in self.bench.pushes()]

    def test_users_track(self):
        self.same_http(self.bench.http(example("users/track.request.txt")), example("users/track.response.txt"))
        profile = next(p for p in self.bench.stub.profiles.values() if p["external_id"] == "u-1")
        self.assertEqual((profile["custom"], profile["standard"]), ({"loyalty": 5, "favourites": ["A1"]}, {"first_name": "Mina", "push_subscribe": "opted_in"}))
        self.assertEqual(profile["tokens"], [{"app_id": APP, "token": TOKEN, "device_id": "5D9C"}])
        self.assertEqual(len(self.bench.stub.profiles), 2)

    def test_partial_success(self):
        event = {"external_id": "u-1", "name": "x", "time": "2026-01-01T00:00:00Z"}
        answer = self.post("/users/track", {"events": [event, {"name": "x", "time": "2026-01-01T00:00:00Z"}]})
        self.assertEqual((answer.status, json.loads(answer.body)), (201, json.loads(example("users/partial.response.json"))))
        answer = self.post("/users/track", {"events": [{"name": "x"}]})
        self.assertEqual(answer.status, 400)
        self.assertTrue(json.loads(answer.body)["message"].startswith("Valid data must be provided in the"))
        self.same_http(self.track(*({"external_id": f"u{n}"} for n in range(76))), example("users/tooMany.response.txt"))
        self.assertEqual(self.track(*({"external_id": f"u{n}"} for n in range(75))).status, 201)

    def test_access(self):
        self.same_http(self.bench.http(example("access/key.request.txt")), example("access/key.response.txt"))
        self.bench.stub.settings["permissions"] = "users.track,messages.send"
        self.same_http(self.post("/users/delete", {}), example("access/key.response.txt"))
        self.assertEqual(self.track({"external_id": "u"}).status, 201)
        body = {"api_key": self.bench.stub["restKey"], "attributes": [{"external_id": "u"}]}
        self.assertEqual(self.bench.call("POST", "/users/track", body).status, 201)
        self.assertEqual(self.bench.call("POST", "/users/track", body, [("Authorization", "Bearer no")]).status, 401)

    def test_the_rate_limit(self):
        self.bench.stub.settings["enforceLimits"] = True
        for _ in range(250):
            self.post("/users/export/ids", {"external_ids": ["u-1"]})
        answer = self.post("/users/export/ids", {"external_ids": ["u-1"]})
        self.same_http(answer, example("access/throttled.response.txt"), "Retry-After")
        self.bench.at += 60_000
        self.assertEqual(self.post("/users/export/ids", {"external_ids": ["u-1"]}).status, 201)

    def test_refused_sends(self):
        self.same_http(self.bench.http(example("messages/unreadable.request.txt")), example("messages/unreadable.response.txt"))
        self.same_http(self.bench.http(example("messages/nobody.request.txt")), example("messages/nobody.response.txt"))
        self.same_http(self.post("/messages/send", example("messages/extra.request.json")), example("messages/extra.response.txt"))
        many = {"external_user_ids": [f"u{n}" for n in range(51)], "messages": {"apple_push": {"alert": "Hi"}}}
        self.same_http(self.post("/messages/send", many), example("messages/recipients.response.txt"))
        unknown = {"campaign_id": "does-not-exist", "recipients": [{"external_user_id": "u-1"}]}
        self.same_http(self.post("/campaigns/trigger/send", unknown), example("messages/campaign.response.txt"))
        for body, message in (
            ({"messages": {"email": {}}}, "No message to send"),
            ({"messages": {"apple_push": {"alert": "x" * 1913}}}, "Apple Push Length Exceeded"),
            ({"messages": {"apple_push": {"alert": "x"}}, "campaign_id": "x"}, "Invalid Campaign ID"),
        ):
            answer = self.post("/messages/send", {"external_user_ids": ["u-1"]} | body)
            self.assertEqual((answer.status, json.loads(answer.body)), (400, {"message": message}))
        self.assertEqual(self.sends({"alert": "x"}, broadcast=True).status, 400)
        self.assertEqual(self.bench.pushes(), [])

    def test_a_send_pushes_the_documented_request(self):
        self.users()
        request = json.loads(example("messages/send.request.json"))
        del request["messages"]["apple_push"]["expiry"]
        answer = self.post("/messages/send", request)
        self.assertEqual((answer.status, list(json.loads(answer.body))), (201, ["dispatch_id", "message"]))
        push, = self.bench.pushes()  # fmt: skip
        headers, _, payload = example("pushes/alert.txt").partition("\n\n")
        wanted = json.loads(payload)
        found = json.loads(push.payload)
        self.assertTrue(found["ab"]["c"])
        self.assertEqual(found, wanted | {"ab": {"c": found["ab"]["c"]}})
        documented = dict(line.split("=", 1) for line in headers.replace(" = ", "=").replace("   =", "=").split("\n"))
        for name in ("apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id"):
            self.assertEqual(push.headers[name], documented[name])

    def test_a_silent_push(self):
        self.users()
        self.sends({"content-available": True, "extra": {"order_id": "42"}})
        push, = self.bench.pushes()  # fmt: skip
        found, wanted = json.loads(push.payload), json.loads(example("pushes/silent.json"))
        self.assertEqual(found, wanted | {"ab": {"c": found["ab"]["c"]}})
        self.assertEqual((push.headers["apns-push-type"], push.headers["apns-priority"]), ("background", "5"))

    def test_a_send_reaches_every_device_of_a_user_once(self):
        self.users()
        self.track({"external_id": "u-1", "push_tokens": [{"app_id": APP, "token": OTHER, "device_id": "B"}, {"app_id": "android", "token": "fcm", "device_id": "C"}]})
        self.sends({"alert": "Hi {{${first_name}}} {{custom_attribute.${none} | default: 'you'}}"}, external_user_ids=["u-1", "u-1", "nobody"])
        pushes = self.bench.pushes()
        self.assertEqual([(p.user, p.device) for p in pushes], [("u-1", "5D9C"), ("u-1", "B")])
        self.assertEqual(json.loads(pushes[0].payload)["aps"]["alert"], "Hi Mina you")
        self.track({"external_id": "u-1", "push_subscribe": "unsubscribed"})
        self.sends({"alert": "Hi"})
        self.assertEqual(self.bench.pushes(), [])
        self.sends({"alert": "Hi", "send_to_most_recent_device_only": True}, recipient_subscription_state="all")
        self.assertEqual([p.device for p in self.bench.pushes()], ["B"])

    def test_a_token_moves_to_its_newest_user_and_a_refreshed_one_replaces(self):
        self.users()
        self.track({"external_id": "u-1", "push_tokens": [{"app_id": APP, "token": OTHER, "device_id": "5D9C"}]})
        self.track({"external_id": "u-2", "push_tokens": [{"app_id": APP, "token": OTHER.upper(), "device_id": "D"}]})
        self.assertEqual([[t["token"] for t in p["tokens"]] for p in self.bench.stub.profiles.values()], [[], [OTHER.upper()]])

    def test_campaigns(self):
        self.users()
        request = json.loads(example("campaigns/trigger.request.json"))
        push = {"alert": "{{api_trigger_properties.${city}}} {{api_trigger_properties.${name}}}"}
        self.bench.stub.control("campaigns", {"campaign_id": request["campaign_id"], "apple_push": push})
        answer = self.post("/campaigns/trigger/send", request)
        self.assertEqual((answer.status, list(json.loads(answer.body))), (201, ["dispatch_id", "message"]))
        self.assertEqual([p["aps"]["alert"] for p in self.pushed()], ["Seoul Mina"])
        created = [p for p in self.bench.stub.profiles.values() if p["aliases"] == [["crm", "a-7"]]]
        self.assertEqual(created[0]["standard"], {"first_name": "Jo"})
        series = self.bench.call("GET", f"/sends/data_series?campaign_id={request['campaign_id']}&send_id=winter-2026&length=1", headers=[KEY])
        self.assertEqual(json.loads(series.body)["data"][0]["messages"]["ios_push"][0]["sent"], 1)

    def test_schedules(self):
        self.users()
        body = {"external_user_ids": ["u-1"], "messages": {"apple_push": {"alert": "Later"}}, "schedule": {"time": "2026-01-01T00:05:00Z"}}
        made = [json.loads(self.post("/messages/schedule/create", body).body) for _ in range(2)]
        self.assertEqual(list(made[0]), ["dispatch_id", "schedule_id", "message"])
        update = {"schedule_id": made[0]["schedule_id"], "schedule": {"time": "2026-01-01T00:10:00Z"}, "messages": {"apple_push": {"alert": "Changed"}}}
        self.assertEqual(json.loads(self.post("/messages/schedule/update", update).body), {"message": "success"})
        self.assertEqual(json.loads(self.post("/messages/schedule/delete", {"schedule_id": made[1]["schedule_id"]}).body), {"message": "success"})
        self.bench.wait(6 * 60_000)
        self.assertEqual(self.pushed(), [])
        self.bench.wait(5 * 60_000)
        self.assertEqual([p["aps"]["alert"] for p in self.pushed()], ["Changed"])
        for time, message in (("2025-01-01T00:00:00Z", "Bad Request"), ("soon", "cannot parse send_at")):
            answer = self.post("/messages/schedule/create", body | {"schedule": {"time": time}})
            self.assertEqual((answer.status, json.loads(answer.body)["message"]), (400, message))

    def test_export(self):
        self.users()
        answer = self.post("/users/export/ids", example("users/export.request.json"))
        found, wanted = json.loads(answer.body), json.loads(example("users/export.response.json"))
        self.assertEqual((answer.status, list(found), found["invalid_user_ids"]), (201, list(wanted), wanted["invalid_user_ids"]))
        self.assertEqual(found["users"][0]["push_tokens"], wanted["users"][0]["push_tokens"])
        self.same_http(self.bench.http(example("users/nobody.request.txt")), example("users/nobody.response.txt"))

    def test_delete(self):
        self.users()
        self.same_http(self.bench.http(example("users/delete.request.txt")), example("users/delete.response.txt"))
        self.assertEqual(json.loads(self.post("/users/delete", example("users/delete.request.json")).body)["deleted"], 0)

    def test_identity(self):
        self.users()
        alias = {"alias_name": "a-7", "alias_label": "crm"}
        answer = self.post("/users/alias/new", {"user_aliases": [{"external_id": "u-1", **alias}]})
        self.assertEqual((answer.status, json.loads(answer.body)), (201, {"aliases_processed": 1, "message": "success"}))
        self.post("/users/identify", {"aliases_to_identify": [{"external_id": "u-2", "user_alias": alias}]})
        profile, = self.bench.stub.profiles.values()  # fmt: skip
        self.assertEqual((profile["external_id"], profile["standard"], len(profile["tokens"])), ("u-2", {"first_name": "Mina"}, 1))
        answer = self.post("/users/merge", {"merge_updates": [{"identifier_to_merge": {"external_id": "x"}, "identifier_to_keep": {"external_id": "u-2"}}]})
        self.assertEqual((answer.status, json.loads(answer.body)), (202, {"message": "success"}))

    def test_subscriptions(self):
        self.users()
        body = {"subscription_group_id": "g", "subscription_state": "unsubscribed", "external_id": ["u-1"]}
        self.assertEqual(json.loads(self.post("/subscription/status/set", body).body), {"message": "success"})
        answer = self.bench.call("GET", "/subscription/status/get?subscription_group_id=g&external_id=u-1", headers=[KEY])
        self.assertEqual(json.loads(answer.body), {"status": {"u-1": "unsubscribed"}, "message": "success"})
        both = self.post("/subscription/status/set", body | {"email": ["a@b"], "phone": ["1"]})
        self.assertEqual(json.loads(both.body)["message"], "Either an email address or a phone number should be provided, but not both.")

    def test_audiences(self):
        self.users()
        self.track({"external_id": "u-1", "loyalty": 7})
        rule = {"AND": [{"custom_attribute": {"custom_attribute_name": "loyalty", "comparison": "greater_than", "value": 5}}]}
        body = {"messages": {"apple_push": {"alert": "Hi"}}}
        self.post("/messages/send", body | {"audience": rule})
        self.post("/messages/send", body | {"broadcast": True})
        self.assertEqual(len(self.bench.pushes()), 2)

    def test_calls_of_the_sdk_and_unknown_paths(self):
        for path in ("/api/v3/data", "/canvas/trigger/send"):
            answer = self.post(path, {})
            self.assertEqual((answer.status, json.loads(answer.body)), (404, {"message": "Not Found"}))
