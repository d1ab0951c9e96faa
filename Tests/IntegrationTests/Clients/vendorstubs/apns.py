"""Sends pushes to APNs over HTTP/2 with the stub's own key. A push whose fate is not certain is never sent again."""

import collections
import select
import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

# A push that APNs has not answered after this long is uncertain.
ANSWER_SECONDS = 15.0
# Pushes in flight: so many are uncertain after a kill. The library's own work grows with the number of open streams.
MAX_STREAMS = 100
# Waiting pushes give up when APNs could not be reached for this long.
PATIENCE_SECONDS = 120.0
# Definite refusals (429, 503, a stream that APNs did not process) are tried again this often, with the same apns-id.
MAX_ATTEMPTS = 8
# Apple accepts a provider token between 20 and 60 minutes of age.
PROVIDER_TOKEN_SECONDS = 40 * 60


@dataclass
class Push:
    """One push to one device. State: waiting → sending → accepted | rejected | uncertain | unsent."""

    number: int
    message: str
    user: str
    device: str
    token: str
    headers: dict[str, str]
    payload: bytes
    apns_id: str = ""
    state: str = "waiting"
    status: int = 0
    reason: str = ""
    attempts: int = field(default=0, compare=False)
    since: float = field(default=0.0, compare=False)
    not_before: float = field(default=0.0, compare=False)

    def shown(self) -> dict:
        return {
            "number": self.number, "message": self.message, "user": self.user, "device": self.device, "token": self.token, "apnsId": self.apns_id,
            "state": self.state, "status": self.status, "reason": self.reason, "headers": self.headers, "payload": self.payload.decode("utf-8"),
        }  # fmt: skip


