"""The phones of an app, the messages that were sent to them, and what must have arrived."""

import hashlib
import json
import random
import re
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from .calls import Answer, Calls
from .vendors import Phone, Refused, Vendor

Item = TypeVar("Item")
Result = TypeVar("Result")

TEXT = re.compile(r"#m\d+#")
# The bound of everything that must follow by itself.
FOLLOWS_SECONDS = 60.0
# Calls at a time.
CALLERS = 4
# A turn of `Turns`: a little longer than one takes on an idle machine.
TURN_SECONDS = 0.1
# The counts of the push service of which one grows when a push ends, or is left without an answer.
ENDS = ("accepted", "rejectedTotal", "unanswered", "distinctPairs", "repeats")


def eventually(what: str, condition: Callable[[], object], seconds: float = FOLLOWS_SECONDS):
    """The first true value of the condition."""
    limit = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > limit:
            raise TimeoutError(f"not within {seconds:g} s: {what}")
        time.sleep(0.05)


class Turns:
    """The time that something takes, largely without what a slow machine adds.

    In each turn, a probe asks for something that the same processes do, and the turn counts as at most `TURN_SECONDS`. On a free machine that is the time of the clock.
    Where other processes take the processors or the disk, each turn lasts longer, and the awaited work has the same number of turns. A gateway that leaves the work
    undone for a while answers the probes meanwhile, so that its delay counts in full. Probes wait together with the work if the gateway does nothing at all: the
    time of the clock needs a limit of its own.
    """

    def __init__(self, probe: Callable[[], object]):
        self.probe = probe
        self.began = self.last = time.monotonic()
        # Unit: seconds, both.
        self.counted = self.took = 0.0

    def turn(self) -> None:
        time.sleep(0.05)
        self.probe()
        now = time.monotonic()
        self.counted += min(now - self.last, TURN_SECONDS)
        self.last, self.took = now, now - self.began


def is_inside(key: str, percent: int, salt: str) -> bool:
    """Whether a rollout key is inside, as docs/routing.md#rollouts defines it."""
    return int.from_bytes(hashlib.sha256(f"{salt}\0{key}".encode()).digest()[:4]) < percent * 2**32 // 100


def phones_of_run(count: int, run: str, is_first: Callable[[Phone], bool] | None = None) -> list[Phone]:
    """The phones of a run. `is_first`: whether a phone is in the first step of a rollout. If fewer than two are, the second phone and those after it get later names until two are:
    messages to several phones name the first ones."""
    phones = [Phone(number, run) for number in range(1, count + 1)]
    if is_first is None:
        return phones
    draw = count
    for place in range(1, count):
        if sum(map(is_first, phones)) >= 2:
            break
        while not is_first(phones[place]):
            draw += 1
            phones[place] = Phone(place + 1, run, draw)
    return phones


class Message:
    """A message with a text of its own: the token of each phone that must get it, and of those that may."""

    def __init__(self, text: str, phones: Iterable[Phone], is_native: bool = False, percent: int | None = None):
        self.text, self.is_native = text, is_native
        # `Fleet.percent` when it was sent.
        self.percent = percent
        # Whether its send names several phones.
        self.is_shared = False
        # Whether it was accepted, and no answer is missing.
        self.is_certain = False
        self.tokens = {phone.number: phone.token for phone in phones if not phone.has_left}


