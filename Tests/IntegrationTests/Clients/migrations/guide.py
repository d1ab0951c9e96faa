"""Runs every command of docs/migration.md: those of all vendors, and then those of one vendor, against its stub."""

import csv
import gzip
import json
import re
import subprocess
from pathlib import Path

from .fleet import eventually
from .journey import Journey
from .vendors import Phone

TITLES = {"upmc": "UPMC", "ipns": "iPNS", "rationalowl": "RationalOwl", "braze": "Braze", "notificationhubs": "Notification Hubs"}
CREDENTIALS = {"upmc": "old-upmc", "ipns": "old-ipns", "rationalowl": "old-rationalowl", "braze": "old-braze", "notificationhubs": "old-hub"}
# Commands of the node's own files and database. All others call the API.
LOCAL = {"apply", "doctor", "devices"}
# A new gateway has no data, so that its gates hold the step. Each other reason fails the test.
HOLDS = re.compile(r"needs \d+ more samples|the step lasts for another \d+ s|does not allow it")
DEVICES = 12


class Block:
    """The commands of a code block, under the heading of its part."""

    def __init__(self, part: str, text: str):
        self.part = part
        self.commands = [line.partition(" #")[0].strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def blocks(text: str) -> list[Block]:
    """The blocks of commands in their order. Part: the heading of the second level before them."""
    found, part = [], ""
    for match in re.finditer(r"^## ([^\n]+)$|^```sh\n(.*?)^```$", text, re.M | re.S):
        if match.group(1):
            part = match.group(1).strip()
        else:
            found.append(Block(part, match.group(2)))
    return found


class Guide(Journey):
    """A tenant `acme` with the app `shop`, as the guide has them."""

    def __init__(self, vendor, options):
        super().__init__(vendor, options)
        self.root = Path(options.guide).resolve().parent.parent
        self.work = self.place.directory / "guide"
        self.refused: list[str] = []

    def play(self) -> None:
        self.prepare()
        every = blocks(Path(self.options.guide).read_text())
        title = TITLES[self.vendor.name]
        if not any(block.part == title for block in every):
            raise AssertionError(f"the guide has no commands for {title}")
        count = 0
        for block in every:
            if block.part in TITLES.values() and block.part != title:
                continue
            for command in block.commands:
                self.run(command)
                count += 1
        self.after()
        print(f"{count} commands of the guide, {len(self.refused)} of them held by a gate", flush=True)

    def prepare(self) -> None:
        """The files that the guide names, in a folder of their own."""
        self.work.mkdir()
        (self.work / "docs").symlink_to(self.root / "docs")
        base = (self.place.directory / "tenants.yaml").read_text()
        scopes = "scopes: [send, devices, read, content]"
        if scopes not in base or "  - id: acme\n" not in base:
            raise AssertionError("the provisioning file of the tests has another form")
        upstream = f"    credentials:\n      - {{ id: {CREDENTIALS[self.vendor.name]}, {self.vendor.credential(self.stub.address['url'])} }}\n"
        binding = re.sub(r"bindings:\n.*\Z", f"bindings:\n          {self.vendor.binding()}\n", base, flags=re.S)
        file = self.work / "shop.yaml"
        file.write_text(binding.replace(scopes, scopes.replace("]", ", admin]")).replace("    credentials:\n", upstream))
        # The files that it names are next to it.
        for name in ("AuthKey_DEMOKEY001.p8", "simulator-ca.pem"):
            (self.work / name).symlink_to(self.place.directory / name)
        self.old_key = self.vendor.old_key(self.stub.vendor)
        self.export([Phone(number, "guide") for number in range(1, DEVICES + 1)])

    def export(self, phones: list[Phone]) -> None:
        """An export of the vendor: each phone, of which the last has opted out."""
        rows: list[dict] = []
        match self.vendor.name:
            case "upmc":
                rows = [
                    {"PNSID": "APNS", "DEVICE_ID": p.device, "PSID": p.token, "CUID": p.user, "CNAME": p.user, "PHONENUM": p.phone, "PUSH_YN": "Y",
                     "APNS_MODE": "REAL", "APP_VER": "120", "MODDATE": "2026-03-01 09:00:00"}
                    for p in phones
                ]  # fmt: skip
            case "ipns":
                window = {"START_TIME": "0000", "END_TIME": "2359"}
                rows = [
                    {"DEVICE_ID": p.device, "PUSH_TYPE": "ios", "PUSH_TOKEN": p.token, "USER_CN": p.user, "PUSH_YN": "Y"} | window
                    for p in phones
                ]
            case "rationalowl":
                rows = [{"dRId": p.key, "dt": "2", "pn": p.phone, "n": p.user} for p in phones]
            case "braze":
                (self.work / "export").mkdir()
                lines = [
                    {"external_id": p.user, "push_subscribe": "subscribed"}
                    | {"push_tokens": [{"app": "Shop iOS", "platform": "ios", "token": p.token, "device_id": p.device}]}
                    for p in phones
                ]
                lines[-1]["push_subscribe"] = "unsubscribed"
                with gzip.open(self.work / "export" / "users.json.gz", "wt") as stream:
                    stream.writelines(json.dumps(line) + "\n" for line in lines)
            case _:
                namespace = 'xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"'
                lines = [
                    f"<AppleRegistrationDescription {namespace}><ETag>1</ETag><RegistrationId>{number}-{number}-1</RegistrationId>"
                    f"<Tags>seoul</Tags><DeviceToken>{p.token.upper()}</DeviceToken></AppleRegistrationDescription>\n"
                    for number, p in enumerate(phones, 1)
                ]
                (self.work / "registrations.txt").write_text("".join(lines))
        if rows:
            if "PUSH_YN" in rows[-1]:
                rows[-1]["PUSH_YN"] = "N"
            with open(self.work / "devices.csv", "w", newline="") as stream:
                writer = csv.DictWriter(stream, rows[0])
                writer.writeheader()
                writer.writerows(rows)

    def run(self, command: str) -> None:
        words = command.split()
        if words[0] != "push-gateway":
            raise AssertionError(f"not a command of the gateway: {command}")
        place = f" --data-dir '{self.place.directory / 'data'}'" if words[1] in LOCAL else f" --url {self.place.gateway()}"
        line = command.replace("push-gateway", f"'{self.place.program}'", 1) + place
        environment = {"PUSH_GATEWAY_KEY": self.place.key, "DEMO_API_KEY": self.place.key, "OLD_KEY": self.old_key, "PATH": "/usr/bin:/bin"}
        whole = self.place.environment | environment
        done = subprocess.run(["/bin/sh", "-c", line], cwd=self.work, env=whole, capture_output=True, text=True, timeout=120, check=False)
        said = done.stdout + done.stderr
        print(f"{done.returncode} {command}", flush=True)
        if done.returncode == 0:
            if words[1:3] == ["devices", "import"] and (not re.search(rf"\b{DEVICES} rows,", said) or not re.search(r"^rejected +0$", said, re.M)):
                raise AssertionError(f"{command}: {said}")
            if words[1:3] == ["migration", "plan"] and "--dry-run" not in words and "is planned" not in said:
                raise AssertionError(f"{command}: {said}")
        elif words[1] == "migration" and words[2] in ("advance", "complete") and HOLDS.search(said):
            self.refused.append(command)
        else:
            raise AssertionError(f"{command}: {done.returncode} {said}")
        if words[1] == "apply":
            eventually("the app is served", lambda: (self.native.call("GET", "/v1/apps/shop/routes", {}) or 0).status == 200)

    def after(self) -> None:
        """The guide leaves its migration running in the first stage, because nothing has been measured."""
        if not any("advance" in command for command in self.refused) or not any("complete" in command for command in self.refused):
            raise AssertionError(f"a step has ended without data: {self.refused}")
        listed = json.loads(self.place.command("migration", "status", "--json", "--url", self.place.gateway()).stdout)["migrations"]
        if [(one["app"], one["status"], one["stage"]) for one in listed] != [("shop", "running", "observe")]:
            raise AssertionError(f"the migration is in another state: {listed}")
