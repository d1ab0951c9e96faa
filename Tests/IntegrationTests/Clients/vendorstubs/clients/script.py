"""A scripted client: sends calls one after the other, and writes each with its raw answer as one JSON line."""

import base64
import hashlib
import http.client
import json
import ssl
import sys
import time
from datetime import datetime, timezone
from urllib.parse import urlsplit

# Headers of one connection, which may differ between a direct and a proxied call. They are left out.
LEFT_OUT = {"connection", "keep-alive", "transfer-encoding"}
# The time of the day differs between two runs. The header is kept without its value.
WITHOUT_VALUE = {"date"}
# A longer answer ends the script: the stubs' answers are small.
MAX_ANSWER_BYTES = 16 * 1024 * 1024
# An answer that takes longer ends the script.
WAIT_SECONDS = 20.0


class Answer:
    def __init__(self, status: int, headers: list[tuple[str, str]], body: bytes):
        self.status, self.headers, self.body = status, headers, body

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    def json(self) -> dict:
        """The body as a JSON object; empty if it is none, so that a script goes on after a refusal."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def shown(data: bytes) -> dict:
    """A body in a JSON line: text if it is UTF-8."""
    try:
        return {"body": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"bodyBase64": base64.b64encode(data).decode("ascii")}


class Script:
    def __init__(self, base: str, out=None, seed: str = "1", at: datetime | None = None, authority: str | None = None, host: str | None = None):
        parts = urlsplit(base)
        self.secure, self.address = parts.scheme == "https", (parts.hostname or "127.0.0.1", parts.port or (443 if parts.scheme == "https" else 80))
        self.host = host or f"{self.address[0]}:{self.address[1]}"
        self.prefix, self.seed, self.out = parts.path.rstrip("/"), seed, sys.stdout if out is None else out
        self.at = at or datetime.now(timezone.utc)
        self.tls = ssl.create_default_context(cafile=authority) if self.secure else None
        self.connection: http.client.HTTPConnection | None = None
        self.count = 0
        # The names of calls that are not made.
        self.skipped: set[str] = set()

    # Values from the seed.

    def hex(self, name: str, digits: int) -> str:
        return hashlib.sha512(f"{self.seed}/{name}".encode()).hexdigest()[:digits]

    def token(self, name: str) -> str:
        return self.hex(f"token {name}", 64)

    def uuid(self, name: str) -> str:
        text = self.hex(f"uuid {name}", 32)
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}".upper()

    # Calls.

    def call(self, name: str, method: str, target: str, headers: dict[str, str] | None = None, body: bytes | str | dict | list | None = None) -> Answer:
        """Sends one call. A dictionary or a list is sent as compact JSON."""
        if name in self.skipped:
            return Answer(0, [], b"")
        headers = dict(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
            headers.setdefault("Content-Type", "application/json")
        data = body.encode("utf-8") if isinstance(body, str) else body or b""
        started = time.monotonic()
        answer = self.exchange(method, self.prefix + target, headers, data)
        self.count += 1
        # In their order and spelling.
        kept = [(k, "" if k.lower() in WITHOUT_VALUE else v) for k, v in answer.headers if k.lower() not in LEFT_OUT]
        visible = {k: v for k, v in headers.items() if k.lower() != "authorization"}
        line = {
            "number": self.count, "name": name,
            "request": {"method": method, "target": self.prefix + target, "headers": visible} | shown(data),
            "response": {"status": answer.status, "headers": kept} | shown(answer.body),
        }  # fmt: skip
        self.out.write(json.dumps(line, ensure_ascii=False) + "\n")
        if time.monotonic() - started > WAIT_SECONDS:
            raise TimeoutError(f"{name} took longer than {WAIT_SECONDS} s")
        return answer

    def exchange(self, method: str, target: str, headers: dict[str, str], data: bytes) -> Answer:
        is_fresh = self.connection is None
        if self.connection is None:
            if self.tls is not None:
                self.connection = http.client.HTTPSConnection(*self.address, timeout=WAIT_SECONDS, context=self.tls)
            else:
                self.connection = http.client.HTTPConnection(*self.address, timeout=WAIT_SECONDS)
        try:
            self.connection.request(method, target, data, {"Host": self.host, **headers, "Content-Length": str(len(data))})
            response = self.connection.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            # The peer closed an idle connection before it read the call. A fresh connection is tried once.
            self.close()
            if is_fresh:
                raise
            return self.exchange(method, target, headers, data)
        body = response.read(MAX_ANSWER_BYTES + 1)
        if len(body) > MAX_ANSWER_BYTES:
            raise ValueError("the answer is too long")
        if response.will_close:
            self.close()
        return Answer(response.status, response.getheaders(), body)

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None
