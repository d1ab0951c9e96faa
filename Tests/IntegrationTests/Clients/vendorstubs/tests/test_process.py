"""A stub as a process: the server, the faults, the journal, and its pushes through the APNs simulator."""

import base64
import http.client
import json
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import uuid

from .. import http1
from ..apns import Push, Pusher
from .support import LIMIT_SECONDS, Running, Simulator, eventually

TOKENS = [f"{n:02x}" * 32 for n in range(1, 5)]


def registration(token: str, device: str = "", user: str = "E12345") -> dict:
    return {"APP_ID": "hr.mobile", "USER_CN": user, "DEVICE_ID": device or token[:4], "PUSH_TOKEN": token}


def register(stub: Running, token: str, device: str = "", user: str = "E12345") -> None:
    status, body = stub.call("POST", "/ipns/appRegist", registration(token, device, user))
    assert status == 200 and json.loads(body)["RT"] == "0000", body


def send(stub: Running, alert: str, user: str = "E12345") -> str:
    body = {"APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@01", "PUSH_ID": [user], "ALERT": alert}
    return json.loads(stub.call("POST", "/ipns/send", body, {"Authorization": "Bearer stub-api-key"})[1])["MESSAGE_ID"]


def raw(stub: Running, data: bytes, until_closed: bool = True) -> bytes:
    """The bytes that a connection returns for these."""
    with socket.create_connection(("127.0.0.1", stub.port), timeout=LIMIT_SECONDS) as sock:
        sock.sendall(data)
        if until_closed:
            sock.shutdown(socket.SHUT_WR)
        whole = b""
        try:
            while chunk := sock.recv(65536):
                whole += chunk
        except ConnectionResetError:
            return whole + b"RST"
        return whole


class ServerTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stub = Running("ipns")

    @classmethod
    def tearDownClass(cls):
        cls.stub.__exit__(None, None, None)

    def tearDown(self):
        self.stub.control("DELETE", "faults")

    def get(self, target: str = "/ipns/getConfig?APP_ID=hr.mobile") -> tuple[int, bytes]:
        return self.stub.call("GET", target)

    def test_pipelined_calls_on_one_connection(self):
        one = b"GET /ipns/getConfig?APP_ID=hr.mobile HTTP/1.1\r\nHost: x\r\n\r\n"
        self.assertEqual(raw(self.stub, one * 3).count(b'"RT":"2003"'), 3)

    def test_a_chunked_body(self):
        body = b"5\r\n{\"APP\r\n11;x=y\r\n_ID\":\"hr.mobile\"}\r\n0\r\nTrailer: x\r\n\r\n"
        answer = raw(self.stub, b"POST /ipns/getConfig HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
        self.assertIn(b'"RT":"2003"', answer)

    def test_HEAD_has_no_body_and_100_continue_is_sent(self):
        answer = raw(self.stub, b"HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        self.assertTrue(answer.startswith(b"HTTP/1.1 404") and answer.endswith(b"\r\n\r\n"), answer)
        data = b"POST /ipns/getConfig HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}"
        self.assertTrue(raw(self.stub, data).startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200"))

    def test_unreadable_and_unbounded_requests_are_refused(self):
        for data, status in (
            (b"nonsense\r\n\r\n", b"400"), (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"400"), (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
            (b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b"413"), (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
            (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n", b"413"), (b"GET / HTTP/1.1\r\nX: " + b"x" * http1.MAX_HEAD_BYTES, b"431"),
            (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", b"400"),
        ):  # fmt: skip
            self.assertEqual(raw(self.stub, data)[9:12], status, data[:60])

    def test_calls_are_recorded_in_order_with_their_bytes(self):
        before = self.stub.control("GET", "counts")["calls"]
        self.stub.call("POST", "/ipns/a", {"x": "é"})
        self.stub.call("GET", "/ipns/b?q=1")
        calls = self.stub.control("GET", f"calls?after={before}")["calls"]
        self.assertEqual([(c["method"], c["target"], c["number"]) for c in calls], [("POST", "/ipns/a", before + 1), ("GET", "/ipns/b?q=1", before + 2)])
        self.assertEqual(json.loads(base64.b64decode(calls[0]["body"])), {"x": "é"})
        self.assertTrue(base64.b64decode(calls[0]["head"]).startswith(b"POST /ipns/a HTTP/1.1\r\n"))
        targeted = [self.stub.control("GET", f"counts?target={target}")["calls"] for target in ("/ipns/b", "/ipns/b?q=2", "")]
        self.assertEqual(targeted, [1, 0, before + 2])

    def test_faults_that_answer(self):
        self.stub.control("POST", "faults", {"fault": "status", "status": 503, "headers": {"Retry-After": "3"}, "body": "down", "times": 1})
        self.assertEqual([self.get()[0] for _ in range(2)], [503, 200])
        self.stub.control("POST", "faults", {"fault": "redirect", "location": "http://127.0.0.1:1/inside", "times": 1})
        answer = raw(self.stub, b"GET /ipns/getConfig HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertTrue(answer.startswith(b"HTTP/1.1 302") and b"\r\nLocation: http://127.0.0.1:1/inside\r\n" in answer)
        self.stub.control("POST", "faults", {"fault": "tooMany", "path": "/ipns/get", "every": 2})
        self.assertEqual([json.loads(self.get()[1])["RT"] for _ in range(4)], ["2003", "9999", "2003", "9999"])
        calls = self.stub.control("GET", "calls?after=0")["calls"][-4:]
        self.assertEqual([(c["fault"], c["carriedOut"]) for c in calls], [(None, True), ("tooMany", False)] * 2)

    def test_faults_of_the_bytes(self):
        request = b"GET /ipns/getConfig?APP_ID=hr.mobile HTTP/1.1\r\nHost: x\r\n\r\n"
        whole = raw(self.stub, request)
        body = whole.partition(b"\r\n\r\n")[2]
        for fault, expected in (
            ({"fault": "half"}, lambda a: 0 < len(a) < len(whole)), ({"fault": "loseAnswer"}, lambda a: a == b""), ({"fault": "reset"}, lambda a: a == b"RST"),
            ({"fault": "wrongLength", "delta": 5}, lambda a: f"Content-Length: {len(body) + 5}".encode() in a and a.endswith(body)),
            ({"fault": "wrongLength", "delta": -5}, lambda a: f"Content-Length: {len(body) - 5}".encode() in a and a.endswith(body)),
        ):  # fmt: skip
            self.stub.control("POST", "faults", fault | {"times": 1})
            answer = raw(self.stub, request, until_closed=False)
            self.assertTrue(expected(answer), (fault, answer))
        self.assertEqual(self.get()[0], 200)

    def test_mutated_answers(self):
        request = b"GET /ipns/getConfig?APP_ID=hr.mobile HTTP/1.1\r\nHost: x\r\n\r\n"
        self.stub.control("POST", "faults", {"fault": "mutate"})
        answers = {raw(self.stub, request, until_closed=False) for _ in range(20)}
        self.assertGreater(len(answers), 15)

    def test_an_endless_body(self):
        self.stub.control("POST", "faults", {"fault": "endless", "times": 1})
        with socket.create_connection(("127.0.0.1", self.stub.port), timeout=LIMIT_SECONDS) as sock:
            sock.sendall(b"GET /ipns/x HTTP/1.1\r\nHost: x\r\n\r\n")
            count = 0
            while count < 4 * 1024 * 1024:
                count += len(sock.recv(1 << 20))
        self.assertEqual(self.get()[0], 200)

    def test_a_slow_answer(self):
        self.stub.control("POST", "faults", {"fault": "slow", "seconds": 0.3, "times": 1})
        started = time.monotonic()
        self.assertEqual(self.get()[0], 200)
        self.assertGreaterEqual(time.monotonic() - started, 0.3)

    def test_down_refuses_connections_and_comes_back_at_the_same_port(self):
        kept = http.client.HTTPConnection("127.0.0.1", self.stub.port, timeout=LIMIT_SECONDS)
        kept.request("GET", "/ipns/x")
        kept.getresponse().read()
        self.stub.control("POST", "faults", {"fault": "down", "seconds": 0.5})

        def is_refused() -> bool:
            try:
                self.get()
            except ConnectionRefusedError:
                return True
            except (ConnectionError, http.client.HTTPException):
                pass
            return False

        eventually(is_refused, bool)
        eventually(is_refused, lambda refused: not refused)
        with self.assertRaises((ConnectionError, http.client.HTTPException)):
            kept.request("GET", "/ipns/x")
            kept.getresponse()
        kept.close()

    def test_lost_receipts_are_answered_and_not_kept(self):
        register(self.stub, TOKENS[0])
        number = send(self.stub, "Hello")
        body = {"APP_ID": "hr.mobile", "DEVICE_ID": TOKENS[0][:4], "REQ_ID": number}
        self.stub.control("POST", "faults", {"fault": "loseReceipts", "times": 1})
        answers = [json.loads(self.stub.call("POST", "/ipns/readReport", body)[1])["RT"] for _ in range(2)]
        self.assertEqual((answers, [r["message"] for r in self.stub.control("GET", "receipts")["receipts"]]), (["0000", "0000"], [number]))

    def test_wrong_control_calls(self):
        for method, name, body in (("POST", "faults", {"fault": "none"}), ("GET", "none", None), ("POST", "time", {})):
            with self.assertRaises(AssertionError):
                self.stub.control(method, name, body)


class LifeTests(unittest.TestCase):
    def test_TLS_with_a_given_certificate(self):
        with tempfile.TemporaryDirectory() as folder:
            files = f"-keyout {folder}/key.pem -out {folder}/cert.pem"
            make = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost {files}"
            subprocess.run(make.split(), check=True, capture_output=True)
            with Running("ipns", "--tls-cert", f"{folder}/cert.pem", "--tls-key", f"{folder}/key.pem") as stub:
                self.assertTrue(stub.address["url"].startswith("https://"))
                context = ssl.create_default_context(cafile=f"{folder}/cert.pem")
                connection = http.client.HTTPSConnection("localhost", stub.port, timeout=LIMIT_SECONDS, context=context)
                connection.request("GET", "/ipns/getConfig?APP_ID=hr.mobile")
                self.assertEqual(connection.getresponse().status, 200)
                connection.close()

    def test_a_call_in_progress_ends_before_the_stub(self):
        with Running("ipns") as stub:
            stub.control("POST", "faults", {"fault": "slow", "seconds": 0.05, "times": 1})
            connection = http.client.HTTPConnection("127.0.0.1", stub.port, timeout=LIMIT_SECONDS)
            connection.request("GET", "/ipns/getConfig?APP_ID=hr.mobile")
            self.assertEqual(connection.getresponse().status, 200)
            stub.process.send_signal(signal.SIGTERM)
            self.assertEqual(stub.process.wait(LIMIT_SECONDS), 0)
            connection.close()

    def test_a_killed_stub_goes_on_where_it_was(self):
        with tempfile.TemporaryDirectory() as folder:
            journal = ["--journal", f"{folder}/journal"]
            with Running("ipns", *journal) as stub:
                register(stub, TOKENS[0])
                numbers = [send(stub, "one"), send(stub, "two")]
                stub.call("POST", "/ipns/readReport", {"APP_ID": "hr.mobile", "DEVICE_ID": TOKENS[0][:4], "REQ_ID": numbers[0]})
                before = [stub.control("GET", name) for name in ("state", "calls", "receipts", "pushes", "counts")]
                stub.kill()
            with open(f"{folder}/journal", "ab") as file:
                file.write(b'{"call":{"torn')
            with Running("ipns", *journal) as stub:
                self.assertEqual([stub.control("GET", name) for name in ("state", "calls", "receipts", "pushes", "counts")], before)
                register(stub, TOKENS[1])
            with Running("ipns", *journal) as stub:
                self.assertEqual(stub.control("GET", "counts")["calls"], 5)
                self.assertEqual([d["token"] for d in stub.control("GET", "state")["devices"]], TOKENS[:2])

    def test_time_moves_by_calls_and_on_demand(self):
        with Running("upmc", "--time", "2026-01-01T00:00:00Z") as stub:
            form = {"Content-Type": "application/x-www-form-urlencoded"}
            stub.call("POST", "/upmc/new_rcv_register_service_and_user.ctl", f"APP_ID=com.example.app&CUID=u&DEVICE_ID=d&PNSID=APNS&PSID={TOKENS[0]}".encode(), form)
            body = b"APP_ID=com.example.app&TYPE=E&CUID=u&MESSAGE=x&SERVICECODE=ALL&SENDERCODE=a&RESERVEDATE=20260101%20090500"
            stub.call("POST", "/upmc/rcv_register_message.ctl", body, form)
            self.assertEqual(stub.control("GET", "counts")["pushes"], 0)
            self.assertEqual(stub.control("POST", "time", {"seconds": 300}), {"now": 1_767_225_900_002})
            self.assertEqual(stub.control("GET", "counts")["pushStates"], {"waiting": 1})

    def test_tracking_callbacks_arrive(self):
        received: list[bytes] = []
        server = http1.Server(lambda request: (received.append(request.body) or http1.Response(204), None))
        with Running("rationalowl", "--set", "callbackMilliseconds=10") as stub:
            core = {"serviceId": "0123456789abcdef0123456789abcdef", "registerName": "x"}
            number = json.loads(stub.call("POST", "/server/register/", core)[1])["serverRegId"]
            sender = {"rId": number, "aId": "a1b2c3d4-1111-4222-8333-444455556666", "ip": ""}
            stub.call("POST", "/msgClient/register", sender)
            stub.call("POST", "/msgClient/setCallbackUrl", sender | {"url": f"http://127.0.0.1:{server.port}/report"})
            stub.call("POST", "/msgClient/sendMsg", sender | {"msg": {"body": "x"}, "dest": {"t": 2, "tg": [{"pn": "01022222222"}]}})
            body, = eventually(lambda: list(received), bool)  # fmt: skip
            self.assertEqual(json.loads(body)[0]["ds"][0]["pn"], "01022222222")
            eventually(lambda: stub.control("GET", "counts")["callbacksWaiting"], lambda count: count == 0)
        server.end()


class PushTests(unittest.TestCase):
    """A push leaves once, and its record says what became of it."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.simulator = Simulator(cls.folder.name).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.simulator.__exit__()
        cls.folder.cleanup()

    def setUp(self):
        self.simulator.control("POST", "reset")
        self.journal = f"{self.folder.name}/{self.id()}"

    def stub(self) -> Running:
        return Running("ipns", *self.simulator.arguments, "--journal", self.journal)

    def test_one_push_per_device_with_an_apns_id_of_its_own(self):
        with self.stub() as stub:
            for index, token in enumerate(TOKENS[:2]):
                register(stub, token, f"D{index}")
            numbers = [send(stub, "one"), send(stub, "two")]
            pushes = stub.pushes(lambda found: [p["state"] for p in found] == ["accepted"] * 4)
        self.assertEqual([(p["message"], p["device"], p["user"]) for p in pushes], [(n, d, "E12345") for n in numbers for d in ("D0", "D1")])
        self.assertEqual(len({p["apnsId"] for p in pushes}), 4)
        for push in pushes:
            found = [r for r in self.simulator.requests(push["token"]) if r["headers"]["apns-id"] == push["apnsId"]]
            self.assertEqual([json.loads(push["payload"])], [r["payload"] for r in found])
        self.assertEqual(self.simulator.control("GET", "duplicates")["repeats"], 0)

    def test_an_uncertain_push_is_not_repeated(self):
        self.simulator.control("POST", "script", [{"token": TOKENS[0], "fault": "tcpReset", "delivered": True, "times": 1}])
        with self.stub() as stub:
            register(stub, TOKENS[0])
            send(stub, "one")
            stub.pushes(lambda found: [p["state"] for p in found] == ["uncertain"])
            send(stub, "two")
            pushes = stub.pushes(lambda found: [p["state"] for p in found] == ["uncertain", "accepted"])
        self.assertEqual([r["headers"]["apns-id"] for r in self.simulator.requests(TOKENS[0])], [p["apnsId"] for p in pushes])

    def test_a_push_that_was_not_processed_is_sent_again_with_its_apns_id(self):
        self.simulator.control("POST", "script", [{"token": TOKENS[0], "fault": "reset", "code": 7, "times": 1}, {"token": TOKENS[0], "status": 503, "times": 1}])
        with self.stub() as stub:
            register(stub, TOKENS[0])
            send(stub, "one")
            push, = stub.pushes(lambda found: [p["state"] for p in found] == ["accepted"])  # fmt: skip
        self.assertEqual([r["headers"]["apns-id"] for r in self.simulator.requests(TOKENS[0])], [push["apnsId"]] * 3)
        self.assertEqual(self.simulator.control("GET", "stats")["accepted"], 1)

    def test_a_dead_token_is_reported_and_forgotten(self):
        self.simulator.control("POST", "script", [{"token": TOKENS[0], "status": 410}])
        with self.stub() as stub:
            register(stub, TOKENS[0])
            send(stub, "one")
            push, = stub.pushes(lambda found: [p["state"] for p in found] == ["rejected"])  # fmt: skip
            self.assertEqual((push["status"], push["reason"]), (410, "Unregistered"))
            self.assertEqual([d["token"] for d in stub.control("GET", "state")["devices"]], [""])

    def test_a_kill_leaves_begun_pushes_uncertain_and_sends_waiting_ones(self):
        self.simulator.control("POST", "script", [{"token": TOKENS[0], "fault": "silence"}])
        with self.stub() as stub:
            register(stub, TOKENS[0], "D0", "A")
            register(stub, TOKENS[1], "D1", "B")
            send(stub, "one", "A")
            stub.pushes(lambda found: [p["state"] for p in found] == ["sending"])
            eventually(lambda: self.simulator.requests(TOKENS[0]), bool)
            stub.kill()
        with Running("ipns", "--journal", self.journal) as stub:  # Without APNs a push waits.
            self.assertEqual([p["state"] for p in stub.control("GET", "pushes")["pushes"]], ["uncertain"])
            send(stub, "two", "B")
            stub.kill()
        with self.stub() as stub:
            pushes = stub.pushes(lambda found: [p["state"] for p in found] == ["uncertain", "accepted"])
        self.assertEqual([len(self.simulator.requests(t)) for t in TOKENS[:2]], [1, 1])
        self.assertEqual(self.simulator.requests(TOKENS[1])[0]["headers"]["apns-id"], pushes[1]["apnsId"])

    def test_pushes_wait_for_an_APNs_that_is_not_there_yet(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        arguments = [f"https://localhost:{port}" if a.startswith("https:") else a for a in self.simulator.arguments]
        with Running("ipns", *arguments, "--journal", self.journal) as stub:
            register(stub, TOKENS[0])
            send(stub, "one")
            time.sleep(0.3)
            self.assertEqual(stub.control("GET", "counts")["pushStates"], {"waiting": 1})
            stub.kill()
        with self.stub() as stub:
            stub.pushes(lambda found: [p["state"] for p in found] == ["accepted"])

    def test_kills_while_it_pushes(self):
        """Whatever the moment of the kill, no push is sent twice, and every push that was not begun is sent after the restart."""
        count, users = 60, [f"U{index}" for index in range(60)]
        with self.stub() as stub:
            for index, user in enumerate(users):
                register(stub, f"{index:064x}", f"D{index}", user)
        body = {"APP_ID": "hr.mobile", "PUSH_ID_TYPE": "@01", "PUSH_ID": users, "ALERT": "x"}
        for moment in (0.0, 0.005, 0.02, 0.05):
            with self.stub() as stub:
                stub.call("POST", "/ipns/send", body, {"Authorization": "Bearer stub-api-key"})
                time.sleep(moment)
                stub.kill()
        with self.stub() as stub:
            final = {"accepted", "uncertain"}
            pushes = stub.pushes(lambda found: len(found) == 4 * count and {p["state"] for p in found} <= final)
        self.assertEqual(self.simulator.control("GET", "duplicates")["repeats"], 0)
        received = {r["headers"]["apns-id"] for r in self.simulator.control("GET", "requests?limit=10000")["requests"]}
        self.assertEqual({p["apnsId"] for p in pushes if p["state"] == "accepted"} - received, set())
        self.assertEqual(received - {p["apnsId"] for p in pushes}, set())
        self.assertEqual(self.simulator.control("GET", "stats")["accepted"], len(received))

    def test_offering_pushes_never_waits_for_the_pusher(self):
        """A call offers its pushes under a lock that the pusher takes before each push: 2,000 of one call once waited for each other."""
        count, lock, entered, ended = 400, threading.Lock(), threading.Event(), []

        def began(push: Push) -> None:
            entered.set()
            with lock:
                push.apns_id = str(uuid.uuid4())

        url, authority, key = self.simulator.arguments[1::2]
        pusher = Pusher(url, authority, key, "STUBKEY001", "STUBTEAM01", began, ended.append)
        headers = {"apns-topic": "com.example.app", "apns-push-type": "alert", "apns-priority": "10"}
        pushes = [Push(n, "m", "u", f"D{n}", f"{n:064x}", headers, b'{"aps":{"alert":"x"}}') for n in range(count)]

        def offer() -> None:
            with lock:
                for push in pushes:
                    pusher.offer(push)
                    if push is pushes[0]:
                        entered.wait(LIMIT_SECONDS)

        thread = threading.Thread(target=offer, daemon=True)
        thread.start()
        thread.join(LIMIT_SECONDS)
        self.assertFalse(thread.is_alive())
        eventually(lambda: len(ended), lambda found: found == count)
        pusher.end()
        self.assertEqual({p.state for p in ended}, {"accepted"})
        self.assertEqual(self.simulator.control("GET", "stats")["distinctPairs"], count)
