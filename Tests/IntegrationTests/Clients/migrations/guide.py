"""Runs every command of docs/migration.md: those of all vendors, and then those of one vendor, against its stub, with the provisioning of the guide.

The migration goes to its end, and each decision must have the effect that the guide states. The test substitutes addresses, hosts and networks of the provisioning
block (`Guide.provisioned`), the secrets, and durations and some gates of the plan (`shortened`). The back end sends messages when a gate lacks samples: without them
the gates hold `advance`.
"""

import csv
import gzip
import itertools
import json
import re
import shutil
import subprocess
import textwrap
import time
from pathlib import Path

from .calls import Calls
from .fleet import eventually
from .journey import Journey
from .vendors import Phone

TITLES = {"upmc": "UPMC", "ipns": "iPNS", "rationalowl": "RationalOwl", "braze": "Braze", "notificationhubs": "Notification Hubs"}
# Commands of the node's own files and database. All others call the API.
LOCAL = {"apply", "doctor", "devices"}
# As many as the gate `devices` needs.
DEVICES = 200
# As many phones as the dialects permit in one send: Notification Hubs has 20 tags in an expression, Braze 50 users.
NAMED = 20
# A gate of which samples are missing.
LACKS = re.compile(r"needs (\d+) more samples")
# Messages that were sent count for the gates after this long.
COUNTED_SECONDS = 5.0
# A step has its samples within this time, also where debug builds and the runs of three vendors share two cores.
STEP_SECONDS = 300.0
# The gates that this test does not fill. `failures` is filled when all pushes are the gateway's.
GIVEN_UP = {"responses", "optOuts", "reach", "payload", "p99", "receipts", "unknown"}
HAS_MOVED = re.compile(r"percent: 100\b|stage: hold\b")
# The state after each decision.
STATES = {
    "start": {"running"}, "advance": {"running", "rolledOut"}, "pause": {"paused"}, "resume": {"running", "rolledOut"}, "rollback": {"rolledBack"},
    "complete": {"completed"},
}  # fmt: skip
# The members of a vendor that the guide's binding names, and their names there.
MEMBERS = {
    "upmc": {"app": "applicationId"},
    "ipns": {"app": "appId"},
    "rationalowl": {"account": "accountId", "service": "serviceId"},
    "braze": {},
    "notificationhubs": {"hub": "hub", "rule": "name"},
}


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


def inline(text: str) -> list[tuple[str, str]]:
    """The commands in the prose of the guide, each with its part."""
    found, part = [], ""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    for match in re.finditer(r"^## ([^\n]+)$|`(push-gateway [^`\n]+)`", prose, re.M):
        if match.group(1):
            part = match.group(1).strip()
        else:
            found.append((part, match.group(2)))
    return found


def provisioning(text: str, title: str) -> tuple[str, str]:
    """The credentials and the bindings of a vendor's block of provisioning, as they are written."""
    part = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = re.search(r"^```yaml\ncredentials:\n(.*?)^apps:\n  - id: shop\n    bindings:\n(.*?)^```$", part, re.M | re.S)
    if found is None:
        raise AssertionError(f"the guide has no provisioning for {title}, or one of another form")
    return found.group(1), found.group(2)


def shortened(plan: str) -> str:
    """A plan that goes to its end within a test.

    - `for` is left out, so that a step lasts no time.
    - The gates of `GIVEN_UP`, and `failures` while pushes of the vendor are left, are given up by name.

    All others keep their limits: `observed` and `senders` (200 sends that are proxied), `devices` (the guide's own comparison), `backlog`, and `failures`
    (200 pushes of the gateway).
    """

    def gate(found: re.Match, given_up: set[str]) -> str:
        return f"{found[1]}: none" if found[1] in given_up else found[0]

    lines = []
    for line in plan.splitlines():
        given_up = GIVEN_UP if HAS_MOVED.search(line) else GIVEN_UP | {"failures"}
        line = re.sub(r" for: \w+,", "", line)
        lines.append(re.sub(r'\b(\w+): "[^"]*"', lambda found, given_up=given_up: gate(found, given_up), line))
    return "\n".join(lines) + "\n"


