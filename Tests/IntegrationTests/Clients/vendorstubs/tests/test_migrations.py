"""The checks of `migrations`: each of them must fail for the fault that it is for."""

import types
import unittest
from unittest.mock import patch

from migrations.fleet import Fleet, Message, is_inside, phones_of_run
from migrations.journey import ACTIVITIES, HOLD, VICTIMS, Journey
from migrations.vendors import UPMC, VENDORS, Phone, Refused, Vendor

# Two of these phones are inside the first percent.
COUNT = 12


class PushService:
    """The list of accepted pushes, as the simulator shows it."""

    def __init__(self):
        self.requests: list[dict] = []

    def get(self, target: str) -> dict:
        if target == "/_simulator/stats":
            count = len(self.requests)
            return {"accepted": count, "rejectedTotal": 0, "unanswered": 0, "distinctPairs": count, "repeats": 0}
        return {"requests": self.requests}

    def push(self, text: str, token: str, apns_id: str) -> None:
        self.requests.append(
            {
                "status": 200, "reason": None, "token": token, "headers": {"apns-id": apns_id}, "payload": {"aps": {"alert": text}, "seqno": text.strip("#m")},
                "connection": 1, "stream": len(self.requests),
            }
        )  # fmt: skip


class Recorded(Journey):
    """A journey whose records are lists."""

    def __init__(self, vendor=UPMC, devices: int = COUNT, seed: int = 1, kills: list[str] | None = None):
        self.vendor = vendor(str(seed))
        self.options = types.SimpleNamespace(seed=seed)
        self.simulator = PushService()
        phones = phones_of_run(devices, f"{self.vendor.name}/{seed}", self.is_first)
        self.fleet = Fleet(self.vendor, None, self.simulator, None, phones, seed, 2.0)  # type: ignore[arg-type]
        self.kills = kills or []
        self.killed: list[str] = []
        self.theirs: list[dict] = []
        self.receipts: list[dict] = []
        self.rows: list[dict] = []
        self.stub = types.SimpleNamespace(control=types.SimpleNamespace(get=lambda _: {"receipts": self.receipts}))

    def pushes_of_vendor(self) -> list[dict]:
        return self.theirs

    def exported(self) -> list[dict]:
        return self.rows

    def uncertain(self) -> set[tuple[str, int]]:
        return set()

    def sent(self, *phones: Phone) -> Message:
        """A message in the vendor's interface that was accepted."""
        message = self.fleet.message(list(phones))
        message.is_certain = True
        return message

    def push_to_each(self, but: Phone | None = None) -> None:
        """Messages at the percentage in force, and their pushes, each by the side of its phone; `but`: by the other one."""
        percent = self.fleet.percent
        assert percent is not None
        for phone in self.fleet.present:
            message = self.sent(phone)
            name = f"id-{message.text}"
            self.simulator.push(message.text, phone.token, name)
            if self.is_member(phone, percent) == (phone is but):
                self.theirs.append({"apnsId": name, "message": message.text.strip("#m")})


class FleetTests(unittest.TestCase):
    def setUp(self) -> None:
        self.journey = Recorded()
        self.fleet, self.simulator = self.journey.fleet, self.journey.simulator
        self.addCleanup(self.fleet.pool.shutdown)

    def test_what_must_arrive(self) -> None:
        first, second = self.fleet.phones[:2]
        self.simulator.push(self.journey.sent(first).text, first.token, "a")
        self.fleet.arrive(seconds=0)
        self.fleet.check()
        message = self.journey.sent(second)
        with self.assertRaisesRegex(AssertionError, f"1 pushes are missing: .*{message.text} to phone 2"):
            self.fleet.arrive(seconds=0)
        # The side states that it does not know whether it arrived, or whether another one did.
        self.fleet.arrive(lambda: {(message.text, second.number)}, seconds=0)
        with self.assertRaisesRegex(AssertionError, "1 pushes are missing"):
            self.fleet.arrive(lambda: {(message.text, first.number)}, seconds=0)

    def test_a_push_that_is_made_twice(self) -> None:
        phone = self.fleet.phones[0]
        message = self.journey.sent(phone)
        self.simulator.push(message.text, phone.token, "a")
        self.simulator.push(message.text, phone.token, "A")
        self.fleet.check()
        self.simulator.push(message.text, phone.token, "b")
        with self.assertRaisesRegex(AssertionError, "1 pushes arrived twice"):
            self.fleet.check()

    def test_a_push_after_an_opt_out(self) -> None:
        gone, other = self.fleet.phones[:2]
        gone.has_left = True
        message = self.journey.sent(gone, other)
        self.simulator.push(message.text, other.token, "a")
        self.fleet.arrive(seconds=0)
        self.fleet.check()
        self.simulator.push(message.text, gone.token, "b")
        with self.assertRaisesRegex(AssertionError, "1 pushes went to a phone that has opted out"):
            self.fleet.check()

    def test_a_push_to_a_former_token(self) -> None:
        phone = self.fleet.phones[0]
        former = phone.token
        phone.refreshes += 1
        message = self.journey.sent(phone)
        self.simulator.push(message.text, phone.token, "a")
        self.simulator.push(message.text, former, "b")
        with self.assertRaisesRegex(AssertionError, "1 pushes went to .* an old token"):
            self.fleet.check()

    def test_a_refused_call_is_repeated_while_a_process_does_not_run(self) -> None:
        answers = [Refused("no database"), None]

        def call() -> None:
            answer = answers.pop(0)
            if answer is not None:
                raise answer

        self.fleet.down = frozenset({"database"})
        self.fleet.insist(call)
        self.assertEqual(answers, [])
        self.fleet.down = frozenset()
        answers = [Refused("at any other time"), None]
        with self.assertRaises(Refused):
            self.fleet.insist(call)


