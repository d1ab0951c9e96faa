"""The part that all stubs share: settings, IDs, time, timers, pushes and receipts. A vendor's stub is a subclass in a file of its own.

A stub is deterministic: its answers follow from its settings, its seed, the calls and their times. A journal of calls therefore restores it.
"""

import heapq
import json
import random
from datetime import datetime, timedelta, timezone
from urllib.parse import parse_qsl

from .apns import Push
from .http1 import Request, Response

SEOUL = timezone(timedelta(hours=9))


class Refusal(Exception):
    """Carries the answer of a call that the vendor refuses."""

    def __init__(self, response: Response):
        super().__init__(response.status)
        self.response = response


class Ids:
    """IDs from a seed. Each call takes the next one."""

    def __init__(self, seed: str):
        self.random = random.Random(seed)

    def hex(self, digits: int) -> str:
        return f"{self.random.getrandbits(digits * 4):0{digits}x}"

    def uuid(self) -> str:
        text = self.hex(32)
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{'89ab'[int(text[16], 16) % 4]}{text[17:20]}-{text[20:]}"

    def number(self, bits: int = 63) -> int:
        return self.random.getrandbits(bits)

    def digits(self, count: int) -> str:
        return "".join(str(self.random.randrange(10)) for _ in range(count))


class Stub:
    """One vendor. All methods are called under the runner's lock."""

    # Name → (default, explanation). `--set NAME=VALUE` replaces a default; the type of the default is kept.
    SETTINGS: dict[str, tuple[object, str]] = {}

    def __init__(self, settings: dict, seed: str):
        self.settings = {name: default for name, (default, _) in (COMMON_SETTINGS | self.SETTINGS).items()} | settings
        self.ids = Ids(f"{seed}/{type(self).__name__}")
        self.now = 0
        self.timers: list[tuple[int, int, str, list]] = []
        self.timer_count = 0
        self.created: list[Push] = []
        self.push_count = 0
        self.receipts: list[dict] = []
        self.paid: list[dict] = []
        self.callbacks: dict[int, tuple[str, bytes]] = {}
        self.callback_count = 0
        self.loses_receipts = False
        self.second, self.second_count = 0, 0

    def __getitem__(self, setting: str):
        return self.settings[setting]

    # For the runner.

    def answer(self, request: Request) -> Response:
        self.now, self.loses_receipts = request.at, request.loses_receipts
        try:
            if self.is_over_limit():
                raise Refusal(self.too_many(1))
            return self.carry_out(request)
        except Refusal as refusal:
            return refusal.response

    def carry_out(self, request: Request) -> Response:
        """Answers one call of the vendor's API."""
        raise NotImplementedError

    def too_many(self, retry_after: int) -> Response:
        """The vendor's answer above its rate limit."""
        raise NotImplementedError

    def control(self, name: str, body: dict) -> object:
        """Vendor-specific control calls, `POST /_stub/{name}`. None: unknown."""
        return None

    def outcome(self, push: Push) -> None:
        """The final state of a push."""

    def snapshot(self) -> dict:
        """The state for tests: devices, users, groups, messages."""
        raise NotImplementedError

    def tick(self, now: int) -> None:
        self.now, self.loses_receipts = now, False
        while self.timers and self.timers[0][0] <= now:
            _, _, action, arguments = heapq.heappop(self.timers)
            getattr(self, action)(*arguments)

    # For the vendors.

    def is_over_limit(self) -> bool:
        limit = self["callsPerSecond"]
        if self.now // 1000 != self.second:
            self.second, self.second_count = self.now // 1000, 0
        self.second_count += 1
        return bool(limit) and self.second_count > limit

    def later(self, milliseconds: int, action: str, *arguments) -> None:
        """Calls the method `action` when that time has passed."""
        self.timer_count += 1
        heapq.heappush(self.timers, (self.now + int(milliseconds), self.timer_count, action, list(arguments)))

    def push(self, message: str, user: str, device: str, token: str, payload: dict | bytes, headers: dict[str, str]) -> Push:
        """Creates a push to one device. It leaves when the call is in the journal."""
        self.push_count += 1
        data = payload if isinstance(payload, bytes) else dumps(payload)
        whole = {"apns-topic": self["topic"], "apns-push-type": "alert", "apns-priority": "10"} | headers
        push = Push(self.push_count, message, user, device, token, {k: str(v) for k, v in whole.items() if v is not None}, data)
        self.created.append(push)
        return push

    def receive(self, kind: str, message: str, device: str, user: str = "") -> bool:
        """Keeps a receipt. Returns false if a fault loses it: its effects must be left out then."""
        if self.loses_receipts:
            return False
        self.receipts.append({"kind": kind, "message": message, "device": device, "user": user, "at": self.now})
        return True

    def pay(self, message: str, target: str, kind: str) -> None:
        """Counts a message that the vendor's customer pays for."""
        self.paid.append({"message": message, "target": target, "kind": kind, "at": self.now})

    def callback(self, url: str, body: bytes) -> None:
        self.callback_count += 1
        self.callbacks[self.callback_count] = (url, body)

    def moment(self, zone: timezone = timezone.utc) -> datetime:
        return datetime.fromtimestamp(self.now / 1000, zone)


