"""Drives braze-client, a third-party client of Braze, unchanged: only its address and its key are set.

usage: braze_users.py URL CAMPAIGN, the key in BRAZE_KEY; one JSON object per call on standard output.
"""

import asyncio
import datetime
import json
import os
import sys

# The version of tenacity that the client requires uses this function, which Python removed in 3.11.
asyncio.coroutine = getattr(asyncio, "coroutine", lambda function: function)

from braze.client import BrazeClient  # noqa: E402


def report(name: str, call) -> None:
    """Prints the answer of the client, or its error."""
    try:
        print(json.dumps({"name": name, "answer": call()}))
    except Exception as error:
        print(json.dumps({"name": name, "error": f"{type(error).__name__}: {error}", "errors": getattr(error, "errors", None)}))


def main() -> None:
    url, campaign = sys.argv[1:3]
    client = BrazeClient(api_key=os.environ["BRAZE_KEY"], api_url=url)
    when = "2026-01-01T00:00:00Z"
    attributes = [
        {"external_id": "p-1", "first_name": "Mina", "loyalty": {"inc": 5}, "push_subscribe": "opted_in"},
        {"external_id": "p-2", "city": "Seoul"},
    ]
    events = [{"external_id": "p-1", "name": "seen", "time": when, "properties": {"sku": "A1"}}, {"name": "nobody's", "time": when}]
    purchases = [{"external_id": "p-1", "product_id": "A1", "currency": "KRW", "price": 9900, "quantity": 2, "time": when}]
    report("part", lambda: client.user_track(attributes=attributes, events=events, purchases=purchases))
    report("repeat", lambda: client.user_track(attributes=attributes, events=events, purchases=purchases))
    report("none", lambda: client.user_track(events=events[1:]))
    report("export", lambda: client.user_export(external_ids=["p-1", "stranger"]))
    fields = ["external_id", "custom_attributes"]
    report("fields", lambda: client.user_export(external_ids=["p-1"], fields_to_export=fields))
    report("email", lambda: client.user_export(email="a@example.com"))
    report("delete", lambda: client.user_delete(external_ids=["p-1", "stranger"]))
    report("gone", lambda: client.user_export(external_ids=["p-1", "p-2"], fields_to_export=["external_id"]))
    later = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    report("schedule", lambda: client.campaign_trigger_schedule_create(campaign, {"time": later}, broadcast=True))
    report("campaign", lambda: client.campaign_trigger_schedule_create("x", {"time": later}, broadcast=True))
    # Integrations from before April 2020 send their key like this.
    older = BrazeClient(api_key=os.environ["BRAZE_KEY"], api_url=url, use_auth_header=False)
    report("older", lambda: older.user_track(attributes=[{"external_id": "p-3", "n": 1}]))
    stranger = BrazeClient(api_key="another key altogether", api_url=url)
    report("stranger", lambda: stranger.user_track(attributes=attributes))


main()
