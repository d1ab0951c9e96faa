"""Support of the tests: the documented examples, a stub without sockets, a stub as a process, and the APNs simulator."""

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from ..http1 import Request, Response

PARENT = Path(__file__).resolve().parents[2]
ROOT = Path(__file__).resolve().parents[5]
# 2026-01-01T00:00:00Z, the time of most documented examples.
NEW_YEAR = 1_767_225_600_000
# A wait that is over sooner on every machine. Reaching it is a failure.
LIMIT_SECONDS = 20.0


def fixture(vendor: str, name: str, **replaced: str) -> str:
    """A documented example, which `scripts/fixtures-check` compares with the contract's text. Texts that the document shortens are replaced."""
    text = (ROOT / "Tests" / f"{vendor}Tests" / "Fixtures" / name).read_text(encoding="utf-8")
    for old, new in replaced.items():
        text = text.replace(old, new)
    return text


def http_message(text: str) -> tuple[str, list[tuple[str, str]], bytes]:
    """First line, headers and body of an example in HTTP form."""
    head, _, body = text.partition("\n\n")
    lines = head.strip("\n").split("\n")
    headers = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])]
    return lines[0], headers, body.rstrip("\n").encode("utf-8")


class Bench:
    """A stub without sockets, journal and pushes. Its time moves by one millisecond per call."""

    def __init__(self, kind, at: int = NEW_YEAR, **settings):
        self.stub = kind(settings, "test")
        self.at = at

    def call(self, method: str, target: str, body: bytes | str | dict | list = b"", headers: list[tuple[str, str]] | None = None) -> Response:
        self.at += 1
        data = json.dumps(body, ensure_ascii=False) if isinstance(body, (dict, list)) else body
        request = Request(method, target, list(headers or []), data.encode("utf-8") if isinstance(data, str) else data)
        request.at = self.at
        return self.stub.answer(request)

    def http(self, example: str, *more: tuple[str, str]) -> Response:
        """Sends an example in HTTP form."""
        first, headers, body = http_message(example)
        method, target, *_ = first.split(" ")
        return self.call(method, target, body, [*headers, *more])

    def json(self, *call, **named):
        return json.loads(self.call(*call, **named).body)

    def wait(self, milliseconds: int) -> None:
        self.at += milliseconds
        self.stub.tick(self.at)

    def pushes(self) -> list:
        created, self.stub.created = self.stub.created, []
        return created


class ContractTest(unittest.TestCase):
    maxDiff = None

    def same(self, response: Response, example: str) -> None:
        """The answer is the documented JSON with status 200."""
        self.assertEqual(response.status, 200)
        self.assertEqual(json.loads(response.body), json.loads(example))

    def same_http(self, response: Response, example: str, *ignored: str) -> None:
        """Status, documented headers and body are those of an example in HTTP form, except for the named headers."""
        first, headers, body = http_message(example)
        self.assertEqual(response.status, int(first.split(" ")[1]))
        given = {name.lower(): value for name, value in response.headers} | {"content-length": str(len(response.body))}
        skipped = {name.lower() for name in ignored}
        for name, value in headers:
            if name.lower() not in skipped:
                self.assertEqual(given.get(name.lower()), value, name)
        if body.startswith(b"{"):
            self.assertEqual(json.loads(response.body), json.loads(body))
        elif body:
            self.assertEqual(response.body.decode(), body.decode())


class Running:
    """A stub as a process, as later tests use it. A context manager; leaving it ends the stub gracefully and checks its exit status."""

    def __init__(self, vendor: str, *arguments: str):
        environment = os.environ | {"PYTHONPATH": str(PARENT), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "vendorstubs", vendor, *arguments]
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors, env=environment, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the stub did not start: {self.log()}")
        self.address = json.loads(line)

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, kind, *_) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(LIMIT_SECONDS)
        self.process.stdout.close()
        log = self.log()
        self.errors.close()
        if kind is None and (status not in (0, -signal.SIGKILL) or log):
            raise AssertionError(f"the stub ended with {status}: {log}")

    def log(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode("utf-8", "replace")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(LIMIT_SECONDS)

    @property
    def port(self) -> int:
        return self.address["port"]

    def call(self, method: str, target: str, body: dict | bytes | None = None, headers: dict | None = None) -> tuple[int, bytes]:
        """One call on a fresh connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_SECONDS)
        try:
            data = json.dumps(body).encode() if isinstance(body, dict) else body
            connection.request(method, target, data, headers or {})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def control(self, method: str, name: str, body: dict | None = None) -> dict:
        connection = http.client.HTTPConnection("127.0.0.1", self.address["control"], timeout=LIMIT_SECONDS)
        try:
            connection.request(method, f"/_stub/{name}", json.dumps(body).encode() if body is not None else None)
            response = connection.getresponse()
            value = json.loads(response.read())
            if response.status != 200:
                raise AssertionError(f"{method} {name}: {response.status} {value}")
            return value
        finally:
            connection.close()

    def pushes(self, until) -> list[dict]:
        """The pushes, as soon as the condition holds for them."""
        return eventually(lambda: self.control("GET", "pushes")["pushes"], until)


def eventually(read, until):
    limit = time.monotonic() + LIMIT_SECONDS
    while True:
        value = read()
        if until(value):
            return value
        if time.monotonic() > limit:
            raise AssertionError(f"still {value}")
        time.sleep(0.02)


class Simulator:
    """The APNs simulator with a key of the stub. A context manager."""

    def __init__(self, folder: str):
        built = ROOT / ".build" / "debug" / "apns-simulator"
        program = os.environ.get("APNS_SIMULATOR") or str(built)
        if not os.access(program, os.X_OK):
            raise unittest.SkipTest(f"{program} is not built")
        try:
            import h2  # noqa: F401
            import jwt  # noqa: F401
        except ImportError as error:
            raise unittest.SkipTest(f"{error}: scripts/setup --tests") from None
        self.folder = folder
        self.key, public = f"{folder}/key.p8", f"{folder}/public.pem"
        make = "openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out"
        subprocess.run(f"{make} '{self.key}' && openssl ec -in '{self.key}' -pubout -out '{public}'", shell=True, check=True, capture_output=True)
        Path(f"{folder}/keys.json").write_text(json.dumps([{"teamId": "STUBTEAM01", "keyId": "STUBKEY001", "publicKeyFile": "public.pem"}]))
        files = ["--ca-out", f"{folder}/ca.pem", "--address-file", f"{folder}/address.json", "--keys", f"{folder}/keys.json"]
        self.process = subprocess.Popen([program, "--mode", "script", "--log-level", "error", *files])

    def __enter__(self) -> "Simulator":
        path = Path(f"{self.folder}/address.json")
        self.address = json.loads(eventually(lambda: path.read_text() if path.exists() else "", bool))
        return self

    def __exit__(self, *_) -> None:
        self.process.terminate()
        self.process.wait(LIMIT_SECONDS)

    @property
    def arguments(self) -> list[str]:
        return ["--apns", f"https://localhost:{self.address['apns'].rpartition(':')[2]}", "--apns-ca", f"{self.folder}/ca.pem", "--key", self.key]

    def control(self, method: str, target: str, body=None) -> dict:
        host, _, port = self.address["control"].rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=LIMIT_SECONDS)
        try:
            connection.request(method, f"/_simulator/{target}", json.dumps(body) if body is not None else None)
            return json.loads(connection.getresponse().read() or b"{}")
        finally:
            connection.close()

    def requests(self, token: str) -> list[dict]:
        return self.control("GET", f"requests?token={token}&limit=100")["requests"]
