"""Changed requests: a stub answers whatever arrives, and its own mistakes do not look like the vendor's refusals."""

import json
import random
import unittest
from datetime import datetime, timezone
from urllib.parse import parse_qsl, urlencode

from ..__main__ import VENDORS, stub_of
from ..clients.script import Answer, Script
from .support import NEW_YEAR, Bench
from .test_clients import CAMPAIGN, SCRIPTS

ROUNDS = 20
VALUES = [None, True, 0, -1, 3.5, "", "x", "é" * 300, "\ud800", [], [1], [None], {}, {"a": 1}, {"inc": "x"}, [[]], "2026-01-01T00:00:00Z", 10**30]
FORM_VALUES = ["", "x", "[", "[1]", "{}", "-5", "é", "%zz"]


class Changed(Script):
    """Plays a script on a stub without sockets, with changes in about each tenth value."""

    def __init__(self, bench: Bench, chance: random.Random | None):
        super().__init__("http://vendor.example.com", [], "1", datetime.fromtimestamp(NEW_YEAR / 1000, timezone.utc))
        self.bench, self.chance = bench, chance
        self.out = self

    def write(self, line: str) -> None:
        """The lines are not needed."""

    def exchange(self, method, target, headers, data) -> Answer:
        if self.chance is not None:
            data = self.changed(data, headers.get("Content-Type", ""))
        answer = self.bench.call(method, target, data, [("Host", self.host), *headers.items()])
        self.bench.pushes()
        return Answer(answer.status, answer.headers, answer.body)

    def changed(self, data: bytes, kind: str) -> bytes:
        try:
            return json.dumps(self.value(json.loads(data))).encode()
        except ValueError:
            pass
        if "urlencoded" in kind:
            pairs = parse_qsl(data.decode(), keep_blank_values=True)
            return urlencode([(k, self.chance.choice(FORM_VALUES) if self.chance.random() < 0.1 else v) for k, v in pairs if self.chance.random() > 0.04]).encode()
        changed = bytearray(data)
        if changed and self.chance.random() < 0.5:
            changed[self.chance.randrange(len(changed))] = self.chance.randrange(256)
        return bytes(changed)

    def value(self, value):
        if self.chance.random() < 0.1:
            return self.chance.choice(VALUES)
        if isinstance(value, dict):
            return {k: self.value(v) for k, v in value.items() if self.chance.random() > 0.04}
        return [self.value(v) for v in value] if isinstance(value, list) else value


class MutationTests(unittest.TestCase):
    def test_no_change_of_a_documented_call_makes_a_stub_fail(self):
        for vendor in VENDORS:
            for seed in range(ROUNDS):
                with self.subTest(vendor, seed=seed):
                    bench = Bench(stub_of(vendor))
                    bench.stub.control("campaigns", CAMPAIGN)
                    SCRIPTS[vendor].play(Changed(bench, random.Random(seed)), {})
                    bench.wait(30 * 86_400_000)
                    json.dumps(bench.stub.snapshot())
