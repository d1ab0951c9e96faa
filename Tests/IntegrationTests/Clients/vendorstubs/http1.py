"""A small HTTP/1.1 server: one thread per connection, keep-alive, optional TLS, bounded requests, and answers that can be faulty on purpose."""

import random
import select
import socket
import ssl
import struct
import threading
import time
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote

# A longer head is refused with 431: a caller could otherwise fill the memory before its request is complete.
MAX_HEAD_BYTES = 64 * 1024
# A longer body is refused with 413. The largest documented body is a 10 MiB image of RationalUMS.
MAX_BODY_BYTES = 16 * 1024 * 1024
# More connections are closed at once: each has a thread.
MAX_CONNECTIONS = 1024
# A connection without a request for this long is closed.
IDLE_SECONDS = 75.0
# An answer without end stops here if its reader does not stop before.
ENDLESS_BYTES = 1024 * 1024 * 1024


@dataclass
class Request:
    """A request as it arrived. `head` is the request line and the header lines with their final empty line."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    head: bytes = b""
    peer: str = ""
    # Set when the call is carried out: the ordinal of the call, and the stub's time in milliseconds.
    number: int = 0
    at: int = 0
    # The answer is given, but a receipt in this call is not kept.
    loses_receipts: bool = False

    @property
    def path(self) -> str:
        return unquote(self.raw_path)

    @property
    def raw_path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(self.target.partition("?")[2], keep_blank_values=True)

    def item(self, name: str, default: str | None = None) -> str | None:
        """The first query item of that name, compared without case."""
        return next((value for key, value in self.query if key.lower() == name.lower()), default)

    def header(self, name: str, default: str | None = None) -> str | None:
        """The first header of that name, compared without case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), default)


@dataclass
class Response:
    """An answer. `Date` and `Content-Length` are added when it is written."""

    status: int = 200
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""


@dataclass
class Fault:
    """How the answer of one call goes wrong. `kind` is one of `Faults.KINDS`; the other fields are explained in README.md."""

    kind: str
    seconds: float = 0.0
    delta: int = 1
    # Of `mutate`: the changes of the answer's bytes follow from it.
    seed: str = ""


class BadRequest(Exception):
    """The bytes are not a request that this server reads. The connection ends after the answer."""

    def __init__(self, status: int):
        super().__init__(status)
        self.status = status


def encode(response: Response, method: str, closes: bool, length: int | None = None) -> bytes:
    """The bytes of an answer. `length` replaces the true Content-Length."""
    reason = HTTPStatus(response.status).phrase if response.status in HTTPStatus._value2member_map_ else "Status"
    lines = [f"HTTP/1.1 {response.status} {reason}"] + [f"{name}: {value}" for name, value in response.headers]
    if response.status >= 200 and response.status not in (204, 304):
        lines.append(f"Content-Length: {len(response.body) if length is None else length}")
    lines.append(f"Date: {formatdate(usegmt=True)}")
    if closes:
        lines.append("Connection: close")
    body = b"" if method == "HEAD" or response.status in (204, 304) else response.body
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8") + body


