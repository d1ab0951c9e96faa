"""The scripted clients: equal answers for equal seeds, through a kill too."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from datetime import datetime, timezone

from ..clients import braze, ipns, notificationhubs, rationalowl, upmc
from ..clients.script import Script
from .support import LIMIT_SECONDS, PARENT, Running

SCRIPTS = {"rationalowl": rationalowl, "upmc": upmc, "ipns": ipns, "braze": braze, "notificationhubs": notificationhubs}
NEW_YEAR = "2026-01-01T00:00:00Z"
CAMPAIGN = {"campaign_id": "9a8b7c6d-0000-4000-8000-000000000001", "apple_push": {"alert": "Hi {{api_trigger_properties.${name}}}"}}


class Lines(list):
    """Collects the lines of a script, and kills the stub after one of them."""

    def __init__(self, after: int = 0, kill=None):
        super().__init__()
        self.after, self.kill = after, kill

    def write(self, line: str) -> None:
        self.append(json.loads(line))
        if self.kill and len(self) == self.after:
            self.kill()


class ClientTests(unittest.TestCase):
    maxDiff = None

    def start(self, vendor: str, folder: str, seed: str = "7", port: int = 0) -> Running:
        arguments = ["--seed", seed, "--time", NEW_YEAR, "--journal", f"{folder}/{vendor}.{seed}", "--port", str(port), "--set", "callsPerSecond=0"]
        return Running(vendor, *arguments)

    def prepare(self, vendor: str, stub: Running) -> None:
        if vendor == "braze":
            stub.control("POST", "campaigns", CAMPAIGN)

    def play(self, vendor: str, stub: Running, lines: Lines) -> list[dict]:
        script = Script(stub.address["url"], lines, "1", datetime(2026, 1, 1, tzinfo=timezone.utc), host="vendor.example.com")
        SCRIPTS[vendor].play(script, {})
        script.close()
        return [line["response"] for line in lines]

    def test_a_second_run_writes_equal_answers_although_the_stub_is_killed_in_the_middle(self):
        for vendor in SCRIPTS:
            with self.subTest(vendor), tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
                with self.start(vendor, folder) as stub:
                    self.prepare(vendor, stub)
                    lines = Lines()
                    wanted = self.play(vendor, stub, lines)
                    self.check(vendor, stub, lines)
                started = [self.start(vendor, other)]
                self.prepare(vendor, started[0])

                def kill() -> None:
                    started[-1].kill()
                    started.append(self.start(vendor, other, port=started[0].port))

                try:
                    self.assertEqual(self.play(vendor, started[0], Lines(20, kill)), wanted)
                finally:
                    for stub in started:
                        stub.__exit__(None, None, None)

    def check(self, vendor: str, stub: Running, lines: Lines) -> None:
        """The script pushes to several devices, and to none by a token that was refreshed; the stub has recorded what the script received."""
        self.assertGreater(len(lines), 30)
        tokens = {p["token"] for p in stub.control("GET", "pushes")["pushes"]}
        self.assertGreaterEqual(len(tokens), 2, vendor)
        self.assertNotIn(Script("http://x").token("one"), tokens)
        statuses = [line["response"]["status"] for line in lines]
        self.assertEqual([call["status"] for call in stub.control("GET", "calls")["calls"]], statuses)
        self.assertNotIn(500, statuses)

    def test_another_seed_gives_other_ids(self):
        with tempfile.TemporaryDirectory() as folder:
            answers = []
            for seed in ("7", "8"):
                with self.start("rationalowl", folder, seed) as stub:
                    answers.append(self.play("rationalowl", stub, Lines()))
        self.assertNotEqual(*answers)

    def test_the_command(self):
        with tempfile.TemporaryDirectory() as folder, self.start("ipns", folder) as stub:
            command = [sys.executable, "-m", "vendorstubs.clients", "ipns", "--base", stub.address["url"], "--out", f"{folder}/out", "--time", NEW_YEAR]
            environment = os.environ | {"PYTHONPATH": str(PARENT), "PYTHONDONTWRITEBYTECODE": "1"}
            subprocess.run(command, check=True, env=environment, timeout=LIMIT_SECONDS)
            with open(f"{folder}/out", encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
        self.assertEqual(list(lines[0]), ["number", "name", "request", "response"])
        self.assertEqual([name for name, _ in lines[0]["response"]["headers"]], ["Content-Type", "Content-Length", "Date"])
        self.assertEqual(dict(lines[0]["response"]["headers"])["Date"], "")

    def test_help(self):
        for module in ("vendorstubs", "vendorstubs.clients"):
            environment = os.environ | {"PYTHONPATH": str(PARENT), "PYTHONDONTWRITEBYTECODE": "1"}
            result = subprocess.run([sys.executable, "-m", module, "--help"], capture_output=True, text=True, env=environment, timeout=LIMIT_SECONDS)
            self.assertEqual(result.returncode, 0)
            for vendor in SCRIPTS:
                self.assertIn(vendor, result.stdout)
