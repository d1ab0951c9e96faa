"""A person at the console without a browser: the standard library's HTTP client with cookies, as programs and attackers have it."""

import contextlib
import gzip
import http.client
import re
import urllib.parse

from markup import Page

PASSWORD = "correct horse battery 9"
URLENCODED = "application/x-www-form-urlencoded"


class Answer:
    def __init__(self, status: int, headers: http.client.HTTPMessage, body: bytes) -> None:
        self.status = status
        self.headers = headers
        is_compressed = body and headers.get("content-encoding") == "gzip"
        self.body = gzip.decompress(body) if is_compressed else body

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def location(self) -> str:
        return self.headers.get("location", "")

    @property
    def is_page(self) -> bool:
        return self.headers.get("content-type", "").startswith("text/html")

    @property
    def is_to_sign_in(self) -> bool:
        return self.status == 303 and self.location.split("?")[0] == "/sign-in"

    def page(self) -> Page:
        return Page(self.text)


class Person:
    """Keeps one connection and the cookies. Follows nothing by itself."""

    def __init__(self, base: str, name: str = "") -> None:
        self.base = base
        self.name = name
        self.host = base.removeprefix("http://")
        self.cookies: dict[str, str] = {}
        self.token = ""
        self._connection: http.client.HTTPConnection | None = None

    def send(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        """Sends a request with the person's cookies, unless the headers have some. The gateway may close an unused connection: once more then."""
        sent = dict(headers or {})
        if self.cookies and "Cookie" not in sent:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        for attempt in (0, 1):
            if self._connection is None:
                self._connection = http.client.HTTPConnection(self.host, timeout=30)
            try:
                self._connection.request(method, path, body, sent)
                answer = self._connection.getresponse()
                found = Answer(answer.status, answer.headers, answer.read())
                break
            except (ConnectionError, http.client.HTTPException):
                self.close()
                if attempt:
                    raise
        for cookie in found.headers.get_all("set-cookie") or []:
            name, _, value = cookie.split(";")[0].partition("=")
            if "Max-Age=0" in cookie:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return found

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def get(self, path: str) -> Answer:
        return self.send("GET", path)

    def post(self, path: str, fields: list[tuple[str, str]], files: dict[str, bytes] | None = None) -> Answer:
        """Sends a form from a page of the console's own, with the session's token."""
        pairs = [(name, value) for name, value in fields if name != "_token"]
        if self.token:
            pairs.append(("_token", self.token))
        if files is not None:
            body, kind = multipart(pairs, files)
        else:
            body, kind = urllib.parse.urlencode(pairs).encode(), URLENCODED
        return self.send("POST", path, body, {"Origin": self.base, "Content-Type": kind})

    def sign_in(self) -> None:
        answer = self.post("/sign-in", [("name", self.name), ("password", PASSWORD), ("next", "/")])
        assert answer.status == 303 and "__Host-session" in self.cookies, f"{self.name}: {answer.status} {answer.text[:500]}"
        found = re.search(r'name="_token" value="([0-9a-f]+)"', self.get("/account").text)
        assert found, f"{self.name}: the account's page has no token"
        self.token = found[1]

    def accept(self, link: str) -> None:
        """Accepts an invitation, and signs in."""
        secret = link.rsplit("/", 1)[1]
        answer = self.post("/invitation", [("secret", secret), ("password", PASSWORD), ("repeated", PASSWORD)])
        assert answer.status == 303, f"{self.name}: {answer.status} {answer.text[:500]}"
        self.sign_in()

    def glance(self, path: str, seconds: float = 0.5) -> str:
        """The events that a stream has sent after a moment. It ends with the connection."""
        connection = http.client.HTTPConnection(self.host, timeout=seconds)
        text = b""
        with contextlib.closing(connection), contextlib.suppress(TimeoutError):
            connection.request("GET", path, headers={"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())})
            answer = connection.getresponse()
            assert answer.status == 200, f"{self.name}: {path}: {answer.status}"
            while piece := answer.read1(1 << 16):
                text += piece
        return text.decode("utf-8", "replace")


def multipart(pairs: list[tuple[str, str]], files: dict[str, bytes] | None = None, boundary: str = "zq-boundary") -> tuple[bytes, str]:
    parts = []
    for name, value in pairs:
        parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + value.encode() + b"\r\n")
    for name, data in (files or {}).items():
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="x"\r\nContent-Type: application/octet-stream\r\n\r\n'
        parts.append(head.encode() + data + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"