class Clock:
    """The time of a machine on which a probe takes `probe` seconds."""

    def __init__(self, probe: float):
        self.now, self.probe = 0.0, probe

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def ask(self) -> None:
        self.now += self.probe


class OptOutTests(unittest.TestCase):
    def leave(self, turns: int, probe: float, by_clock: float = 10.0) -> Fleet:
        """One phone opts out, and the vendor has it after so many turns."""
        left: list[str] = []

        class Leaving(UPMC):
            def leave(self, calls, phone: Phone) -> None:
                left.append(phone.device)

            def reachable(self, state: dict) -> dict[str, str]:
                state["turns"] += 1
                return {device: "" for device in left if state["turns"] <= turns}

        clock, state = Clock(probe), {"turns": 0}
        stub = types.SimpleNamespace(get=lambda _: state)
        with patch("migrations.fleet.time", clock):
            fleet = Fleet(Leaving("1"), None, None, stub, [Phone(1, "opt-out")], 1, 2.0)  # type: ignore[arg-type]
            self.addCleanup(fleet.pool.shutdown)
            fleet.opt_out_clock_seconds, fleet.probe = by_clock, clock.ask
            fleet.opt_out(lambda _: False)
        return fleet

    def test_a_fast_opt_out(self) -> None:
        fleet = self.leave(5, probe=0.01)
        self.assertAlmostEqual(fleet.slowest_opt_out, 0.3)
        self.assertAlmostEqual(fleet.slowest_opt_out_by_clock, 0.3)

    def test_a_late_opt_out(self) -> None:
        with self.assertRaisesRegex(TimeoutError, "after 2.4 s in turns, 2.4 s by the clock"):
            self.leave(40, probe=0.01)

    def test_a_slow_machine_is_not_a_late_opt_out(self) -> None:
        fleet = self.leave(5, probe=0.95)
        self.assertAlmostEqual(fleet.slowest_opt_out, 0.5)
        self.assertAlmostEqual(fleet.slowest_opt_out_by_clock, 5.0)
        # An opt-out that takes many turns is late there too.
        with self.assertRaisesRegex(TimeoutError, "after 2.5 s in turns, 5.0 s by the clock"):
            self.leave(25, probe=0.15)

    def test_a_gateway_that_answers_nothing(self) -> None:
        with self.assertRaisesRegex(TimeoutError, "after 0.3 s in turns, 12.0 s by the clock"):
            self.leave(3, probe=3.95)


class SideTests(unittest.TestCase):
    def setUp(self) -> None:
        self.journey = Recorded()
        self.fleet = self.journey.fleet
        self.addCleanup(self.fleet.pool.shutdown)

    def pushed(self, percent: int, but: Phone | None = None) -> None:
        self.fleet.percent = percent
        self.journey.push_to_each(but)
        self.fleet.collect()
        self.journey.sides_hold()

    def test_each_step_has_phones_of_its_sides(self) -> None:
        for percent in (0, 1, 50, 100):
            self.pushed(percent)
        for phone in self.fleet.phones:
            phone.has_left = self.journey.is_first(phone)
        with self.assertRaisesRegex(AssertionError, "at 1 %, every phone belongs to the vendor"):
            self.pushed(1)

    def test_a_push_of_the_wrong_side(self) -> None:
        for percent, is_member in ((0, False), (1, True), (1, False), (50, True), (100, True)):
            phone = next(phone for phone in self.fleet.phones if self.journey.is_member(phone, percent) == is_member)
            with self.subTest(percent=percent, is_member=is_member):
                journey = self.journey = Recorded()
                self.fleet = journey.fleet
                self.addCleanup(self.fleet.pool.shutdown)
                with self.assertRaisesRegex(AssertionError, f"at {percent} %, phone {phone.number} got"):
                    self.pushed(percent, self.fleet.phones[phone.number - 1])