class Guide(Journey):
    """A tenant `acme` with the app `shop`, as the guide has them."""

    first_percent = None

    def __init__(self, vendor, options):
        self.text = Path(options.guide).read_text()
        self.title = TITLES[vendor.name]
        self.credentials, self.bindings = provisioning(self.text, self.title)
        # The stub, and the calls of the back end, have the names of the guide's binding.
        for member, name in MEMBERS[vendor.name].items():
            found = re.search(rf"\b{name}: ([^,\s}}\]]+)", self.bindings)
            if found is None:
                raise AssertionError(f"the guide's binding has no {name}")
            setattr(vendor, member, found.group(1))
        super().__init__(vendor, options)
        self.root = Path(options.guide).resolve().parent.parent
        self.work = self.place.directory / "guide"
        self.plan_file = f"docs/migration/plans/{vendor.name}.yaml"
        self.devices = [Phone(number, "guide") for number in range(1, DEVICES + 1)]
        # Decisions that a gate without samples has held at first.
        self.held: list[str] = []
        self.numbers = itertools.count(1)

    def play(self) -> None:
        self.prepare()
        every = [block for block in blocks(self.text) if self.is_mine(block.part)]
        if not any(block.part == self.title for block in every):
            raise AssertionError(f"the guide has no commands for {self.title}")
        count = sum(self.run_block(block) for block in every)
        prose = [command for part, command in inline(self.text) if self.is_mine(part)]
        for command in prose:
            self.parse(command)
        self.after()
        print(f"{count} commands of the guide, {len(self.held)} of them held by a gate at first; {len(prose)} in its prose", flush=True)

    def is_mine(self, part: str) -> bool:
        return part == self.title or part not in TITLES.values()

    def prepare(self) -> None:
        """The files that the guide names, in a folder of their own, and the vendor's devices."""
        self.work.mkdir()
        shutil.copytree(self.root / "docs" / "migration", self.work / "docs" / "migration")
        (self.work / "shop.yaml").write_text(self.provisioned((self.place.directory / "tenants.yaml").read_text()))
        # The files that it names are next to it.
        for name in ("AuthKey_DEMOKEY001.p8", "simulator-ca.pem"):
            (self.work / name).symlink_to(self.place.directory / name)
        self.old_key = self.vendor.old_key(self.stub.vendor)
        self.export(self.devices)
        # Those who have not opted out are registered at the vendor; the gateway gets them from the export.
        self.register(self.stub.vendor, self.devices[:-1])

    def register(self, calls: Calls, phones: list[Phone]) -> None:
        self.fleet.each(phones, lambda phone: self.vendor.register(calls, phone))

    def provisioned(self, base: str) -> str:
        """The tenant of the tests with the guide's credentials and bindings. Only the vendor's address, the host of calls and the back end's network differ."""
        scopes = "scopes: [send, devices, read, content]"
        if scopes not in base or "  - id: acme\n" not in base:
            raise AssertionError("the provisioning file of the tests has another form")
        address = f'url: "{self.stub.address["url"]}"'
        credentials = re.sub(r'\burl: "https://[^"]+"', address, self.credentials)
        if address not in credentials:
            raise AssertionError("the guide's credential has no address")
        bindings = re.sub(r"\bhost: [\w.-]+", "host: 127.0.0.1", self.bindings).replace("[10.20.0.0/16]", '[127.0.0.1, "::1"]')
        bindings, credentials = (textwrap.indent(part, "    ") for part in (bindings, credentials))
        whole = base.replace(scopes, scopes.replace("]", ", admin]")).replace("    credentials:\n", "    credentials:\n" + credentials)
        return whole.partition("bindings:\n")[0] + "bindings:\n" + bindings

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
                # Installations, as the stub has them, and one registration.
                names = [f",$InstallationId:{{{p.device.lower()}}},$UserId:{{{p.user}}}" for p in phones[:-1]] + [""]
                lines = [
                    f"<AppleRegistrationDescription {namespace}><ETag>1</ETag><RegistrationId>{number}-{number}-1</RegistrationId>"
                    f"<Tags>seoul{name}</Tags><DeviceToken>{p.token.upper()}</DeviceToken></AppleRegistrationDescription>\n"
                    for number, (p, name) in enumerate(zip(phones, names, strict=True), 1)
                ]
                (self.work / "registrations.txt").write_text("".join(lines))
        if rows:
            if "PUSH_YN" in rows[-1]:
                rows[-1]["PUSH_YN"] = "N"
            with open(self.work / "devices.csv", "w", newline="") as stream:
                writer = csv.DictWriter(stream, rows[0])
                writer.writeheader()
                writer.writerows(rows)

    def run_block(self, block: Block) -> int:
        """Runs the commands of a block, and returns their number. The block of "every further step" is repeated until all steps before the end are done."""
        count, is_repeated = 0, any(" advance " in command for command in block.commands)
        if is_repeated and not self.vendor.exports_tokens:
            # Tokens arrive when the devices call the gateway.
            self.register(self.calls, self.devices)
        while True:
            for command in block.commands:
                self.run(command)
            count += len(block.commands)
            if not is_repeated or self.state()[1] == "hold":
                return count

    def run(self, command: str) -> None:
        words = command.split()
        if words[0] != "push-gateway":
            raise AssertionError(f"not a command of the gateway: {command}")
        is_decision = words[1] == "migration" and words[2] in STATES
        if words[1:] == ["migration", "plan", self.plan_file]:
            # The file as it is was checked by `--dry-run`.
            file = self.work / self.plan_file
            file.write_text(shortened(file.read_text()))
        before = self.state()[1] if words[1:3] == ["migration", "advance"] else ""
        status, said = self.fill_gates(command) if is_decision else self.carry_out(command)
        if status != 0:
            raise AssertionError(f"{command}: {status} {said}")
        if words[1:3] == ["devices", "import"] and (not re.search(rf"\b{DEVICES} rows,", said) or not re.search(r"^rejected +0$", said, re.M)):
            raise AssertionError(f"{command}: {said}")
        if words[1:3] == ["migration", "plan"] and "--dry-run" not in words and "is planned" not in said:
            raise AssertionError(f"{command}: {said}")
        if is_decision:
            self.decided(command, words[2], before)
        if words[1] == "apply":
            eventually("the app is served", lambda: (self.native.call("GET", "/v1/apps/shop/routes", {}) or 0).status == 200)

    def carry_out(self, command: str) -> tuple[int, str]:
        """Runs a command of the guide as it is written, at the gateway of the test. Returns its status and output."""
        is_local = command.split()[1] in LOCAL
        place = f" --data-dir '{self.place.directory / 'data'}'" if is_local else f" --url {self.place.gateway()}"
        done = self.shell(command.replace("push-gateway", f"'{self.place.program}'", 1) + place, {"PUSH_GATEWAY_KEY": self.place.key})
        print(f"{done.returncode} {command}", flush=True)
        return done.returncode, done.stdout + done.stderr

    def shell(self, line: str, own: dict[str, str]) -> subprocess.CompletedProcess:
        whole = {name: value for name, value in self.place.environment.items() if name != "PUSH_GATEWAY_KEY"}
        whole |= {"DEMO_API_KEY": self.place.key, "OLD_KEY": self.old_key, "PATH": "/usr/bin:/bin"} | own
        return subprocess.run(["/bin/sh", "-c", line], cwd=self.work, env=whole, capture_output=True, text=True, timeout=120, check=False)

    def parse(self, command: str) -> None:
        """Checks the arguments of a command in the prose without carrying it out: one whose arguments are right asks for the API key, which is missing."""
        if command.split()[1] in LOCAL:
            raise AssertionError(f"the command needs no API key, so that it belongs in a block, which runs: {command}")
        words = [{"ID": "leave-it", "FILE": self.plan_file}.get(word, word) for word in command.split()]
        done = self.shell(" ".join([f"'{self.place.program}'", *words[1:]]), {})
        if done.returncode != 2 or "set PUSH_GATEWAY_KEY" not in done.stderr:
            raise AssertionError(f"in the prose: {command}: {done.returncode} {done.stdout}{done.stderr}")

    # The way to the end.

    def fill_gates(self, command: str) -> tuple[int, str]:
        """Makes a decision as soon as its gates have their samples, for which the back end sends messages."""
        limit, sent_at = time.monotonic() + STEP_SECONDS, 0.0
        while True:
            status, said = self.carry_out(command)
            lacks = LACKS.search(said)
            if status == 0 or lacks is None or time.monotonic() > limit:
                return status, said
            if not sent_at:
                self.held.append(command)
            if not sent_at or time.monotonic() - sent_at > COUNTED_SECONDS:
                self.send_messages(int(lacks[1]), is_pushed="failures" in said)
                sent_at = time.monotonic()
            time.sleep(0.3)

    def send_messages(self, samples: int, is_pushed: bool) -> None:
        """Sends messages of the back end through the gateway. A gate counts sends, or pushes that the gateway makes, of which a message to several phones has many."""
        phones = self.devices[:-1]
        named = [phones[:NAMED]] * (samples // NAMED + 5) if is_pushed else [[phones[number % len(phones)]] for number in range(samples + 5)]
        self.fleet.each(named, self.send)

    def send(self, phones: list[Phone]) -> None:
        answer = self.vendor.send(self.calls, f"Guide {next(self.numbers)}", phones)
        if answer is None or not self.vendor.is_accepted(answer):
            raise RuntimeError(f"a send was refused: {answer and (answer.status, answer.body[:300])}")

    def sends_follow(self, is_proxied: bool) -> None:
        """Waits until a send of the back end reaches the vendor, or does not."""

        def is_followed() -> bool:
            before = self.calls_of_stub()
            self.send(self.devices[:1])
            return (self.calls_of_stub() > before) == is_proxied

        eventually(f"sends are {'proxied' if is_proxied else 'served'}", is_followed)

    def state(self) -> tuple[str, str]:
        """The status and the stage of the only migration."""
        listed = self.native.get("/v1/migrations")["migrations"]
        if [one["app"] for one in listed] != ["shop"]:
            raise AssertionError(f"other migrations: {listed}")
        return listed[0]["status"], listed[0]["stage"]

    def decided(self, command: str, act: str, before: str) -> None:
        """A decision has had its effect on the migration, and on the side that sends. `before`: the stage from which it advances."""
        status, stage = self.state()
        if status not in STATES[act] or act == "advance" and stage == before:
            raise AssertionError(f"{command}: the migration is {status}, {stage}")
        if act == "start":
            # From here on the address of the app and of the back end leads to the gateway.
            self.proxied()
            self.vendor.enter(self.calls)
        wanted = {"rollback": "proxy", "complete": "serve"}.get(act)
        if wanted is None:
            return
        answer = self.native.json("POST", "/v1/apps/shop/routes/test", {}, {"vendor": self.vendor.name, "kind": "send"})
        action = answer.json().get("call", {}).get("action") if answer is not None else None
        if action != wanted:
            raise AssertionError(f"{command}: sends have the action {action}")
        self.sends_follow(is_proxied=wanted == "proxy")

    def after(self) -> None:
        """The guide goes to the end of the migration, and no step that needs data has ended without them."""
        if self.state() != ("completed", "complete"):
            raise AssertionError(f"the migration is in another state: {self.state()}")
        if not any(" advance " in command for command in self.held):
            raise AssertionError(f"a step has ended without data: {self.held}")