class Fleet:
    def __init__(self, vendor: Vendor, calls: Calls, simulator: Calls, stub: Calls, phones: list[Phone], seed: int, opt_out_seconds: float, has_pairs: bool = False):
        self.vendor, self.calls, self.simulator, self.stub = vendor, calls, simulator, stub
        self.random = random.Random(seed)
        self.phones = phones
        if has_pairs:
            # Every fourth user has two phones.
            for phone in self.phones[1::5]:
                phone.user = self.phones[phone.number - 2].user
        # Bounds of the time until an opt-out is at the vendor: as `Turns` count it, and by the clock.
        self.opt_out_seconds = self.opt_out_clock_seconds = opt_out_seconds
        # A call that the gateway answers by its database.
        self.probe: Callable[[], object] = lambda: None
        self.messages: dict[str, Message] = {}
        # (text, token) → the apns-ids of accepted pushes, and the payload of the first.
        self.pushes: dict[tuple[str, str], set[str]] = {}
        self.payloads: dict[tuple[str, str], dict] = {}
        # (text, token, apns-id) → the accepted requests, by connection and stream.
        self.arrivals: dict[tuple[str, str, str], set[tuple[int, int]]] = {}
        # (reference, phone's number) of the reports that phones made; True: read.
        self.reports: dict[tuple[str, int], bool] = {}
        self.reported: set[tuple[str, str]] = set()
        self.lock = threading.Lock()
        self.pool = ThreadPoolExecutor(CALLERS, "calls")
        self.count = 0
        self.seen = 0
        # The push service's counts at the last look at its pushes.
        self.counts: list[int] = []
        # The greatest times of opt-outs, as `Turns` count them and by the clock.
        self.slowest_opt_out = self.slowest_opt_out_by_clock = 0.0
        # Sends that `arrive` waits for.
        self.meanwhile: list[Future[Message]] = []
        # The processes of which one or more may not run, so that a send may be refused or without an answer; it is not repeated, and may have been accepted.
        self.down: frozenset[str] = frozenset()
        # The percentage of the rollout whose rules sends follow; None: either side may push.
        self.percent: int | None = None

    @property
    def present(self) -> list[Phone]:
        return [phone for phone in self.phones if not phone.has_left]

    # Devices.

    def register_all(self) -> None:
        list(self.pool.map(lambda phone: self.vendor.register(self.calls, phone), self.phones))
        self.vendor_knows(self.phones)

    def refresh(self, count: int, during: Callable[[int], None] | None = None) -> None:
        """Some phones get new tokens. `during` is called with the number of each registration before it is made."""
        chosen = self.random.sample(self.present, min(count, len(self.present)))
        for phone in chosen:
            phone.refreshes += 1
        self.each(chosen, lambda phone: self.insist(lambda: self.vendor.register(self.calls, phone)), during)
        self.vendor_knows(chosen)

    def each(self, items: list[Item], call: Callable[[Item], Result], during: Callable[[int], None] | None = None) -> list[Result]:
        """The results of `call` with each of the items, of which several run at the same time. `during` is called with the number of each before it."""

        def one(entry: tuple[int, Item]) -> Result:
            number, item = entry
            if during is not None:
                during(number)
            return call(item)

        return list(self.pool.map(one, enumerate(items)))

    def insist(self, call: Callable[[], None]) -> None:
        """An app repeats a call that is refused while a process does not run. `Calls` repeats those without an answer."""
        limit = time.monotonic() + FOLLOWS_SECONDS
        while True:
            # It may be killed, or start again, during the call.
            down = self.down
            try:
                return call()
            except Refused:
                if not (down | self.down) or time.monotonic() > limit:
                    raise
            time.sleep(0.1)

    def vendor_knows(self, phones: list[Phone]) -> None:
        """Waits for forwarded registrations, so that it is known which token each side must use."""

        def is_known() -> bool:
            reachable = self.vendor.reachable(self.stub.get("/_stub/state"))
            return all(reachable.get(self.vendor.key(phone), "").lower() == phone.token for phone in phones)

        eventually("the vendor knows the tokens", is_known)

    def opt_out(
        self, is_ours: Callable[[Phone], bool], is_forwarded: bool = True, may_leave: Callable[[Phone], bool] = lambda _: True,
        kill: Callable[[], None] | None = None,
    ) -> None:
        """One phone opts out. Afterwards no side may push to it: the gateway from then on, the vendor as soon as it has the call.

        `is_ours`: whether the gateway makes the pushes to a phone. One of these opts out, if another one is left: a message to both leaves before the vendor has the
        opt-out, and neither side may push it to the phone. Otherwise one for which `may_leave` is true opts out.

        The time counts from the answer to the phone, which the gateway gives after its commit, until the vendor has the call. Both bounds hold for each opt-out: a share
        of them, such as 95 %, would say nothing, because a run has about ten.

        `kill` kills a process meanwhile. The opt-out then has no bound of its time, and the message leaves when the process has started again.
        """
        ours = [phone for phone in self.present if is_ours(phone)]
        phone = self.random.choice(ours if len(ours) > 1 else [phone for phone in self.present if may_leave(phone)])
        killing = None if kill is None else self.pool.submit(kill)
        self.insist(lambda: self.vendor.leave(self.calls, phone))
        phone.has_left = True
        if killing is not None:
            killing.result()
        turns = Turns(self.probe)
        if len(ours) > 1:
            other = next(one for one in ours if one is not phone)
            # Below 100 %, audiences are the vendor's: several installations of Notification Hubs are one, and a single installation is not.
            named = [phone, other] if self.percent == 100 or self.vendor.names_each else [phone]
            if kill is None:
                self.send_meanwhile(named)
            else:
                eventually("a send after the opt-out is accepted", lambda: self.send(named).is_certain)
        if not is_forwarded:
            return
        key = self.vendor.key(phone)

        def has_left() -> bool:
            return key not in self.vendor.reachable(self.stub.get("/_stub/state"))

        if kill is not None:
            eventually("the vendor knows the opt-out", has_left)
            return
        while not has_left():
            if turns.took > FOLLOWS_SECONDS:
                raise TimeoutError(f"an opt-out did not reach the vendor within {FOLLOWS_SECONDS:g} s")
            turns.turn()
        self.slowest_opt_out = max(self.slowest_opt_out, turns.counted)
        self.slowest_opt_out_by_clock = max(self.slowest_opt_out_by_clock, turns.took)
        if turns.counted > self.opt_out_seconds or turns.took > self.opt_out_clock_seconds:
            raise TimeoutError(f"an opt-out reached the vendor after {turns.counted:.1f} s in turns, {turns.took:.1f} s by the clock")

    def send_meanwhile(self, phones: list[Phone]) -> None:
        """Sends while other calls are made: `arrive` waits for the push, and `check` finds those that must not be there."""
        self.meanwhile.append(self.pool.submit(self.send, phones))

    def look(self) -> None:
        list(self.pool.map(lambda phone: self.vendor.look(self.calls, phone), self.present[:8]))

    # Messages.

    def of_users(self, phones: list[Phone]) -> list[Phone]:
        """All phones of the users of these phones."""
        users = {phone.user for phone in phones}
        return [phone for phone in self.phones if phone.user in users]

    def message(self, phones: list[Phone], is_native: bool = False) -> Message:
        """A message with a new text. It is known before the call, because the push may arrive before the answer."""
        with self.lock:
            self.count += 1
            message = Message(f"#m{self.count}#", phones, is_native, self.percent)
            self.messages[message.text] = message
        return message

    def send(self, phones: list[Phone], has_fallback: bool = False) -> Message:
        """Sends one message in the vendor's interface, once. It must be accepted, unless a process is killed meanwhile."""
        message = self.message(self.of_users(phones) if self.vendor.addresses_users else phones)
        message.is_shared = len(phones) > 1
        # It may be killed, or start again, during the call.
        down = self.down
        send = self.vendor.send_with_fallback if has_fallback else self.vendor.send
        answer = send(self.calls, f"News {message.text}", phones)
        message.is_certain = answer is not None and self.vendor.is_accepted(answer)
        if not message.is_certain and not self.may_fail(answer, down | self.down):
            raise RuntimeError(f"a send was not accepted: {'no answer' if answer is None else f'{answer.status} {answer.body[:300]!r}'}")
        return message

    @staticmethod
    def may_fail(answer: Answer | None, down: frozenset[str]) -> bool:
        """Whether a send may end like this while these processes do not run.

        A gateway that starts answers "try again"; one whose database or vendor does not run answers in the words of the dialect.
        """
        is_unavailable = answer is None or answer.status in (429, 503, 504) or answer.status == 200 and not answer.json()
        return bool(down) and (is_unavailable or bool(down - {"gateway"}))

    def send_to_each(self, rounds: int, during: Callable[[int], None] | None = None, after_failure: Callable[[], None] | None = None) -> list[Message]:
        """A message to each phone, also to those that have opted out together with one that has not, and one to all. Returns them.

        A caller whose send was not accepted calls `after_failure` before its next one.
        """
        work = [[phone] for _ in range(rounds) for phone in self.present]
        gone = [phone for phone in self.phones if phone.has_left]
        work += [[phone, self.present[0]] for phone in gone]
        self.random.shuffle(work)
        # Named in one call: those inside and outside the rollout.
        work.append(self.present[:20])

        def one(phones: list[Phone]) -> Message:
            message = self.send(phones)
            if after_failure is not None and not message.is_certain:
                after_failure()
            return message

        return self.each(work, one, during)

    # Pushes.

    def collect(self, is_poll: bool = False) -> None:
        """Takes the pushes that the push service has accepted since the last time. A poll does not ask for them again while no push has ended: they are hundreds
        of kilobytes, which a debug build of the push service writes as slowly as the gateway works."""
        stats = self.simulator.get("/_simulator/stats")
        accepted, counts = stats["accepted"], [stats[name] for name in ENDS]
        if is_poll and counts == self.counts:
            return
        self.counts = counts
        # The newest ones, and those before them whose place in the list may have changed.
        limit = min(9000, accepted - self.seen + 500)
        for request in self.simulator.get(f"/_simulator/requests?limit={limit}")["requests"]:
            found = TEXT.search(json.dumps(request.get("payload"), ensure_ascii=False))
            # `silence` is scripted for pushes that arrive without an answer only.
            if request["status"] != 200 and request["reason"] != "silence" or found is None:
                continue
            key = (found.group(), request["token"].lower())
            headers = {name.lower(): value for name, value in request["headers"].items()}
            apns_id = headers["apns-id"].lower()
            self.pushes.setdefault(key, set()).add(apns_id)
            self.payloads.setdefault(key, request["payload"])
            self.arrivals.setdefault((*key, apns_id), set()).add((request["connection"], request["stream"]))
        self.seen = accepted

    def has_arrived(self, text: str, number: int) -> bool:
        message = self.messages.get(text)
        return message is not None and (text, message.tokens.get(number, "")) in self.pushes

    def phones_of(self, message: Message, token: str) -> list[Phone]:
        """The phone that had the token when the message was sent; none for a push that `check` finds."""
        return [self.phones[number - 1] for number, own in message.tokens.items() if own == token]

    def missing(self) -> list[str]:
        return [
            f"{message.text} to phone {number}"
            for message in self.messages.values()
            if message.is_certain
            for number, token in message.tokens.items()
            if (message.text, token) not in self.pushes
        ]

    def arrive(self, uncertain: Callable[[], set[tuple[str, int]]] | None = None, seconds: float = FOLLOWS_SECONDS) -> None:
        """Waits for every push that must arrive.

        `uncertain` returns the messages and phones for which the gateway itself states that it does not know: those may be missing, and never double.
        """

        while self.meanwhile:
            self.meanwhile.pop().result()

        def have_arrived() -> bool:
            self.collect(is_poll=True)
            missing = self.missing()
            if not missing or uncertain is None:
                return not missing
            known = {f"{text} to phone {number}" for text, number in uncertain()}
            return set(missing) <= known

        try:
            eventually("all pushes have arrived", have_arrived, seconds)
        except TimeoutError:
            raise AssertionError(f"{len(self.missing())} pushes are missing: {self.missing()[:10]}") from None

    def unreported(self) -> list[tuple[str, str]]:
        """The pushes that phones have not reported. The app's SDK reports messages of its own vendor only."""
        if not self.vendor.has_receipts:
            return []
        return [key for key in self.payloads if key not in self.reported and not self.messages[key[0]].is_native]

    def report_all(self, during: Callable[[int], None] | None = None) -> None:
        """Reports new pushes as the app does: each arrived, and every second was read. `during` is called with the number of each push before it is reported."""
        fresh = self.unreported()
        self.reported.update(fresh)
        self.each(fresh, self.report, during)

    def report(self, key: tuple[str, str], is_read: bool | None = None) -> None:
        """Reports one push. Without `is_read`, every second message is read."""
        phone = next(phone for phone in self.phones if self.messages[key[0]].tokens.get(phone.number) == key[1])
        reference = self.vendor.reference(self.payloads[key])
        if reference is None:
            raise AssertionError(f"a push without a name: {self.payloads[key]}")
        if is_read is None:
            is_read = int(key[0].strip("#m")) % 2 == 0
        self.insist(lambda: self.vendor.report(self.calls, phone, reference, is_read=False))
        if is_read:
            self.insist(lambda: self.vendor.report(self.calls, phone, reference, is_read=True))
        with self.lock:
            self.reports[(reference, phone.number)] = is_read

    def check(self) -> None:
        """No push twice, none to a token or phone that it was not for."""
        self.collect()
        owners = {(message.text, token) for message in self.messages.values() for token in message.tokens.values()}
        twice = [key for key, ids in self.pushes.items() if len(ids) > 1]
        if twice:
            raise AssertionError(f"{len(twice)} pushes arrived twice: {[(key, sorted(self.pushes[key])) for key in twice[:5]]}")
        stray = [key for key in self.pushes if key not in owners]
        if stray:
            raise AssertionError(f"{len(stray)} pushes went to a phone that has opted out, or to an old token: {stray[:10]}")
        if self.missing() and any(message.is_certain for message in self.messages.values()):
            # Those that the gateway stated as uncertain were permitted by `receive`.
            print(f"uncertain, and not arrived: {self.missing()}", flush=True)