def is_readable(sock: socket.socket, seconds: float) -> bool:
    """`select` fails for descriptors above 1023, which a server with many connections has."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one to eight of them changed, removed, repeated or added, or with the end cut off."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(changed)) if changed else 0
        match chance.randrange(5):
            case 0 if changed:
                changed[at] = chance.randrange(256)
            case 1:
                del changed[at : at + chance.randint(1, 16)]
            case 2:
                changed[at:at] = changed[at : at + chance.randint(1, 64)]
            case 3:
                changed[at:at] = chance.choice([b"\r\n", b"\0", b":", b"0", b"{", b'"', b"Content-Length: 7\r\n", b"Transfer-Encoding: chunked\r\n", b"\xff"])
            case 4 if chance.random() < 0.1:
                del changed[at:]
    return bytes(changed)


class Connection:
    """One accepted connection and its thread."""

    def __init__(self, server: "Server", sock: socket.socket, peer: str):
        self.server, self.sock, self.peer = server, sock, peer
        self.buffer = bytearray()
        self.is_busy = False
        self.thread = threading.Thread(target=self.run, daemon=True, name=f"connection {peer}")

    def run(self) -> None:
        try:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sock.settimeout(10.0)
            if self.server.tls is not None:
                self.sock = self.server.tls.wrap_socket(self.sock, server_side=True)
            self.sock.settimeout(IDLE_SECONDS)
            while not self.server.ends.is_set() and self.exchange():
                pass
        except (OSError, ssl.SSLError, ValueError):
            pass
        finally:
            self.close()
            self.server.forget(self)

    def exchange(self) -> bool:
        """One request and its answer. Returns false if the connection ends."""
        try:
            request = self.read()
        except BadRequest as error:
            self.sock.sendall(encode(Response(error.status), "GET", True))
            return False
        if request is None:
            return False
        self.is_busy = True
        try:
            response, fault = self.server.handler(request)
            is_old = request.head.partition(b"\r\n")[0].endswith(b"HTTP/1.0")
            wish = (request.header("connection") or "").lower()
            closes = wish == "close" or is_old and wish != "keep-alive" or self.server.ends.is_set()
            if fault is not None:
                return self.write_faulty(response, fault, request) and not closes
            self.sock.sendall(encode(response, request.method, closes))
            return not closes
        finally:
            self.is_busy = False

    def more(self) -> bool:
        data = self.sock.recv(65536)
        self.buffer += data
        return bool(data)

    def read(self) -> Request | None:
        """The next request, or None when the peer has closed."""
        while (end := self.buffer.find(b"\r\n\r\n")) < 0:
            if len(self.buffer) > MAX_HEAD_BYTES:
                raise BadRequest(431)
            if not self.more():
                return None
        if end > MAX_HEAD_BYTES:
            raise BadRequest(431)
        head = bytes(self.buffer[: end + 4])
        del self.buffer[: end + 4]
        lines = head[:-4].decode("utf-8", "surrogateescape").split("\r\n")
        first = lines[0].split(" ")
        if len(first) != 3 or not first[2].startswith("HTTP/1.") or not first[1]:
            raise BadRequest(400)
        headers = []
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon or not name or name != name.strip():
                raise BadRequest(400)
            headers.append((name, value.strip()))
        request = Request(first[0], first[1], headers, b"", head, self.peer)
        if (request.header("expect") or "").lower() == "100-continue":
            self.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.body = self.body(request)
        return request

    def body(self, request: Request) -> bytes:
        coding = (request.header("transfer-encoding") or "").lower()
        if coding == "chunked":
            return self.chunked()
        length = request.header("content-length") or "0"
        if coding or not length.isascii() or not length.isdigit():
            raise BadRequest(400)
        return self.exactly(int(length))

    def exactly(self, count: int) -> bytes:
        if count > MAX_BODY_BYTES:
            raise BadRequest(413)
        while len(self.buffer) < count:
            if not self.more():
                raise OSError("the body ends early")
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    def line(self) -> bytes:
        while (end := self.buffer.find(b"\r\n")) < 0:
            if len(self.buffer) > MAX_HEAD_BYTES or not self.more():
                raise BadRequest(400)
        data = bytes(self.buffer[:end])
        del self.buffer[: end + 2]
        return data

    def chunked(self) -> bytes:
        whole = bytearray()
        while True:
            try:
                size = int(self.line().split(b";")[0], 16)
            except ValueError:
                raise BadRequest(400) from None
            if size < 0 or len(whole) + size > MAX_BODY_BYTES:
                raise BadRequest(413)
            if size == 0:
                while self.line():
                    pass
                return bytes(whole)
            whole += self.exactly(size)
            if self.line():
                raise BadRequest(400)

    def write_faulty(self, response: Response, fault: Fault, request: Request) -> bool:
        """Writes what the fault leaves of the answer. Returns whether the connection goes on."""
        if fault.seconds and self.server.ends.wait(fault.seconds):
            return False
        kind = fault.kind
        if kind == "reset":
            self.reset()
        elif kind == "wrongLength":
            self.sock.sendall(encode(response, request.method, True, max(0, len(response.body) + fault.delta)))
        elif kind == "half":
            data = encode(response, request.method, False)
            self.sock.sendall(data[: len(data) // 2])
        elif kind == "mutate":
            self.sock.sendall(mutated(encode(response, request.method, True), random.Random(f"{fault.seed}/{request.number}")))
        elif kind == "endless":
            self.endless(response)
        elif kind != "loseAnswer":
            self.sock.sendall(encode(response, request.method, False))
            return True
        return False

    def endless(self, response: Response) -> None:
        self.sock.sendall(encode(Response(response.status, response.headers), "HEAD", True).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked"))
        chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
        for _ in range(ENDLESS_BYTES // 0x4000):
            if self.server.ends.is_set():
                return
            self.sock.sendall(chunk)

    def reset(self) -> None:
        """Closes with a TCP RST."""
        try:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass
        self.sock.close()

    def close(self) -> None:
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()


class Server:
    """Listens, and gives each request to `handler`, which returns the answer and the fault of it, or None.

    The handler is called by many threads. `end` stops: it waits for the calls in progress.
    """

    def __init__(self, handler, host: str = "127.0.0.1", port: int = 0, certificate: str | None = None, key: str | None = None):
        self.handler = handler
        self.tls = None
        if certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.minimum_version = ssl.TLSVersion.TLSv1_2
            self.tls.load_cert_chain(certificate, key)
            self.tls.set_alpn_protocols(["http/1.1"])
        self.ends = threading.Event()
        self.lock = threading.Lock()
        self.connections: set[Connection] = set()
        self.down_until = 0.0
        self.listener = self.listen(host, port)
        self.host, self.port = self.listener.getsockname()[:2]
        self.thread = threading.Thread(target=self.accept, daemon=True, name=f"listener {self.port}")
        self.thread.start()

    @staticmethod
    def listen(host: str, port: int) -> socket.socket:
        listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
        return listener

    def accept(self) -> None:
        while not self.ends.is_set():
            if self.down_until:
                self.stay_down()
                continue
            try:
                if not is_readable(self.listener, 0.05):
                    continue
                sock, peer = self.listener.accept()
            except (OSError, ValueError):
                continue
            connection = Connection(self, sock, f"{peer[0]}:{peer[1]}")
            with self.lock:
                is_full = len(self.connections) >= MAX_CONNECTIONS
                if not is_full:
                    self.connections.add(connection)
            if is_full:
                sock.close()
            else:
                connection.thread.start()

    def stay_down(self) -> None:
        """Refuses connections until the time is over, and listens at the same port again."""
        self.listener.close()
        for connection in self.all():
            connection.close()
        while not self.ends.is_set() and time.monotonic() < self.down_until:
            time.sleep(0.01)
        while not self.ends.is_set():
            try:
                self.listener = self.listen(self.host, self.port)
                break
            except OSError:
                time.sleep(0.05)
        self.down_until = 0.0

    def go_down(self, seconds: float) -> None:
        """Closes the listener and all connections for this time, as a stopped service would."""
        self.down_until = time.monotonic() + seconds

    def all(self) -> list[Connection]:
        with self.lock:
            return list(self.connections)

    def forget(self, connection: Connection) -> None:
        with self.lock:
            self.connections.discard(connection)

    def end(self, grace: float = 5.0) -> None:
        """Stops listening, lets calls in progress end within `grace` seconds, then closes all connections."""
        self.ends.set()
        self.thread.join(1.0)
        self.listener.close()
        limit = time.monotonic() + grace
        for connection in self.all():
            if not connection.is_busy:
                connection.close()
        while time.monotonic() < limit and any(c.is_busy for c in self.all()):
            time.sleep(0.01)
        for connection in self.all():
            connection.close()
