"""Every documented call is answered by its stub and played by its script, except for those that are named here with the reason."""

import json
import re
import unittest

from ..__main__ import VENDORS, stub_of
from .support import Bench, fixture
from .test_clients import CAMPAIGN, SCRIPTS
from .test_mutations import Changed

FOLDERS = {"rationalowl": "RationalOwl", "upmc": "UPMC", "ipns": "IPNS", "braze": "Braze", "notificationhubs": "NotificationHubs"}
NOT_ANSWERED = {
    "rationalowl": {r"/ro/v1/.*": "an extension of the gateway", "tracking callback": "a call of the vendor"},
    "upmc": {r"gw_.*": "an extension of the gateway"},
    "ipns": {},
    "braze": {
        r"POST /api/v3/.*": "the SDK's, because of its licence", r"POST /messages/live_activity/.*": "the contract states no request",
        "POST /canvas/trigger/send": "the contract states no request",
    },
    "notificationhubs": {
        r".* /api/.*": "the tutorial's back end is not the vendor's", r"GET /\{hub\}/feedbackcontainer": "the contract has none in this version",
        r"/\{hub\}/jobs": "the contract has none in this version",
    },
}  # fmt: skip


class Recorded(Changed):
    """Plays a script without changes and keeps each call."""

    def __init__(self, bench: Bench):
        super().__init__(bench, None)
        self.calls: list[tuple[str, str, dict, int, bytes]] = []

    def exchange(self, method, target, headers, data):
        answer = super().exchange(method, target, headers, data)
        self.calls.append((method, target, headers, answer.status, answer.body))
        return answer


def is_unknown(vendor: str, status: int, body: bytes) -> bool:
    """The stub's answer to a call that it does not know."""
    if vendor in ("upmc", "ipns"):
        return b'"unknown service"' in body or b'"unknown operation"' in body or status == 404
    return status == 404 and b"Installation" not in body and b"Detail>.TrackingId" not in body and b"Scheduled" not in body


def plays(vendor: str, call: str, method: str, target: str, headers: dict) -> bool:
    """Whether this request is the catalogue's call."""
    path, _, query = target.partition("?")
    if vendor in ("rationalowl", "upmc", "ipns"):
        return path.strip("/").removesuffix(".ctl").endswith(call.strip("/"))
    verb, _, pattern = call.partition(" ")
    pattern, _, detail = pattern.partition(" ")
    pattern, _, flag = pattern.partition("?")
    shape = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(pattern)) + "/?"
    if detail and headers.get("ServiceBusNotification-Format") != "template" or flag and flag not in query.split("&"):
        return False
    return method == verb and re.fullmatch(shape, path) is not None


class CatalogueTests(unittest.TestCase):
    def test_every_documented_call_is_answered_and_played(self):
        for vendor in VENDORS:
            bench = Bench(stub_of(vendor))
            bench.stub.control("campaigns", CAMPAIGN)
            script = Recorded(bench)
            SCRIPTS[vendor].play(script, {})
            for entry in json.loads(fixture(FOLDERS[vendor], "catalogue.json"))["calls"]:
                call = entry["call"] if isinstance(entry, dict) else entry
                with self.subTest(vendor, call=call):
                    found = [(status, body) for method, target, headers, status, body in script.calls if plays(vendor, call, method, target, headers)]
                    if any(re.fullmatch(pattern, call) for pattern in NOT_ANSWERED[vendor]):
                        self.assertEqual(found, [])
                    else:
                        self.assertTrue(any(not is_unknown(vendor, *answer) for answer in found))