COMMON_SETTINGS: dict[str, tuple[object, str]] = {
    "topic": ("com.example.app", "apns-topic of the stub's pushes"),
    "callsPerSecond": (0, "more calls within one second are refused as the vendor does above its rate limit; 0: no limit"),
}


def dumps(value) -> bytes:
    """Compact JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def loads(data: bytes | str):
    """The JSON value, or Ellipsis if the text is not JSON. A lone surrogate makes the whole not JSON."""
    try:
        value = json.loads(data)
        if (b"\\ud" if isinstance(data, bytes) else "\\ud") in data.lower():
            dumps(value)
        return value
    except (ValueError, RecursionError):
        return ...


def dictionary(value) -> dict:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def json_response(status: int, value, *headers: tuple[str, str], kind: str = "application/json; charset=utf-8") -> Response:
    return Response(status, [("Content-Type", kind), *headers], dumps(value))


def text(value, default: str = "") -> str:
    """A JSON or form value as text: `null` and absent values are the default."""
    if value is None or value is ...:
        return default
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value) if isinstance(value, (int, float)) else default


def integer(value, default: int = 0) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        return default


def form(body: bytes, kind: str) -> list[tuple[str, str]]:
    """The fields of a form: multipart, or percent-encoded (also without a content type)."""
    if kind.lower().startswith("multipart/"):
        return [(name, data.decode("utf-8", "replace")) for headers, data in multipart(body, kind) if (name := headers.get("name"))]
    return parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)


def multipart(body: bytes, kind: str) -> list[tuple[dict[str, str], bytes]]:
    """The parts of a multipart body: parameters of Content-Disposition with lower-case names, and `type`; then the bytes."""
    boundary = next((p.partition("=")[2].strip().strip('"') for p in kind.split(";") if p.strip().lower().startswith("boundary=")), "")
    if not boundary:
        return []
    parts = []
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary.encode())[1:]:
        if part.startswith(b"--"):
            break
        head, _, data = part.lstrip(b"\r\n").partition(b"\r\n\r\n") if not part.startswith(b"\r\n\r\n") else (b"", b"", part[4:])
        found: dict[str, str] = {}
        for line in head.decode("utf-8", "replace").split("\r\n"):
            name, _, value = line.partition(":")
            if name.strip().lower() == "content-type":
                found["type"] = value.strip()
            if name.strip().lower() == "content-disposition":
                for parameter in value.split(";")[1:]:
                    key, _, content = parameter.partition("=")
                    found[key.strip().lower()] = content.strip().strip('"')
        parts.append((found, data))
    return parts
