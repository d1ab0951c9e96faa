"""Runs one stub: server, journal, faults, pushes, timers, callbacks, and the control port."""

import base64
import http.client
import json
import os
import random
import signal
import sys
import threading
import time
import traceback
import uuid
from urllib.parse import urlsplit

from .apns import Push, Pusher
from .http1 import Fault, Request, Response, Server
from .stub import Stub, dumps, integer, loads

# Calls above this number are answered and not recorded; `callsDropped` counts them.
MAX_CALLS = 200_000
# A callback is tried this often. The vendor's own contract is not published.
CALLBACK_ATTEMPTS = 5


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


class Clock:
    """The stub's time in milliseconds. With a start it stands still, except that each call moves it by one millisecond and `advance` by more."""

    def __init__(self, start: int | None):
        self.start, self.moved = start, 0

    def now(self) -> int:
        return self.start + self.moved if self.start is not None else int(time.time() * 1000) + self.moved

    def call(self) -> int:
        if self.start is not None:
            self.moved += 1
        return self.now()

    def restore(self, at: int) -> None:
        if self.start is not None:
            self.moved = max(self.moved, at - self.start)


class Faults:
    """The faults that are switched on, in order. The first that matches a call takes effect."""

    KINDS = {
        # Kinds whose call is not carried out unless `carriedOut` is true.
        "tooMany": False, "status": False, "redirect": False, "reset": False,
        # Kinds whose call is carried out unless `carriedOut` is false.
        "slow": True, "wrongLength": True, "endless": True, "half": True, "mutate": True, "loseAnswer": True, "loseReceipts": True,
    }  # fmt: skip

    def __init__(self, seed: str):
        self.random = random.Random(f"{seed}/faults")
        self.entries: list[dict] = []

    def add(self, entry: dict) -> None:
        if entry.get("fault") not in self.KINDS:
            raise ValueError(f"fault: one of down, {', '.join(self.KINDS)}")
        self.entries.append(entry | {"since": time.monotonic(), "seen": 0, "left": entry.get("times")})

    def choose(self, request: Request) -> dict | None:
        for entry in list(self.entries):
            if "forSeconds" in entry and time.monotonic() - entry["since"] > float(entry["forSeconds"]):
                self.entries.remove(entry)
                continue
            if "path" in entry and not request.raw_path.startswith(str(entry["path"])) or "method" in entry and request.method != entry["method"]:
                continue
            entry["seen"] += 1
            if entry["seen"] % max(1, integer(entry.get("every"), 1)) or self.random.random() >= float(entry.get("share", 1)):
                continue
            if entry["left"] is not None:
                entry["left"] = integer(entry["left"]) - 1
                if entry["left"] <= 0:
                    self.entries.remove(entry)
            return entry
        return None

    @staticmethod
    def response(entry: dict, stub: Stub) -> Response:
        kind = entry["fault"]
        if kind == "tooMany":
            return stub.too_many(integer(entry.get("retryAfter"), 1))
        if kind == "redirect":
            return Response(integer(entry.get("status"), 302), [("Location", str(entry.get("location", "http://127.0.0.1:1/")))])
        if kind == "status":
            headers = [(str(k), str(v)) for k, v in dict(entry.get("headers", {})).items()]
            return Response(integer(entry.get("status"), 503), headers, str(entry.get("body", "")).encode("utf-8"))
        return Response(503)


