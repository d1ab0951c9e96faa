"""Braze: a back end that sets users and tokens, sends, triggers a campaign, schedules and cancels, exports and deletes."""

from datetime import timedelta

from .script import Script


def play(script: Script, settings: dict[str, str]) -> None:
    key = settings.get("restKey", "00000000-aaaa-4bbb-8ccc-dddddddddddd")
    app = settings.get("iosApp", "11111111-2222-4333-8444-555555555555")
    campaign = settings.get("campaign", "9a8b7c6d-0000-4000-8000-000000000001")
    headers = {"Authorization": f"Bearer {key}"}
    one, two, three = (script.uuid(f"device {name}") for name in ("one", "two", "three"))

    def post(name: str, path: str, **body):
        return script.call(name, "POST", path, headers, body)

    def get(name: str, target: str):
        return script.call(name, "GET", target, headers)

    def token(name: str, device: str) -> dict:
        return {"app_id": app, "token": script.token(name), "device_id": device}

    script.call("shows a wrong key", "POST", "/users/track", {"Authorization": "Bearer wrong"}, {"attributes": []})
    script.call("sends no JSON", "POST", "/users/track", {"Content-Type": "application/json", **headers}, '{"attributes":[')
    first = {"external_id": "u-1", "first_name": "Mina", "push_subscribe": "opted_in", "loyalty": {"inc": 5}, "favourites": {"add": ["A1"]}}
    second = {"external_id": "u-2", "first_name": "Jo", "push_tokens": [token("three", three)]}
    post("sets users and tokens", "/users/track", attributes=[first | {"push_tokens": [token("one", one), token("two", two)]}, second])
    post("refreshes a token", "/users/track", attributes=[{"external_id": "u-1", "push_tokens": [token("one again", one)]}])
    post("imports a token", "/users/track", attributes=[{"push_token_import": True, "push_tokens": [{"app_id": app, "token": script.token("imported"), "device_id": "D"}]}])
    at = script.at.strftime("%Y-%m-%dT%H:%M:%SZ")
    event = {"external_id": "u-1", "app_id": app, "name": "add_to_cart", "time": at, "properties": {"sku": "A1"}}
    purchase = {"external_id": "u-1", "product_id": "A1", "currency": "KRW", "price": 9900, "quantity": 0, "time": at}
    post("reports an event and a wrong purchase", "/users/track", events=[event, {"name": "x", "time": at}], purchases=[purchase])
    post("tracks nothing usable", "/users/track", events=[{"name": "x", "time": at}])
    post("tracks too much", "/users/track", attributes=[{"external_id": f"many-{n}"} for n in range(76)])
    post("names an alias", "/users/alias/new", user_aliases=[{"external_id": "u-2", "alias_name": "a-7", "alias_label": "crm"}])
    post("identifies", "/users/identify", aliases_to_identify=[{"external_id": "u-2", "user_alias": {"alias_name": "a-7", "alias_label": "crm"}}])
    post("subscribes", "/subscription/status/set", subscription_group_id="g-1", subscription_state="unsubscribed", external_id=["u-1"])
    groups = [{"subscription_group_id": "g-2", "subscription_state": "subscribed", "external_ids": ["u-1", "u-2"]}]
    post("subscribes in the newer way", "/v2/subscription/status/set", subscription_groups=groups)
    post("merges", "/users/merge", merge_updates=[{"identifier_to_merge": {"external_id": "old"}, "identifier_to_keep": {"external_id": "u-1"}}])
    get("asks for the subscription", "/subscription/status/get?subscription_group_id=g-1&external_id=u-1")
    get("asks for a user's subscriptions", "/subscription/user/status?external_id=u-1")

    push = {
        "alert": {"title": "Order shipped", "body": "Hello {{${first_name} | default: 'you'}}"}, "badge": 1, "sound": "default", "custom_uri": "myapp://orders/42",
        "use_webview": False, "extra": {"order_id": "42"}, "collapse_id": "order-42", "interruption_level": "active", "relevance_score": 0.6,
    }  # fmt: skip
    post("sends", "/messages/send", external_user_ids=["u-1", "u-2", "nobody"], recipient_subscription_state="subscribed", messages={"apple_push": push})
    post("sends to an alias", "/messages/send", user_aliases=[{"alias_name": "a-7", "alias_label": "crm"}], messages={"apple_push": {"alert": "Hi"}})
    post("sends to nobody", "/messages/send", messages={"apple_push": {"alert": "Hi"}})
    post("sends nothing", "/messages/send", external_user_ids=["u-1"], messages={"email": {}})
    post("sends a reserved key", "/messages/send", external_user_ids=["u-1"], messages={"apple_push": {"alert": "Hi", "extra": {"aps": {}}}})
    post("sends too much", "/messages/send", external_user_ids=["u-1"], messages={"apple_push": {"alert": "x" * 1913}})
    post("sends to too many", "/messages/send", external_user_ids=[f"u-{n}" for n in range(51)], messages={"apple_push": {"alert": "Hi"}})
    post("sends silently", "/messages/send", external_user_ids=["u-2"], messages={"apple_push": {"content-available": True, "extra": {"order_id": "42"}}})
    post("makes a send", "/sends/id/create", campaign_id=campaign, send_id="winter-2026")
    recipients = [{"external_user_id": "u-1", "trigger_properties": {"name": "Mina"}}, {"external_user_id": "u-9", "send_to_existing_only": True}]
    post("triggers", "/campaigns/trigger/send", campaign_id=campaign, send_id="winter-2026", trigger_properties={"city": "Seoul"}, recipients=recipients)
    post("triggers an unknown campaign", "/campaigns/trigger/send", campaign_id="does-not-exist", recipients=[{"external_user_id": "u-1"}])
    get("reads statistics", f"/sends/data_series?campaign_id={campaign}&send_id=winter-2026&length=1")

    later = {"time": (script.at + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")}
    past = {"time": (script.at - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")}
    made = post("schedules", "/messages/schedule/create", external_user_ids=["u-1"], messages={"apple_push": {"alert": "Later"}}, schedule=later)
    number = made.json().get("schedule_id", "")
    post("schedules in the past", "/messages/schedule/create", external_user_ids=["u-1"], messages={"apple_push": {"alert": "Late"}}, schedule=past)
    post("changes the schedule", "/messages/schedule/update", schedule_id=number, messages={"apple_push": {"alert": "Changed"}})
    get("lists the schedules", f"/messages/scheduled_broadcasts?end_time={(script.at + timedelta(days=2)).strftime('%Y-%m-%dT%H:%M:%SZ')}")
    post("cancels", "/messages/schedule/delete", schedule_id=number)
    post("cancels again", "/messages/schedule/delete", schedule_id=number)

    to_one = [{"external_user_id": "u-1"}]
    planned = post("schedules a campaign", "/campaigns/trigger/schedule/create", campaign_id=campaign, recipients=to_one, schedule=later)
    number = {"campaign_id": campaign, "schedule_id": planned.json().get("schedule_id", "")}
    post("changes the campaign's schedule", "/campaigns/trigger/schedule/update", **number, schedule=later)
    post("cancels the campaign", "/campaigns/trigger/schedule/delete", **number)

    fields = ["external_id", "push_tokens", "devices", "custom_attributes", "push_subscribe"]
    post("exports", "/users/export/ids", external_ids=["u-1", "nobody"], fields_to_export=fields)
    post("exports nobody", "/users/export/ids", fields_to_export=["external_id"])
    post("deletes", "/users/delete", external_ids=["u-2", "nobody"])
    post("calls an unknown path", "/unknown")