class Pusher:
    """One connection to APNs and its thread.

    `began(push)` is called before the first byte of a push leaves, `ended(push)` when its state is final. Both are called by this thread, without a lock.
    """

    def __init__(self, url: str, authority: str | None, key_file: str, key_id: str, team_id: str, began, ended):
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "localhost", parts.port or 443
        self.tls = ssl.create_default_context(cafile=authority)
        self.tls.set_alpn_protocols(["h2"])
        with open(key_file, encoding="ascii") as file:
            self.key = file.read()
        self.key_id, self.team_id = key_id, team_id
        self.began, self.ended = began, ended
        self.queue: collections.deque[Push] = collections.deque()
        self.open: dict[int, Push] = {}
        self.answers: dict[int, list] = {}
        self.is_stopped = False
        self.provider_token, self.signed_at = "", 0.0
        self.reached_at = time.monotonic()
        self.wake_here, self.wake_there = socket.socketpair()
        # A full buffer wakes as well as one byte more, and the caller may hold a lock that the pusher waits for.
        self.wake_here.setblocking(False)
        self.wake_there.setblocking(False)
        self.thread = threading.Thread(target=self.run, daemon=True, name="apns")
        self.thread.start()

    # Called by other threads.

    def offer(self, push: Push) -> None:
        push.since = time.monotonic()
        self.queue.append(push)
        self.wake()

    def wake(self) -> None:
        try:
            self.wake_there.send(b"x")
        except OSError:
            pass

    def end(self, grace: float = 5.0) -> None:
        """Waits for the pushes in progress, then ends."""
        limit = time.monotonic() + grace
        while time.monotonic() < limit and (self.queue or self.open):
            time.sleep(0.01)
        self.is_stopped = True
        self.wake()
        self.thread.join(2.0)

    # The thread.

    def run(self) -> None:
        import h2.exceptions

        backoff = 0.05
        while not self.is_stopped:
            if not self.queue:
                self.rest(None, 1.0)
                self.reached_at = time.monotonic()
                continue
            try:
                connection, sock = self.connect()
            except (OSError, ssl.SSLError, ValueError) as error:
                self.give_up(str(error))
                time.sleep(backoff)
                backoff = min(backoff * 2, 2.0)
                continue
            backoff, self.reached_at = 0.05, time.monotonic()
            try:
                self.serve(connection, sock)
            except (OSError, ssl.SSLError, ValueError, h2.exceptions.ProtocolError) as error:
                self.lose(f"connection ended: {error}")
            finally:
                sock.close()

    def rest(self, sock, seconds: float) -> bool:
        """Waits for bytes of APNs, for an offered push, or for the time. Returns whether APNs has sent something."""
        if sock is not None and sock.pending():
            return True
        poll = select.poll()
        for one in (sock, self.wake_here):
            if one is not None:
                poll.register(one, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll(seconds * 1000)}
        if self.wake_here.fileno() in ready:
            try:
                while self.wake_here.recv(4096):
                    pass
            except BlockingIOError:
                pass
        return sock is not None and sock.fileno() in ready

    def connect(self):
        import h2.config
        import h2.connection

        plain = socket.create_connection((self.host, self.port), timeout=5.0)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock = self.tls.wrap_socket(plain, server_hostname=self.host)
        sock.settimeout(10.0)
        connection = h2.connection.H2Connection(config=h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        connection.initiate_connection()
        sock.sendall(connection.data_to_send())
        return connection, sock

    def serve(self, connection, sock) -> None:
        """Sends and reads until the connection ends. Raises when it does."""
        self.has_settings = False
        while not self.is_stopped:
            now = time.monotonic()
            self.fill(connection, now)
            data = connection.data_to_send()
            if data:
                sock.sendall(data)
            if any(now - push.since > ANSWER_SECONDS for push in self.open.values()):
                raise OSError("no answer")
            if not self.rest(sock, 0.05 if self.queue else 1.0):
                continue
            received = sock.recv(65536)
            if not received:
                raise OSError("closed by APNs")
            for event in connection.receive_data(received):
                self.happened(connection, event)

    def fill(self, connection, now: float) -> None:
        """Opens streams for waiting pushes as far as APNs permits it."""
        limit = min(MAX_STREAMS, connection.remote_settings.max_concurrent_streams) if self.has_settings else 0
        for _ in range(len(self.queue)):
            if len(self.open) >= limit:
                return
            push = self.queue.popleft()
            window = min(connection.outbound_flow_control_window, connection.remote_settings.initial_window_size)
            if push.not_before > now or window < len(push.payload):
                self.queue.append(push)
                continue
            push.attempts += 1
            push.since = now
            self.began(push)
            stream = connection.get_next_available_stream_id()
            fixed = [(":method", "POST"), (":scheme", "https"), (":path", f"/3/device/{push.token}"), (":authority", f"{self.host}:{self.port}")]
            own = [("authorization", f"bearer {self.bearer(now)}"), ("apns-id", push.apns_id)] + list(push.headers.items())
            connection.send_headers(stream, fixed + own)
            connection.send_data(stream, push.payload, end_stream=True)
            self.open[stream] = push
            self.answers[stream] = [0, b""]

    def bearer(self, now: float) -> str:
        if not self.provider_token or now - self.signed_at > PROVIDER_TOKEN_SECONDS:
            import jwt

            self.provider_token = jwt.encode({"iss": self.team_id, "iat": int(time.time())}, self.key, "ES256", {"kid": self.key_id})
            self.signed_at = now
        return self.provider_token

    def happened(self, connection, event) -> None:
        import h2.events as events

        if isinstance(event, events.RemoteSettingsChanged):
            self.has_settings = True
        elif isinstance(event, events.ResponseReceived):
            self.answers[event.stream_id][0] = int(dict(event.headers)[":status"])
        elif isinstance(event, events.DataReceived):
            connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if event.stream_id in self.answers:
                self.answers[event.stream_id][1] += event.data
        elif isinstance(event, events.StreamEnded):
            self.answered(event.stream_id)
        elif isinstance(event, events.StreamReset):
            push = self.open.pop(event.stream_id, None)
            self.answers.pop(event.stream_id, None)
            if push is not None:
                # REFUSED_STREAM states that the push was not processed.
                self.again(push, 0.1) if int(event.error_code) == 7 else self.settle(push, "uncertain", 0, f"stream reset {int(event.error_code)}")
        elif isinstance(event, events.ConnectionTerminated):
            # Streams above the last ID were not processed. The library ends the connection here, so the others stay without an answer.
            for stream in [s for s in self.open if s > event.last_stream_id]:
                self.answers.pop(stream, None)
                self.again(self.open.pop(stream), 0.1)
            raise OSError("GOAWAY")

    def answered(self, stream: int) -> None:
        push = self.open.pop(stream, None)
        status, body = self.answers.pop(stream, [0, b""])
        if push is None:
            return
        reason = body.decode("utf-8", "replace")
        if '"reason"' in reason:
            reason = reason.split('"reason"', 1)[1].split('"')[1]
        if status == 403 and reason == "ExpiredProviderToken":
            self.provider_token = ""
        if status in (429, 503) or status == 403 and reason == "ExpiredProviderToken":
            self.again(push, 0.5, status, reason)
        else:
            self.settle(push, "accepted" if status == 200 else "rejected", status, reason)

    def again(self, push: Push, seconds: float, status: int = 0, reason: str = "not processed") -> None:
        """Sends a push again that APNs has certainly not accepted."""
        if push.attempts >= MAX_ATTEMPTS:
            self.settle(push, "rejected" if status else "unsent", status, reason)
            return
        push.not_before = time.monotonic() + seconds
        self.queue.append(push)

    def lose(self, reason: str) -> None:
        """The connection is gone: every push without an answer is uncertain."""
        lost, self.open, self.answers = self.open, {}, {}
        for push in lost.values():
            self.settle(push, "uncertain", 0, reason)

    def give_up(self, reason: str) -> None:
        if time.monotonic() - self.reached_at < PATIENCE_SECONDS:
            return
        while self.queue:
            self.settle(self.queue.popleft(), "unsent", 0, reason)

    def settle(self, push: Push, state: str, status: int, reason: str) -> None:
        push.state, push.status, push.reason = state, status, reason
        self.ended(push)