class ReceiptTests(unittest.TestCase):
    def setUp(self) -> None:
        self.journey = Recorded()
        self.addCleanup(self.journey.fleet.pool.shutdown)
        self.ours, self.vendors = self.journey.fleet.phones[:2]
        self.journey.theirs.append({"apnsId": "b", "message": "2"})
        self.journey.fleet.reports = {("1", self.ours.number): True, ("2", self.vendors.number): False}
        self.journey.receipts.append({"message": "2", "device": self.vendors.device})
        row = {"transport": "apns", "vendor": "upmc", "user": self.ours.user, "receivedAt": "2026-01-01T00:00:00Z", "readAt": "2026-01-01T00:00:01Z"}
        self.journey.rows.append(row)

    def test_all_receipts_arrive(self) -> None:
        self.journey.receipts_arrive(0)

    def test_a_receipt_is_missing_at_the_gateway(self) -> None:
        for name in ("receivedAt", "readAt"):
            with self.subTest(name=name):
                row = self.journey.rows[0]
                former, row[name] = row[name], None
                with self.assertRaisesRegex(AssertionError, "receipts by user"):
                    self.journey.receipts_arrive(0)
                row[name] = former

    def test_a_receipt_is_at_the_gateway_that_nobody_made(self) -> None:
        self.journey.rows.append(self.journey.rows[0] | {"user": self.vendors.user})
        with self.assertRaisesRegex(AssertionError, "receipts by user"):
            self.journey.receipts_arrive(0)

    def test_a_receipt_is_missing_at_the_vendor(self) -> None:
        self.journey.receipts.clear()
        with self.assertRaisesRegex(AssertionError, "receipts of the vendor's messages are missing at the vendor"):
            self.journey.receipts_arrive(0)


class ChoiceTests(unittest.TestCase):
    def test_phones_are_inside_the_first_percent(self) -> None:
        for vendor in VENDORS.values():
            for seed in range(1, 6):
                own = vendor(str(seed))

                def is_first(phone: Phone, own: Vendor = own) -> bool:
                    return is_inside(own.rollout_key(phone), 1, "leave")

                phones = phones_of_run(40, f"{own.name}/{seed}", is_first)
                inside = list(filter(is_first, phones))
                with self.subTest(vendor=own.name, seed=seed):
                    self.assertEqual([phone.number for phone in phones], list(range(1, 41)))
                    self.assertTrue(2 <= len(inside) < 40, len(inside))
                    for names in ("user", "device", "key", "phone", "token"):
                        self.assertEqual(len({getattr(phone, names) for phone in phones}), 40, names)

    def test_a_short_run_kills_each_process_once_and_all_vendors_have_all_moments(self) -> None:
        steps: dict[str, int | str] = {"registrations": 1, "sends": 50, "receipts": 50, "opt-outs": HOLD}
        found = set()
        for vendor in VENDORS.values():
            journey = Recorded(vendor, kills=["gateway", "database"])
            self.addCleanup(journey.fleet.pool.shutdown)
            planned = [(step, name, kill) for step, calls in journey.planned_kills().items() for name, kills in calls.items() for kill in kills]
            self.assertEqual(sorted(kill for _, _, kill in planned), ["database", "gateway"])
            self.assertIn((50, "sends", "gateway"), planned)
            self.assertTrue(all(steps[name] == step for step, name, _ in planned), planned)
            found |= {name for _, name, _ in planned}
        self.assertEqual(found, set(ACTIVITIES))

    def test_a_long_run_kills_each_process_at_all_moments(self) -> None:
        journey = Recorded(devices=200, kills=list(VICTIMS))
        self.addCleanup(journey.fleet.pool.shutdown)
        everything = list(VICTIMS)
        self.assertEqual(
            journey.planned_kills(),
            {
                1: {"sends": everything, "registrations": everything},
                50: {"sends": everything, "receipts": everything},
                HOLD: {"sends": everything, "opt-outs": everything},
            },
        )