class Runner:
    def __init__(self, make, settings: dict, options):
        self.lock = threading.Lock()
        self.calls: list[dict] = []
        self.calls_dropped = 0
        self.pushes: list[Push] = []
        self.clock = Clock(options.time)
        self.is_ended = threading.Event()
        self.journal = None
        lines = self.read_journal(options.journal)
        head = lines.pop(0) if lines else {"settings": settings, "seed": options.seed or uuid.uuid4().hex}
        self.seed = str(head["seed"])
        # A restarted stub may be given new settings; what it drew from its seed stays.
        self.stub: Stub = make(head["settings"] | settings, self.seed)
        self.faults = Faults(self.seed)
        self.replay(lines)
        if options.journal:
            self.journal = os.open(options.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            if not lines and os.fstat(self.journal).st_size == 0:
                self.write({"settings": self.stub.settings, "seed": self.seed})
        self.pusher = None
        if options.apns:
            self.pusher = Pusher(options.apns, options.apns_ca, options.key, options.key_id, options.team_id, self.began, self.ended)
            for push in self.pushes:
                if push.state == "waiting":
                    self.pusher.offer(push)
        self.server = Server(self.handle, options.host, options.port, options.tls_cert, options.tls_key)
        self.control = Server(self.handle_control, "127.0.0.1", options.control_port)
        self.threads = [threading.Thread(target=work, daemon=True, name=work.__name__) for work in (self.keep_time, self.call_back)]
        for thread in self.threads:
            thread.start()

    # Journal.

    @staticmethod
    def read_journal(path: str | None) -> list[dict]:
        """The whole lines of the journal. A last line without its end was being written at a kill, and is removed."""
        if not path or not os.path.exists(path):
            return []
        with open(path, "rb+") as file:
            data = file.read()
            end = data.rfind(b"\n") + 1
            file.truncate(end)
        return [json.loads(line) for line in data[:end].splitlines()]

    def write(self, line: dict) -> None:
        """Called under the lock. The line reaches the kernel before anything that depends on it leaves the process, so that a kill loses nothing."""
        if self.journal is None:
            return
        data = dumps(line) + b"\n"
        while data:
            data = data[os.write(self.journal, data) :]

    def replay(self, lines: list[dict]) -> None:
        for line in lines:
            if "call" in line:
                self.replay_call(line["call"])
            elif "tick" in line:
                self.clock.restore(line["tick"])
                self.tick(line["tick"])
                self.collect()
            elif "push" in line:
                push = self.pushes[line["push"] - 1]
                push.apns_id = line.get("apnsId", push.apns_id)
                push.state, push.status, push.reason = line["state"], line.get("status", 0), line.get("reason", "")
                if push.state != "sending":
                    self.stub.outcome(push)
            elif "control" in line:
                self.stub.now, self.stub.loses_receipts = line["at"], line.get("lost", False)
                self.clock.restore(line["at"])
                self.stub.control(line["control"], line["body"])
                self.collect()
            elif "called" in line:
                self.stub.callbacks.pop(line["called"], None)
        for push in self.pushes:
            if push.state == "sending":
                # The process ended between the first byte and the answer.
                push.state, push.reason = "uncertain", "the stub was killed"
                self.stub.outcome(push)

    def replay_call(self, call: dict) -> None:
        request = Request(
            call["method"], call["target"], [tuple(h) for h in call["headers"]], base64.b64decode(call["body"]), base64.b64decode(call["head"]), call["peer"]
        )
        request.at, request.number, request.loses_receipts = call["at"], call["number"], call.get("fault") == "loseReceipts"
        self.clock.restore(request.at)
        response = self.carry_out(request) if call["carriedOut"] else None
        self.collect()
        self.record(call | ({"status": response.status, "response": b64(response.body)} if response else {}))

    # Calls.

    def handle(self, request: Request) -> tuple[Response, Fault | None]:
        with self.lock:
            entry = self.faults.choose(request)
            request.at, request.number = self.clock.call(), len(self.calls) + self.calls_dropped + 1
            request.loses_receipts = entry is not None and entry["fault"] == "loseReceipts"
            carried = entry is None or bool(entry.get("carriedOut", Faults.KINDS[entry["fault"]]))
            response = self.carry_out(request) if carried else None
            if entry is not None and (response is None or not Faults.KINDS[entry["fault"]]):
                response = Faults.response(entry, self.stub)
            assert response is not None
            call = {
                "number": request.number, "at": request.at, "method": request.method, "target": request.target, "headers": request.headers,
                "head": b64(request.head), "body": b64(request.body), "peer": request.peer, "fault": entry and entry["fault"], "carriedOut": carried,
            }  # fmt: skip
            self.write({"call": call})
            self.record(call | {"status": response.status, "response": b64(response.body)})
            self.send(self.collect())
        if entry is None or entry["fault"] in ("tooMany", "status", "redirect", "loseReceipts") and "seconds" not in entry:
            return response, None
        return response, Fault(entry["fault"], float(entry.get("seconds", 0)), integer(entry.get("delta"), 1), self.seed)

    def carry_out(self, request: Request) -> Response:
        try:
            response = self.stub.answer(request)
        except Exception:  # A mistake of the stub: the caller sees 500, the test the trace.
            traceback.print_exc()
            response = Response(500, [("Content-Type", "text/plain")], b"mistake in the stub")
        return response

    def record(self, call: dict) -> None:
        if len(self.calls) < MAX_CALLS:
            self.calls.append(call)
        else:
            self.calls_dropped += 1

    def collect(self) -> list[Push]:
        created, self.stub.created = self.stub.created, []
        self.pushes += created
        return created

    def send(self, created: list[Push]) -> None:
        if self.pusher is not None:
            for push in created:
                self.pusher.offer(push)

    # Pushes, called by the pusher's thread.

    def began(self, push: Push) -> None:
        with self.lock:
            push.apns_id = push.apns_id or str(uuid.uuid4())
            push.state = "sending"
            self.write({"push": push.number, "apnsId": push.apns_id, "state": "sending"})

    def ended(self, push: Push) -> None:
        with self.lock:
            self.write({"push": push.number, "state": push.state, "status": push.status, "reason": push.reason})
            self.stub.outcome(push)

    # Time and callbacks.

    def keep_time(self) -> None:
        while not self.is_ended.wait(0.02):
            with self.lock:
                self.let_pass()

    def let_pass(self) -> None:
        now = self.clock.now()
        if self.stub.timers and self.stub.timers[0][0] <= now:
            self.tick(now)
            self.write({"tick": now})
            self.send(self.collect())

    def tick(self, now: int) -> None:
        try:
            self.stub.tick(now)
        except Exception:  # A mistake of the stub: the other timers go on.
            traceback.print_exc()

    def call_back(self) -> None:
        tries: dict[int, int] = {}
        while not self.is_ended.wait(0.02):
            with self.lock:
                waiting = list(self.stub.callbacks.items())[:1]
            for number, (url, body) in waiting:
                tries[number] = tries.get(number, 0) + 1
                if self.post(url, body) or tries[number] >= CALLBACK_ATTEMPTS:
                    with self.lock:
                        self.stub.callbacks.pop(number, None)
                        self.write({"called": number})
                else:
                    self.is_ended.wait(0.2 * tries[number])

    @staticmethod
    def post(url: str, body: bytes) -> bool:
        parts = urlsplit(url)
        try:
            kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            connection = kind(parts.hostname or "localhost", parts.port, timeout=10)
            try:
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                connection.request("POST", path, body, {"Content-Type": "application/json; charset=utf-8"})
                return 200 <= connection.getresponse().status < 300
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, ValueError):
            return False

    # Control.

    def handle_control(self, request: Request) -> tuple[Response, None]:
        try:
            answer = self.controlled(request)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return Response(400, [("Content-Type", "application/json")], dumps({"error": str(error)})), None
        if answer is None:
            return Response(404, [("Content-Type", "application/json")], dumps({"error": "unknown control call"})), None
        return Response(200, [("Content-Type", "application/json")], dumps(answer)), None

    def controlled(self, request: Request):
        name = request.path.removeprefix("/_stub/")
        after, limit = integer(request.item("after")), integer(request.item("limit"), 10_000)
        body = loads(request.body) if request.body else {}
        if body is ...:
            raise ValueError("the body is not JSON")
        if request.method == "POST" and name == "faults" and body.get("fault") == "down":
            self.server.go_down(float(body.get("seconds", 1)))
            return {"faults": len(self.faults.entries)}
        with self.lock:
            match request.method, name:
                case "GET", "calls":
                    return {"calls": self.calls[after : after + limit], "callsDropped": self.calls_dropped}
                case "GET", "pushes":
                    return {"pushes": [push.shown() for push in self.pushes[after : after + limit]]}
                case "GET", "receipts":
                    return {"receipts": self.stub.receipts[after : after + limit]}
                case "GET", "state":
                    return self.stub.snapshot() | {"paid": self.stub.paid}
                case "GET", "counts":
                    return self.counts(request.item("target", ""))
                case "GET", "faults":
                    return {"faults": [{k: v for k, v in entry.items() if k != "since"} for entry in self.faults.entries]}
                case "POST", "faults":
                    self.faults.add(dict(body))
                    return {"faults": len(self.faults.entries)}
                case "DELETE", "faults":
                    self.faults.entries.clear()
                    return {"faults": 0}
                case "POST", "time":
                    self.clock.moved += int(float(body["seconds"]) * 1000)
                    self.let_pass()
                    return {"now": self.clock.now()}
                case "POST", _:
                    lost = any(entry["fault"] == "loseReceipts" for entry in self.faults.entries)
                    self.stub.now, self.stub.loses_receipts = self.clock.now(), lost
                    answer = self.stub.control(name, body)
                    if answer is not None:
                        self.write({"control": name, "body": body, "at": self.stub.now, "lost": lost})
                        self.send(self.collect())
                    return answer
        return None

    def counts(self, target: str = "") -> dict:
        """With a target, only the recorded calls whose target begins with it."""
        states: dict[str, int] = {}
        for push in self.pushes:
            states[push.state] = states.get(push.state, 0) + 1
        stub = self.stub
        calls = sum(call["target"].startswith(target) for call in self.calls) if target else len(self.calls) + self.calls_dropped
        return {
            "calls": calls, "pushes": len(self.pushes), "pushStates": states, "receipts": len(stub.receipts),
            "paid": len(stub.paid), "callbacksWaiting": len(stub.callbacks),
        }  # fmt: skip

    # Life.

    def end(self) -> None:
        """Calls and pushes in progress end first."""
        self.server.end()
        if self.pusher is not None:
            self.pusher.end()
        self.is_ended.set()
        self.control.end(1.0)
        for thread in self.threads:
            thread.join(1.0)
        if self.journal is not None:
            os.close(self.journal)
            self.journal = None

    def run(self, vendor: str) -> int:
        """Prints the ports as one JSON line, and serves until SIGTERM or SIGINT."""
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        # The process that starts a stub may have blocked them, which a new program inherits.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGINT})
        scheme = "https" if self.server.tls else "http"
        address = {"vendor": vendor, "port": self.server.port, "url": f"{scheme}://{self.server.host}:{self.server.port}", "control": self.control.port}
        print(json.dumps(address), flush=True)
        stop.wait()
        self.end()
        sys.stdout.flush()
        return 0
