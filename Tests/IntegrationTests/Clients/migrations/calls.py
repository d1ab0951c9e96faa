"""Calls over HTTP, from several threads."""

import http.client
import json
import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

# A call without an answer after this long has none.
WAIT_SECONDS = 20.0
# A phone repeats a call whose answer was lost for so long.
PATIENCE_SECONDS = 60.0


class Answer:
    def __init__(self, status: int, body: bytes):
        self.status, self.body = status, body

    def json(self) -> dict:
        """The body as a JSON object; empty if it is none."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


class Calls:
    """The callers of one server. `base` returns its address, which may change when it is started again."""

    def __init__(self, base: Callable[[], str], headers: dict[str, str] | None = None):
        self.base, self.headers = base, headers or {}
        self.local = threading.local()

    @property
    def host(self) -> str:
        try:
            return urlsplit(self.base()).hostname or "127.0.0.1"
        except OSError:
            # The server is starting; its name stays.
            return "127.0.0.1"

    def call(self, method: str, target: str, headers: dict[str, str], body: bytes = b"", once: bool = False) -> Answer | None:
        """The answer. With `once` the call is made once, and None means that it may have been carried out; otherwise it is repeated until it is answered."""
        limit = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                answer = self.exchange(method, target, self.headers | headers, body, once)
                # The answer of a server that is starting or stopping: a phone tries again.
                if once or answer.status not in (429, 503) or time.monotonic() > limit:
                    return answer
            except (OSError, http.client.HTTPException):
                self.close()
                if once:
                    return None
                if time.monotonic() > limit:
                    raise
            time.sleep(0.1)

    def json(self, method: str, target: str, headers: dict[str, str], body: dict | list, once: bool = False) -> Answer | None:
        return self.call(method, target, {"Content-Type": "application/json"} | headers, json.dumps(body).encode(), once)

    def get(self, target: str) -> dict:
        answer = self.call("GET", target, {})
        assert answer is not None
        if answer.status != 200:
            raise RuntimeError(f"{target}: {answer.status} {answer.body[:300]!r}")
        return answer.json()

    def exchange(self, method: str, target: str, headers: dict[str, str], body: bytes, once: bool = False) -> Answer:
        base = self.base()
        # A kept connection may have ended: a call that is made once must not be lost by that.
        if once or getattr(self.local, "connection", None) is None or self.local.base != base:
            self.close()
            parts = urlsplit(base)
            self.local.base = base
            self.local.connection = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=WAIT_SECONDS)
        connection = self.local.connection
        connection.request(method, target, body, headers | {"Content-Length": str(len(body))})
        response = connection.getresponse()
        data = response.read()
        if response.will_close:
            self.close()
        return Answer(response.status, data)

    def close(self) -> None:
        """Closes this thread's connection."""
        if getattr(self.local, "connection", None) is not None:
            self.local.connection.close()
        self.local.connection = None
