"""An app whose rules go from proxying to serving and back, by `push-gateway routes` alone, and the count of every push (docs/routing.md)."""

import itertools
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from urllib.parse import quote

from .fleet import TEXT, Message, eventually, is_inside
from .journey import MANY_PHONES, Journey
from .vendors import FALLBACK_MINUTES, Phone, users

SALT = "spring"
# A control waits as long for something that must not arrive.
CONTROL_SECONDS = 10.0
# Longer than the gateway waits for an answer (15 s).
UNANSWERED_SECONDS = 60.0
# While the percentage changes, the vendor and the push service are so slow that messages are always on their way.
SLOW_SECONDS = 0.4
# A node follows new rules within a second.
FOLLOWED_SECONDS = 1.2


class Rollout(Journey):
    """In each stage: token refreshes, messages in the vendor's interface and the native one, kills, receipts, reads, and then the count."""

    has_pairs = True
    first_percent = None

    def __init__(self, vendor, options):
        super().__init__(vendor, options)
        self.control = options.control
        # (text, token, apns-id) → further arrivals of this push.
        self.repeats: dict[tuple[str, str, str], int] = {}

    def play(self) -> None:
        if self.control:
            self.begin()
            {"guard": self.twins, "followMessage": self.reports, "versions": self.crash, "records": self.crash}[self.control]()
            return
        kills = self.kills_of_stages(["proxy", "10", "50", "back", "100"])
        self.begin()
        self.stage(kills["proxy"])
        self.twins()
        former = self.put(0)
        self.stage()
        self.fallbacks()
        self.put(10)
        self.stage(kills["10"])
        self.change_meanwhile([50, 10, 50])
        self.stage(kills["50"])
        self.fallbacks()
        if "gateway" in self.kills:
            self.crash(former)
        else:
            self.roll_back(former)
        self.stage(kills["back"])
        self.put(100)
        self.stage(kills["100"])
        self.fallbacks()
        self.twins()
        self.receipts_arrive()
        self.without_a_kill_all_is_certain()
        print(f"{len(self.fleet.pushes)} pushes once each, {sum(self.repeats.values())} repeats after {len(self.killed)} kills", flush=True)

    def kills_of_stages(self, stages: list[str]) -> dict[str, list[str]]:
        """With many phones, each process is killed in each stage; with fewer, once in the whole run."""
        if len(self.fleet.phones) >= MANY_PHONES:
            return {stage: self.fleet.random.sample(self.kills, len(self.kills)) for stage in stages}
        chosen = dict(zip(self.fleet.random.sample(stages, len(self.kills)), self.kills))
        return {stage: [chosen[stage]] if stage in chosen else [] for stage in stages}

    def begin(self) -> None:
        """Every call is proxied, and the phones register."""
        self.place.provision(self.vendor, self.stub.address["url"], self.vendor.old_key(self.stub.vendor))
        self.served()
        everything = [{"action": "proxy", "upstream": "old"}]
        if self.control == "followMessage":
            everything.insert(0, {"kinds": ["receipt", "message"], "action": "serve"})
        self.set_rules(everything, [{"paths": ["old"]}])
        self.proxied()
        self.fleet.percent = 0
        self.vendor.enter(self.calls)
        self.fleet.register_all()
        self.gateway_knows()

    # Rules.

    def put(self, percent: int) -> int:
        """Rules of a percentage, which calls follow when this returns. Returns the version of the rules."""
        version = self.set_percent(percent)
        self.moved(percent)
        return version

    def set_percent(self, percent: int) -> int:
        """Devices, receipts and reads are served, and as many users get their sends from the gateway. Returns the version of the rules."""
        rollout = {"percent": percent, "by": "user", "salt": SALT}
        calls = [
            {"kinds": ["device", "user"], "action": "serveAndForward", "upstream": "old"},
            {"kinds": ["receipt", "message"], "action": "followMessage", "onMiss": "proxy", "upstream": "old"},
            {"kinds": ["read"], "action": "serve", "onMiss": "proxy", "upstream": "old"},
        ]
        if percent == 0:
            calls.append({"kinds": ["send", "other"], "action": "proxy", "upstream": "old"})
            deliveries = [{"paths": ["old"]}]
        elif percent == 100:
            calls += [{"kinds": ["send"], "action": "serve"}, {"kinds": ["other"], "action": "proxy", "upstream": "old"}]
            deliveries = [{"paths": ["apns"]}]
        else:
            calls += [
                {"kinds": ["send"], "rollout": rollout, "action": "serve"}, {"kinds": ["send", "other"], "action": "proxy", "upstream": "old"},
            ]  # fmt: skip
            deliveries = [{"rollout": rollout, "paths": ["apns"]}, {"paths": ["old"]}]
        return self.set_rules(calls, deliveries)

    def set_rules(self, calls: list[dict], deliveries: list[dict]) -> int:
        rules: dict = {"calls": calls, "deliveries": deliveries}
        if self.control != "guard":
            rules["duplicateGuard"] = {"window": "10m"}
        file = self.place.directory / "rules.json"
        file.write_text(json.dumps(rules))
        return self.routes("set", "--file", str(file))

    def roll_back(self, version: int) -> None:
        self.routes("rollback", "--to", str(version))
        self.moved(0)

    def is_member(self, phone: Phone, percent: int) -> bool:
        return is_inside(phone.user, percent, SALT)

    def routes(self, *arguments: str) -> int:
        """Changes the rules, and returns their version. They apply to slices at once, and to calls within a second: either side may answer until then (`moved`)."""
        done = self.place.need("routes", *arguments, "--app", self.place.app, "--url", self.place.gateway())
        found = re.search(r"version (\d+), in force", done.stdout + done.stderr)
        if found is None:
            raise RuntimeError(f"routes {' '.join(arguments)}: {done.stdout}{done.stderr}")
        print(f"routes {' '.join(arguments)}: version {found.group(1)}", flush=True)
        return int(found.group(1))

    # Stages.

    def stage(self, kills: list[str] | None = None) -> None:
        self.fleet.refresh(max(2, len(self.fleet.phones) // 20))
        # A node follows new rules within a second, and until then it may proxy a registration, which it reads behind the answer.
        self.gateway_knows()
        self.exchange(1, kills or [])
        self.sides()
        self.fleet.look()
        self.count(may_repeat=any(victim != "stub" for victim in kills or []))

    def change_meanwhile(self, percents: list[int]) -> None:
        """The percentage changes while back ends send in both interfaces. Each message is pushed once to each phone, by one side: that of the user if all percentages agree."""
        fleet, former = self.fleet, self.fleet.percent or 0
        earlier = set(fleet.messages)
        # Either side may push, until `moved`.
        fleet.percent = None
        self.slow_down()
        calls, changes = self.send_during(percents)
        for path, server in (("/_stub/faults", self.stub.control), ("/_simulator/script", fleet.simulator)):
            answer = server.call("DELETE", path, {})
            if answer is None or answer.status >= 300:
                raise RuntimeError(f"{path}: {answer and answer.body}")
        self.arrive()
        self.wait_until_idle()
        fleet.collect()
        for percent, (began, ended) in zip(percents, changes):
            if not any(start < ended and end > began for start, end in calls):
                raise AssertionError(f"no call was in flight when the percentage became {percent}")
        messages = [message for text, message in fleet.messages.items() if text not in earlier]
        self.one_side_each(messages, min(former, *percents), max(former, *percents))
        fleet.report_all()
        # `moved` looks for a phone whose side differs from that of this percentage.
        fleet.percent = percents[-2]
        self.moved(percents[-1])
        self.count()

    def slow_down(self) -> None:
        slow = {"fault": "slow", "seconds": SLOW_SECONDS, "path": self.vendor.send_path}
        late = [{"token": "*", "status": 200, "latencyMs": int(SLOW_SECONDS * 1000)}]
        for server, path, fault in ((self.stub.control, "/_stub/faults", slow), (self.fleet.simulator, "/_simulator/script", late)):
            answer = server.json("POST", path, {}, fault)
            if answer is None or answer.status != 200:
                raise RuntimeError(f"{path}: {answer and answer.body}")

    def send_during(self, percents: list[int]) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
        """Sends to users with one phone while the rules change. Returns when each call in the vendor's interface and each change began and ended."""
        fleet, alone = self.fleet, self.phones_of_single_users()
        still = [phone for phone in alone if not self.is_member(phone, max(percents))]
        moving = [phone for phone in alone if self.is_member(phone, max(percents)) and not self.is_member(phone, min(percents))]
        if not still or not moving:
            raise AssertionError("no user with one phone changes sides, or none stays with the vendor")
        outside, anyone, some = itertools.cycle(still), itertools.cycle(alone), moving[:2] + still[:2]
        calls: list[tuple[float, float]] = []
        ends = threading.Event()

        def lane(send: Callable[[], object], pause: float) -> None:
            while not ends.wait(pause):
                began = time.monotonic()
                send()
                calls.append((began, time.monotonic()))

        def natively() -> None:
            while not ends.wait(0.5):
                self.send_natively(some)

        # All pushes of the first lane are the vendor's. Its pauses are shorter than a change of the rules.
        lanes = [
            fleet.pool.submit(lane, lambda: fleet.send([next(outside)]), 0.1), fleet.pool.submit(lane, lambda: fleet.send([next(anyone)]), 0.3),
            fleet.pool.submit(lane, lambda: fleet.send(some), 0.6), fleet.pool.submit(natively),
        ]  # fmt: skip
        changes = []
        try:
            for percent in percents:
                time.sleep(FOLLOWED_SECONDS)
                began = time.monotonic()
                self.set_percent(percent)
                changes.append((began, time.monotonic()))
            time.sleep(FOLLOWED_SECONDS)
        finally:
            ends.set()
        for sender in lanes:
            sender.result()
        return calls, changes

    def one_side_each(self, messages: list[Message], lowest: int, highest: int) -> None:
        """Each message was pushed to each phone by the gateway, or the vendor was asked for it: not both, and not neither."""
        fleet, theirs = self.fleet, self.ids_of_vendor()
        found = [(TEXT.search(push["payload"]), push["token"].lower()) for push in self.pushes_of_vendor()]
        asked = {(text.group(), token) for text, token in found if text is not None}
        sides: Counter[str] = Counter()
        wrong = []
        for message in messages:
            for number, token in message.tokens.items():
                ids, phone = fleet.pushes.get((message.text, token), set()), fleet.phones[number - 1]
                is_ours, is_theirs = not ids <= theirs, (message.text, token) in asked
                allowed = {self.is_ours(message, phone, percent) for percent in (lowest, highest)}
                sides["gateway" if is_ours else "vendor"] += 1
                if is_ours == is_theirs or is_ours not in allowed:
                    wrong.append(f"{message.text} to phone {number}: gateway {is_ours}, vendor {is_theirs}")
        if wrong:
            raise AssertionError(f"while the percentage changed, {len(wrong)} pushes were made by both sides, by none or by the wrong one: {wrong[:10]}")
        if len(sides) < 2:
            raise AssertionError(f"while the percentage changed, one side has pushed everything: {sides}")
        print(f"pushes while the percentage changed: {sides['vendor']} by the vendor, {sides['gateway']} by the gateway", flush=True)

    def gateway_knows(self) -> None:
        """Waits until the gateway has all tokens."""
        tokens = {phone.token for phone in self.fleet.phones}

        def has_all() -> bool:
            done = self.place.need("devices", "export", "--tenant", "acme", "--app", self.place.app, "--data-dir", str(self.place.directory / "data"))
            return tokens <= {(json.loads(line).get("token") or "").lower() for line in done.stdout.splitlines()}

        eventually("the gateway knows the tokens", has_all)

    def send_natively(self, phones: list[Phone], message: Message | None = None) -> tuple[Message, str]:
        """Sends to the users of the phones in the native interface; `message`: the text of that one again. Returns the message and its id."""
        message = message or self.fleet.message(self.fleet.of_users(phones), is_native=True)
        body = {"app": self.place.app, "to": {"users": users(phones)}, "title": "Shop", "body": f"News {message.text}"}
        answer = self.native.json("POST", "/v1/messages", {}, body, once=True)
        if answer is None or answer.status != 202:
            raise RuntimeError(f"a native send was refused: {answer and (answer.status, answer.body[:300])}")
        message.is_certain = True
        return message, answer.json()["id"]

    def sides(self) -> None:
        """A message to users on both sides, in the native interface: the rules in force decide who pushes it, as they do for those in the vendor's interface."""
        self.send_natively(self.fleet.present[:20])
        self.arrive()
        self.sides_hold()

    def twins(self) -> None:
        """A forgotten back end sends messages again, in the native interface: the phones have them from the vendor's interface, whichever side pushed."""
        is_proxied = self.fleet.percent == 0
        if is_proxied and not self.vendor.names_observed:
            return
        for phone in self.phones_of_single_users()[:3]:
            message = self.sent(phone, is_proxied)
            if is_proxied:
                self.wait_until_known(message)
            _, again = self.send_natively([phone], message)
            self.wait_until_idle()
            found = [(row["state"], row["reason"]) for row in self.native.get(f"/v1/messages/{again}/deliveries")["deliveries"]]
            if not self.control and found != [("suppressed", "crossVendorDuplicate")]:
                raise AssertionError(f"a message of two interfaces: {found}")
        self.fleet.report_all()
        self.count()

    def phones_of_single_users(self) -> list[Phone]:
        """The phones of users with one phone."""
        count = Counter(phone.user for phone in self.fleet.phones)
        return [phone for phone in self.fleet.present if count[phone.user] == 1]

    def sent(self, phone: Phone, is_proxied: bool) -> Message:
        """A message in the vendor's interface that has arrived, from the side in force."""
        message = self.fleet.send([phone])
        self.arrive()
        self.wait_until_idle()
        if self.fleet.pushes[message.text, phone.token].isdisjoint(self.ids_of_vendor()) == is_proxied:
            raise AssertionError(f"the {'gateway' if is_proxied else 'vendor'} has sent {message.text}")
        return message

    def wait_until_known(self, message: Message) -> None:
        """Waits until the gateway has read the vendor's answer to the send."""
        filters = f"app={self.place.app}&state=observed&text={quote(message.text)}"
        eventually("the message of the vendor is known", lambda: self.native.get(f"/v1/messages?{filters}")["messages"])

    def fallbacks(self) -> None:
        """Sends that request a text message for those who do not read the push.

        The vendor charges for its own message that nobody reads, and for nothing else: not if the app reported to the gateway that it was read, and for no message that
        the gateway sends, on whichever path.
        """
        if not self.vendor.has_fallback:
            return
        fleet, alone = self.fleet, self.phones_of_single_users()
        inside = [phone for phone in alone if self.is_member(phone, 50)]
        outside = [phone for phone in alone if not self.is_member(phone, 50)]
        sends = {0: [inside[:1], outside[:1]], 50: [inside[:1], inside[:1] + outside[:1]], 100: [outside[:1]]}[fleet.percent or 0]
        before = self.charged()
        messages = [fleet.send(phones, has_fallback=True) for phones in sends]
        self.arrive()
        self.wait_until_idle()
        wanted = []
        if fleet.percent == 0:
            names = [self.vendor.reference(fleet.payloads[message.text, phones[0].token]) for message, phones in zip(messages, sends)]
            wanted = names[1:]
            key = (messages[0].text, sends[0][0].token)
            fleet.reported.add(key)
            fleet.report(key, is_read=True)
            receipts = self.stub.control
            eventually(
                "the vendor has the receipt",
                lambda: any(
                    entry["kind"] == "read" and entry["message"] == names[0] for entry in receipts.get("/_stub/receipts?limit=200000")["receipts"]
                ),
            )
        self.stub.control.json("POST", "/_stub/time", {}, {"seconds": (FALLBACK_MINUTES + 1) * 60})
        found = self.charged()[len(before) :]
        if found != wanted:
            raise AssertionError(f"at {fleet.percent} %, the vendor has charged for {found}, and not for {wanted}")
        fleet.report_all()

    def charged(self) -> list[str]:
        """The vendor's names of the messages for which it has sent a text message that is charged."""
        return [paid["message"] for paid in self.stub.control.get("/_stub/state")["paid"]]

    def reports(self) -> None:
        """Receipts of messages that the vendor has sent."""
        for phone in self.phones_of_single_users()[:3]:
            message = self.sent(phone, is_proxied=True)
            self.wait_until_known(message)
        self.fleet.report_all()
        self.receipts_arrive(CONTROL_SECONDS)

    def crash(self, former: int | None = None) -> None:
        """A push and a call to the vendor are in flight when the rules go back and the gateway is killed: the next lease must not change the side, and not call again."""
        fleet = self.fleet
        if former is None:
            former = self.put(0)
            self.put(50)
        alone = self.phones_of_single_users()
        inside = next(phone for phone in alone if is_inside(phone.user, 50, SALT))
        outside = next(phone for phone in alone if not is_inside(phone.user, 50, SALT))
        # The push arrives without an answer, and the vendor carries the call out without one.
        silence = {"token": inside.token, "fault": "silence", "delivered": True, "times": 1}
        slow = {"fault": "slow", "seconds": UNANSWERED_SECONDS, "path": self.vendor.send_path, "times": 1}
        for server, path, fault in ((fleet.simulator, "/_simulator/script", [silence]), (self.stub.control, "/_stub/faults", slow)):
            answer = server.json("POST", path, {}, fault)
            if answer is None or answer.status != 200:
                raise RuntimeError(f"{path}: {answer and answer.body}")
        pushed, _ = self.send_natively([inside])
        called, _ = self.send_natively([outside])

        def are_in_flight() -> bool:
            fleet.collect()
            return (pushed.text, inside.token) in fleet.pushes and any(called.text in push["payload"] for push in self.pushes_of_vendor())

        eventually("the push and the call are in flight", are_in_flight)
        self.routes("rollback", "--to", str(former))
        self.kill("gateway")
        # Started again, it has read the rules in force.
        fleet.percent = 0
        self.count(may_repeat=True)
        uncertain = self.uncertain()
        if (called.text, outside.number) not in uncertain or (pushed.text, inside.number) in uncertain:
            raise AssertionError(f"of the message to {inside.user} and the one to {outside.user}, these are uncertain: {uncertain}")

    # The count.

    def count(self, may_repeat: bool = False) -> None:
        """Each message once per phone by the push service's list, and by the vendor's own: a vendor is asked once, and repeats nothing. The gateway repeats an `apns-id` only after
        a kill of itself or its database, and once for each."""
        self.wait_until_idle()
        self.fleet.check()
        found = [(TEXT.search(push["payload"]), push["token"].lower()) for push in self.pushes_of_vendor()]
        asked = Counter((text.group(), token) for text, token in found if text is not None)
        twice = [key for key, number in asked.items() if number > 1]
        if twice:
            raise AssertionError(f"the vendor was asked twice for {len(twice)} pushes: {twice[:5]}")
        repeats = {key: len(places) - 1 for key, places in self.fleet.arrivals.items() if len(places) > 1}
        theirs = self.ids_of_vendor()
        kills = sum(victim != "stub" for victim in self.killed)
        wrong = [key for key, number in repeats.items() if key[2] in theirs or number > kills or not may_repeat and number != self.repeats.get(key)]
        if wrong:
            raise AssertionError(f"{len(wrong)} pushes arrived again: {wrong[:5]}")
        self.repeats = repeats
