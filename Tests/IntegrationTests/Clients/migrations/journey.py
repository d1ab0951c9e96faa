"""The way of an app from its vendor: observe → serve → 1 → 50 → 100 → rollback → 100 → complete, by `push-gateway migration` alone."""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence

from .calls import Calls
from .fleet import FOLLOWS_SECONDS, TEXT, Fleet, Message, eventually, is_inside, phones_of_run
from .vendors import VENDORS, Phone, Vendor

STUBS = pathlib.Path(__file__).resolve().parent.parent / "vendorstubs" / "__main__.py"
# A gate has its samples within this time, or the test fails with the gateway's reason.
ADVANCE_SECONDS = 60.0
# The processes that can be killed.
VICTIMS = ("gateway", "database", "stub")
# Calls of a step during which a process can be killed.
ACTIVITIES = ("registrations", "sends", "receipts", "opt-outs")
# With as many phones, each process is killed at many moments of a run; with fewer, once.
MANY_PHONES = 200
# The step of 100 % from which a rollback is possible.
HOLD = "hold"
# New tokens in a step, and in one that kills a process during them.
REFRESHES, REFRESHES_WITH_KILLS = 2, 12


class Place:
    """The programs and files of a test."""

    def __init__(self, options):
        self.directory, self.program = pathlib.Path(options.directory), options.program
        self.key = os.environ["PUSH_GATEWAY_KEY"]
        self.restarts = pathlib.Path(options.restart)
        self.app = "moving"
        self.environment = dict(os.environ)

    def gateway(self) -> str:
        """The address; it changes when the gateway starts again."""
        path = self.directory / "gateway.json"
        try:
            return "http://" + json.loads(path.read_text())["http"]
        except (OSError, ValueError, KeyError):
            # It is starting: the calls are repeated.
            raise ConnectionRefusedError("the gateway is starting") from None

    def kill(self, victim: str) -> None:
        """Asks for a SIGKILL of the gateway or of its database, and waits until it has been started again."""
        whole = self.restarts.with_suffix(".new")
        whole.write_text(victim)
        whole.replace(self.restarts)
        eventually(f"the {victim} has started again", lambda: not self.restarts.exists())

    def command(self, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        whole = self.environment | {"PUSH_GATEWAY_KEY": self.key} | (environment or {})
        return subprocess.run([self.program, *arguments], env=whole, capture_output=True, text=True, timeout=120, check=False)

    def need(self, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        """A command that must succeed."""
        done = self.command(*arguments, environment=environment)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done

    def migration(self, *arguments: str) -> str:
        done = self.need("migration", *arguments, "--url", self.gateway())
        print(f"migration {' '.join(arguments)}", flush=True)
        return done.stdout

    def advance(self, name: str) -> None:
        """Advances as soon as the gates of the step have enough samples and pass."""
        limit = time.monotonic() + ADVANCE_SECONDS
        while True:
            done = self.command("migration", "advance", name, "--url", self.gateway())
            if done.returncode == 0:
                print(f"migration advance {name}", flush=True)
                return
            if time.monotonic() > limit:
                shown = self.command("migration", "status", name, "--url", self.gateway())
                raise AssertionError(f"the step does not end: {done.stdout}{done.stderr}\n{shown.stdout}")
            time.sleep(0.3)

    def provision(self, vendor: Vendor, url: str, old_key: str) -> None:
        """The app with the vendor's binding and the vendor as its upstream, in the test's provisioning file."""
        base = (self.directory / "tenants.yaml").read_text()
        base = base.replace("scopes: [send, devices, read, content]", "scopes: [send, devices, read, content, admin]")
        upstream = f"    credentials:\n      - {{ id: old, {vendor.credential(url)} }}\n"
        topic = base.partition("topic: ")[2].partition(",")[0]
        app = f"\n      - id: {self.app}\n        platforms:\n          ios: {{ topic: {topic}, production: apple }}\n"
        app += f"        bindings:\n          {vendor.binding()}\n"
        file = self.directory / "moving.yaml"
        file.write_text(base.rstrip("\n").replace("    credentials:\n", upstream) + app)
        environment = {"DEMO_API_KEY": self.key, "OLD_KEY": old_key}
        self.need("apply", "--file", str(file), "--data-dir", str(self.directory / "data"), environment=environment)


class Stub:
    """The vendor, as a process, whose state outlives it."""

    def __init__(self, vendor: Vendor, options, port: str):
        self.arguments = [
            sys.executable, str(STUBS), vendor.name, "--apns", f"https://localhost:{port}", "--apns-ca", f"{options.directory}/simulator-ca.pem",
            "--key", options.stub_key, "--key-id", options.stub_key_id, "--team-id", options.stub_team_id, "--set", f"topic={options.topic}",
            "--journal", f"{options.directory}/stub.journal",
        ]  # fmt: skip
        for setting in vendor.stub_settings():
            self.arguments += ["--set", setting]
        self.process, self.address = self.start(0)
        self.vendor = Calls(lambda: self.address["url"])
        self.control = Calls(lambda: f"http://127.0.0.1:{self.address['control']}")

    def start(self, port: int) -> tuple[subprocess.Popen, dict]:
        process = subprocess.Popen([*self.arguments, "--port", str(port)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        return process, json.loads(process.stdout.readline())

    def kill(self) -> None:
        """SIGKILL, and a new start at the same address."""
        self.process.kill()
        self.process.wait(20)
        self.process, self.address = self.start(self.address["port"])

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(20)


def plan(vendor: Vendor, place: Place, name: str, samples: int) -> dict:
    """The steps, with the gates that this many messages can fill. Metrics that are not measured are given up by name."""

    def limit(text: str) -> dict:
        return {"limit": text, "samples": samples}

    receipts = {"unknown": limit("<= 0.01")} if vendor.has_receipts else {"unknown": "none"}
    few = {"failures": "none", "receipts": "none", "unknown": "none"}
    return {
        "migration": {"id": name, "app": place.app, "from": "old", "onGateFailure": "hold"},
        "steps": [
            {"stage": "observe", "gates": {"observed": limit(">= 0.99"), "senders": limit(">= 1")}},
            {"stage": "serve", "gates": {"backlog": "<= 60s"}},
            {"stage": "rollout", "percent": 1, "gates": few},
            {"stage": "rollout", "percent": 50, "gates": few},
            {"stage": "rollout", "percent": 100, "gates": {"failures": limit("<= 0.02"), "receipts": "none"} | receipts},
            {"stage": "hold"},
            {"stage": "complete"},
        ],
    }


class Journey:
    name = "leave"
    has_pairs = False
    # The first percentage that moves pushes. Some phones of each run are inside, and stay until it is in force. None: the names of the phones do not depend on one.
    first_percent: int | None = 1

    def __init__(self, vendor: Vendor, options):
        self.vendor, self.options, self.place = vendor, options, Place(options)
        simulated = json.loads((self.place.directory / "simulator.json").read_text())
        self.stub = Stub(vendor, options, simulated["apns"].rpartition(":")[2])
        self.calls = Calls(self.place.gateway)
        self.native = Calls(self.place.gateway, {"Authorization": f"Bearer {self.place.key}"})
        simulator = Calls(lambda: f"http://{simulated['control']}")
        phones = phones_of_run(options.devices, f"{vendor.name}/{options.seed}", self.is_first if self.first_percent else None)
        self.fleet = Fleet(vendor, self.calls, simulator, self.stub.control, phones, options.seed, options.opt_out_seconds, self.has_pairs)
        if options.opt_out_clock_seconds is not None:
            self.fleet.opt_out_clock_seconds = options.opt_out_clock_seconds
        self.fleet.probe = lambda: self.native.get("/v1/queue")
        # So many messages to each phone fill a gate.
        self.samples = max(200, options.devices)
        self.rounds = -(-self.samples // max(1, options.devices - 8))
        self.kills = [] if options.kills == "none" else options.kills.split(",")
        self.killing = threading.Lock()
        self.killed: list[str] = []

    def play(self) -> None:
        self.place.provision(self.vendor, self.stub.address["url"], self.vendor.old_key(self.stub.vendor))
        file = self.place.directory / "plan.json"
        file.write_text(json.dumps(plan(self.vendor, self.place, self.name, self.samples)))
        self.served()
        self.place.migration("plan", str(file))
        self.place.migration("start", self.name)
        # From here on the address of the app and of the back end leads to the gateway, once each node proxies.
        self.proxied()
        self.fleet.percent = 0
        self.vendor.enter(self.calls)
        self.fleet.register_all()
        self.counted()
        self.step(self.rounds)
        self.place.advance(self.name)
        self.step(1)
        self.place.advance(self.name)
        self.moved(1)
        kills = self.planned_kills()
        self.step(1, kills.get(1))
        self.place.advance(self.name)
        self.moved(50)
        self.step(2, kills.get(50))
        self.place.advance(self.name)
        self.moved(100)
        self.step(self.rounds)
        self.place.advance(self.name)
        self.step(1, kills.get(HOLD))
        self.place.migration("rollback", self.name)
        self.moved(0)
        self.step(1)
        self.place.migration("resume", self.name)
        self.moved(100)
        self.step(1)
        self.receipts_arrive()
        self.place.migration("complete", self.name)
        calls = self.rests()
        self.step(1, is_forwarded=False)
        self.receipts_arrive()
        self.fleet.check()
        if self.stub.control.get("/_stub/counts")["calls"] != calls:
            raise AssertionError("the vendor was called after the end")
        if self.stub.control.get("/_stub/counts")["paid"]:
            raise AssertionError("the vendor has sent messages that are charged")
        self.without_a_kill_all_is_certain()
        opted_out = sum(phone.has_left for phone in self.fleet.phones)
        print(
            f"{len(self.fleet.messages)} messages, {len(self.fleet.pushes)} pushes once each, {len(self.killed)} kills; {opted_out} opt-outs, "
            f"the slowest at the vendor after {self.fleet.slowest_opt_out:.2f} s of at most {self.fleet.opt_out_seconds:g} s in turns, "
            f"{self.fleet.slowest_opt_out_by_clock:.2f} s of at most {self.fleet.opt_out_clock_seconds:g} s by the clock",
            flush=True,
        )
        print(self.place.migration("status", self.name), flush=True)

    def planned_kills(self) -> dict[int | str, dict[str, list[str]]]:
        """Which processes are killed during which calls of which step. Its gates must not compare what a kill may fail.

        With few phones, the first is killed during the sends at 50 %, and each other one during other calls, which differ from vendor to vendor and from seed to seed.
        """
        others = [(1, "registrations"), (50, "receipts"), (HOLD, "opt-outs")]
        if not self.vendor.has_receipts:
            others.remove((50, "receipts"))
        if len(self.fleet.phones) >= MANY_PHONES:
            chosen = [(moment, kill) for moment in [(1, "sends"), (50, "sends"), (HOLD, "sends"), *others] for kill in self.kills]
        else:
            first = self.options.seed + list(VENDORS).index(self.vendor.name)
            chosen = [((50, "sends"), kill) for kill in self.kills[:1]]
            chosen += [(others[(first + number) % len(others)], kill) for number, kill in enumerate(self.kills[1:])]
        kills: dict[int | str, dict[str, list[str]]] = {}
        for (step, activity), kill in chosen:
            kills.setdefault(step, {}).setdefault(activity, []).append(kill)
        return kills

    def killer(self, kills: Sequence[str], count: int, first: int = 0) -> Callable[[int], None] | None:
        """Kills each of these processes before one of `count` calls that the seed selects, which it is called with. Those before `first` are not selected."""
        if not kills:
            return None
        fleet = self.fleet
        moments = dict(zip(fleet.random.sample(range(first, count), len(kills)), kills))

        def kill_at(number: int) -> None:
            if number in moments:
                # Until then each call must be accepted. While a process does not run, calls may be refused.
                with fleet.lock:
                    fleet.down |= {moments[number]}
                self.kill(moments[number])

        return kill_at

    def step(self, rounds: int, kills: dict[str, list[str]] | None = None, is_forwarded: bool = True) -> None:
        """`kills`: the processes that are killed, by the calls of `ACTIVITIES`."""
        fleet = self.fleet
        registrations, sends, receipts, opt_outs = ((kills or {}).get(activity, []) for activity in ACTIVITIES)
        if is_forwarded:
            count = min(REFRESHES_WITH_KILLS if registrations else REFRESHES, len(fleet.present))
            fleet.refresh(count, self.killer(registrations, count))
            fleet.down = frozenset()
        self.exchange(rounds, sends, receipts)
        self.sides_hold()
        fleet.look()
        percent = fleet.percent
        assert percent is not None
        # One opts out, or with kills one for each.
        for kill in opt_outs or [None]:
            during = self.killer([kill], 1) if kill else None
            fleet.opt_out(
                lambda phone: self.is_member(phone, percent), is_forwarded, lambda phone: percent > 0 or not self.is_first(phone),
                (lambda during=during: during(0)) if during else None,
            )  # fmt: skip
            fleet.down = frozenset()
        if opt_outs:
            # The push of a send without an answer comes before the phone has another token.
            self.wait_until_idle()
        self.arrive()
        # A push to a phone that has opted out is stated as such, and has nobody who reports it.
        fleet.check()
        fleet.report_all()

    def exchange(self, rounds: int, kills: Sequence[str] = (), kills_of_reports: Sequence[str] = ()) -> None:
        """Messages to each phone, and the reports of those that arrive. Processes are killed during the former or the latter."""
        fleet = self.fleet
        messages = fleet.send_to_each(rounds, self.killer(kills, len(fleet.present), 5), self.wait_for_restart)
        if kills:
            self.send_again(messages)
        fleet.down = frozenset()
        self.arrive()
        if kills:
            # A send without an answer may have been accepted: its push comes before the phone has another token, and is reported as others are.
            self.wait_until_idle()
            fleet.collect()
        fleet.report_all(self.killer(kills_of_reports, len(fleet.unreported())))
        fleet.down = frozenset()

    def wait_for_restart(self) -> None:
        """A back end whose send failed goes on when no process is being killed, so that a kill costs few sends."""
        with self.killing:
            pass

    def send_again(self, messages: list[Message]) -> None:
        """Each phone to which no send of its own was accepted gets another message, so that at least one must arrive, whatever was killed."""
        certain = [message for message in messages if message.is_certain]
        reached = {number for message in certain if not message.is_shared for number in message.tokens}
        others = [phone for phone in self.fleet.present if phone.number not in reached]
        print(f"sends with kills: {len(certain)} of {len(messages)} were accepted; again to {len(others)} phones", flush=True)
        for phone in others:
            eventually(f"a send to phone {phone.number} is accepted", lambda phone=phone: self.fleet.send([phone]).is_certain)

    def arrive(self) -> None:
        """Waits for every push that must arrive. After a kill, a side may state that it does not know."""
        self.fleet.arrive(self.uncertain if self.killed else None)

    # Sides.

    def moved(self, percent: int) -> None:
        """Another percentage is in force. Calls follow it within a second: until a phone that changes sides gets a message from its new side, either side may push.

        Every earlier message has ended by then, so that none of them is pushed by the rules of a later step.
        """
        fleet, former = self.fleet, self.fleet.percent or 0
        moving = next((phone for phone in fleet.present if self.is_member(phone, former) != self.is_member(phone, percent)), None)
        fleet.percent = None

        def is_followed(phone: Phone) -> bool:
            message = fleet.send([phone])
            self.arrive()
            ids = fleet.pushes.get((message.text, phone.token))
            return ids is not None and ids.isdisjoint(self.ids_of_vendor()) == self.is_member(phone, percent)

        if moving is not None:
            eventually(f"sends follow the rules of {percent} %", lambda: is_followed(moving))
            # Before phones have new tokens.
            fleet.report_all()
        fleet.percent = percent

    def is_member(self, phone: Phone, percent: int) -> bool:
        return is_inside(self.vendor.rollout_key(phone), percent, self.name)

    def is_first(self, phone: Phone) -> bool:
        """Whether the first step that moves pushes moves those to this phone."""
        return self.first_percent is not None and self.is_member(phone, self.first_percent)

    def is_ours(self, message: Message, phone: Phone, percent: int) -> bool:
        """Whether the gateway must push a message to a phone."""
        is_split = percent == 100 or not message.is_shared or self.vendor.names_each
        return is_split and self.is_member(phone, percent)

    def ids_of_vendor(self) -> set[str]:
        """The ids of all pushes that the vendor has made: it has a key of its own. All others are the gateway's."""
        return {push["apnsId"].lower() for push in self.pushes_of_vendor()}

    def sides_hold(self) -> None:
        """Each push was made by the side to which the percentage assigns its phone, so that a phone stays at its side from message to message.

        A kill moves no message: what was accepted before it keeps the rules of the step, and `exchange` waits until it has ended. A push of which a side does not know
        whether it arrived is judged if it did.
        """
        theirs, fleet = self.ids_of_vendor(), self.fleet
        found: Counter[tuple[int, bool]] = Counter()
        in_own_interface: Counter[tuple[int, bool]] = Counter()
        wrong = []
        for (text, token), ids in fleet.pushes.items():
            message = fleet.messages.get(text)
            percent = message.percent if message is not None else None
            if message is None or percent is None:
                continue
            for phone in fleet.phones_of(message, token):
                is_ours = ids.isdisjoint(theirs)
                found[percent, is_ours] += 1
                in_own_interface[percent, is_ours] += not message.is_native
                if is_ours != self.is_ours(message, phone, percent):
                    wrong.append(f"at {percent} %, phone {phone.number} got {text} from the {'gateway' if is_ours else 'vendor'}")
        if wrong:
            raise AssertionError(f"{len(wrong)} pushes were made by the wrong side: {wrong[:10]}")
        percent = fleet.percent
        assert percent is not None
        # The vendor's interface alone reaches each phone in each step.
        needed = {self.is_member(phone, percent) for phone in fleet.present}
        if needed != ({False} if percent == 0 else {True} if percent == 100 else {False, True}):
            raise AssertionError(f"at {percent} %, every phone belongs to the {'gateway' if True in needed else 'vendor'}")
        if not all(in_own_interface[percent, is_ours] for is_ours in needed):
            raise AssertionError(f"at {percent} %, a side has pushed nothing that was sent in the vendor's interface: {in_own_interface}")
        print(f"pushes at {percent} %: {found[percent, False]} by the vendor, {found[percent, True]} by the gateway", flush=True)

    def wait_until_idle(self) -> None:
        """Waits until neither side has a push to make."""

        def is_idle() -> bool:
            if any(lane["open"] for lane in self.native.get("/v1/queue")["lanes"]):
                return False
            states = self.stub.control.get("/_stub/counts")["pushStates"]
            return not states.get("waiting") and not states.get("sending")

        eventually("nothing is left to push", is_idle)

    def kill(self, victim: str) -> None:
        """Kills one process at a time. Sends of other threads go on meanwhile."""
        with self.killing:
            self.killed.append(victim)
            if victim == "stub":
                self.stub.kill()
            else:
                self.place.kill(victim)
            print(f"killed: {victim}", flush=True)

    def served(self) -> None:
        """Waits until the gateway knows the app."""
        eventually("the app is served", lambda: (self.native.call("GET", f"/v1/apps/{self.place.app}/routes", {}) or 0).status == 200)

    def calls_of_stub(self) -> int:
        return self.stub.control.get("/_stub/counts")["calls"]

    def proxied(self) -> None:
        before = self.calls_of_stub()

        def is_proxied() -> bool:
            try:
                self.vendor.look(self.calls, self.fleet.phones[0])
            except RuntimeError:
                pass
            except Exception as refused:  # noqa: BLE001
                if type(refused).__name__ != "Refused":
                    raise
            return self.calls_of_stub() > before

        eventually("calls are proxied", is_proxied)

    def counted(self) -> None:
        """Waits until calls count for the gates of the first step. A node counts in intervals, and not in the one in which the step began."""

        def is_counted() -> bool:
            self.vendor.register(self.calls, self.fleet.phones[0])
            gates = self.native.get(f"/v1/migrations/{self.name}")["gates"]
            return all(gate["missing"] < gate["needed"] for gate in gates if gate["metric"] == "observed")

        eventually("calls are counted", is_counted)

    def rests(self) -> int:
        """Waits until the vendor is not called any longer, and returns the number of its calls."""
        phone = self.fleet.present[0]

        def is_left_alone() -> bool:
            before = self.calls_of_stub()
            self.vendor.register(self.calls, phone)
            time.sleep(1)
            return self.calls_of_stub() == before

        eventually("the vendor is not called", is_left_alone)
        return self.calls_of_stub()

    # The records of each side.

    def exported(self) -> list[dict]:
        done = self.place.need("export", "deliveries", "--app", self.place.app, "--url", self.place.gateway())
        return [json.loads(line) for line in done.stdout.splitlines()]

    def pushes_of_vendor(self) -> list[dict]:
        return self.stub.control.get("/_stub/pushes?limit=200000")["pushes"]

    def uncertain(self) -> set[tuple[str, int]]:
        """The deliveries of which a side says that it does not know whether they arrived: the gateway, its database or the vendor was killed during a call."""
        found = set()
        # By the number of the phone: deliveries of messages whose text the native interface does not show, because it is in a payload of the vendor's own form.
        unnamed: Counter[int] = Counter()
        for row in self.exported():
            if row["certain"] is False:
                text = TEXT.search(json.dumps(self.native.get(f"/v1/messages/{row['message']}")))
                # A vendor that addresses users has one call for all phones of the user.
                numbers = [phone.number for phone in self.fleet.phones if phone.user == row["user"]] or [0]
                if text is None:
                    unnamed.update(numbers)
                else:
                    found |= {(text.group(), number) for number in numbers}
        for push in self.pushes_of_vendor():
            text = TEXT.search(push["payload"]) if push["state"] == "uncertain" else None
            if text is not None:
                tokens = self.fleet.messages[text.group()].tokens
                found |= {(text.group(), number) for number, token in tokens.items() if token == push["token"].lower()}
        # Each of them is one of the pushes that are missing at its phone.
        for message in self.fleet.messages.values():
            for number, token in message.tokens.items():
                if unnamed[number] > 0 and message.is_certain and (message.text, token) not in self.fleet.pushes:
                    unnamed[number] -= 1
                    found.add((message.text, number))
        return found | {("", number) for number in unnamed.elements()}

    def without_a_kill_all_is_certain(self) -> None:
        if not self.killed and (uncertain := self.uncertain()):
            raise AssertionError(f"without a kill, {len(uncertain)} deliveries are uncertain: {sorted(uncertain)[:10]}")

    def receipts_arrive(self, seconds: float = FOLLOWS_SECONDS) -> None:
        """Each report is at the side that pushed: at the vendor, or at the gateway."""
        if not self.vendor.has_receipts:
            return
        fleet = self.fleet
        theirs = {push["message"] for push in self.pushes_of_vendor()}
        wanted = Counter(reference for reference, _ in fleet.reports if reference in theirs)

        def vendor_has_them() -> bool:
            receipts = self.stub.control.get("/_stub/receipts?limit=200000")["receipts"]
            # A receipt may be forwarded twice, because its answer may be lost.
            found = Counter(message for message, _ in {self.vendor.receipt(entry) for entry in receipts})
            return all(found[message] >= count for message, count in wanted.items())

        try:
            eventually("the vendor has the receipts", vendor_has_them, seconds)
        except TimeoutError:
            raise AssertionError("receipts of the vendor's messages are missing at the vendor") from None
        ours = {key: is_read or self.vendor.always_reads for key, is_read in fleet.reports.items() if key[0] not in theirs}
        users = {phone.number: phone.user for phone in fleet.phones}
        wished = Counter(users[number] for _, number in ours), Counter(users[number] for (_, number), is_read in ours.items() if is_read)
        known, found = set(users.values()), list[Counter]()
        listed = Counter(users[number] for text, number in self.uncertain() if number in users and not fleet.has_arrived(text, number))

        def gateway_has_its_own() -> bool:
            # A device that lists its messages thereby reports all of them: native ones too, and those whose push was lost in a kill.
            rows = [row for row in self.exported() if row["transport"] == "apns" and row["vendor"] != "native" and row["user"] in known]
            found[:] = [Counter(row["user"] for row in rows if row[name]) for name in ("receivedAt", "readAt")]
            return wished[0] <= found[0] <= wished[0] + listed and found[1] == wished[1]

        try:
            eventually("the gateway has the receipts of its pushes", gateway_has_its_own, seconds)
        except TimeoutError:
            raise AssertionError(f"receipts by user: {found[0]}, read {found[1]}; expected {wished[0]}, read {wished[1]}") from None
        print(f"receipts: {len(ours)} of pushes of the gateway; {len(wanted)} messages of the vendor have theirs", flush=True)
