"""Sends the console what no page of it sends: hostile texts, broken bodies, headers, cookies and addresses. Nothing may make it fail, or
write what it was sent as markup.

usage: fuzz.py BASE [SEED]. Environment: as roles.py, which has accepted the owner's invitation before, or has not. The seed is printed.
The last line is a JSON object with counts. Any failure is printed, and the status is 1.
"""

import json
import os
import random
import socket
import sys
import time
import urllib.parse

import hostile
from markup import Form, foreign
from person import URLENCODED, Answer, multipart
from planted import Tenant
from visitor import Visitor, check, failures, silent

# Requests, and seconds after which no further one begins.
COUNT = 700
SECONDS = 20
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types console"
)
COOKIES = {"session", "notice", "language", "theme"}
# They count wrong passwords, of which few are free before the account and the address have to wait.
PROOFS = ("/sign-in", "/prove", "/code", "/account/password", "/account/codes", "/account/codes/confirm", "/account/codes/remove")
PROOFS_COUNT = 4


class Fuzz:
    def __init__(self, base: str, seed: int) -> None:
        self.base = base
        self.random = random.Random(seed)
        self.owner = Visitor(base, "owner", [], None)
        link = json.loads(os.environ["CONSOLE_LINKS"])["owner"]
        if self.owner.get(urllib.parse.urlsplit(link).path).status == 200:
            self.owner.accept(link)
        else:
            self.owner.sign_in()
        self.pages: list[str] = []
        self.forms: list[Form] = []
        self.proofs = PROOFS_COUNT
        self.statuses: dict[int, int] = {}

    def plant(self) -> None:
        """Objects whose every text is hostile."""
        with open(os.environ["APNS_KEY"], "rb") as file:
            acme = Tenant(os.environ["GATEWAY_API"], os.environ["GATEWAY_KEY"], "acme", "shop", "zqa", "1", file.read())
        texts = [text for text in hostile.TEXTS if text.strip() and "\x00" not in text and len(text) < 200]
        groups = [f"zq<{number}>\"'&" for number in range(3)]
        made = {200: 0}
        for number, text in enumerate(texts):
            device = {"app": "shop", "platform": "ios", "environment": "production", "token": f"{number + 7:064x}", "key": f"k{number}{text}"[:100],
                      "user": f"u{number}{text}"[:100], "name": text[:60], "tags": [f"t{number}"], "client": {"appVersion": text[:30]}}  # fmt: skip
            calls = [("POST", "/v1/devices", device)]
            calls.append(("PUT", f"/v1/apps/shop/templates/{quoted(f'n{number}{text}'[:60])}", {"content": {"title": text, "body": text}}))
            message = {"app": "shop", "to": {"users": [f"u{number}{text}"[:100]]}, "title": text or "x", "body": text or "x", "data": {"a": text}}
            calls.append(("POST", "/v1/messages", message))
            for method, path, body in calls:
                status, answer = acme.call(method, path, body)
                check(status < 500, f"{method} {path}: {status} {answer}")
                made[status] = made.get(status, 0) + 1
        for group in groups:
            acme.call("PUT", f"/v1/apps/shop/groups/{quoted(group)}")
        check(sum(count for status, count in made.items() if status < 300) > len(texts), f"most hostile texts are stored: {made}")

    def crawl(self) -> None:
        """Every page, and three of each kind that links lead to: their markup is the console's, and their forms are those that are changed below."""
        listed = [page for page in json.loads(os.environ["CONSOLE_FORMS"])]
        queue = [f"/t/acme/{page}{query}" for page in listed if "{" not in page for query in ("", "?app=shop")] + ["/account", "/sign-in"]
        kinds: dict[str, int] = {}
        while queue:
            path = queue.pop(0)
            below = urllib.parse.urlsplit(path).path.split("/")
            kind = "/".join(below[:4]) + f" {len(below)}"
            kinds[kind] = kinds.get(kind, 0) + 1
            if kinds[kind] > 4 or path in self.pages:
                continue
            answer = self.judged(self.owner.get(path), path)
            self.pages.append(path)
            if answer.is_page:
                page = answer.page()
                self.forms += page.forms
                queue += [link for link in page.links if link.startswith("/t/acme/") and "export=" not in link]
        # One of a kind: most pages have those of their frame.
        self.forms = list({form.action: form for form in self.forms}.values())

    # The requests

    def text(self) -> str:
        text = self.random.choice(hostile.TEXTS)
        return text + self.random.choice(hostile.TEXTS) if self.random.random() < 0.2 else text

    def fields(self, form: Form) -> list[tuple[str, str]]:
        pick = self.random
        fields = [(name, value) for name, value in form.fields if name != "_token"]
        changed = [(name, self.text() if pick.random() < 0.4 else value) for name, value in fields if pick.random() > 0.1]
        if changed and pick.random() < 0.2:
            changed += [(pick.choice(changed)[0], self.text()) for _ in range(pick.randint(1, 5))]
        if pick.random() < 0.2:
            changed += [(self.text()[:200], self.text()) for _ in range(pick.randint(1, 5))]
        if pick.random() < 0.03:
            changed += [("x", "y" * 70_000)]
        return changed

    def body(self, form: Form, token: str) -> tuple[bytes, str | None]:
        fields = self.fields(form) + ([("_token", token)] if token else [])
        kind = self.random.random()
        plain = urllib.parse.urlencode(fields).encode()
        if kind < 0.6:
            return plain, URLENCODED
        if kind < 0.8:
            files = {name: self.random.choice(hostile.FILES) for name, kind in form.kinds.items() if kind == "file"}
            data, header = multipart([(name.translate({34: "", 13: "", 10: ""}), value) for name, value in fields], files)
            cut = len(data) if self.random.random() < 0.7 else self.random.randrange(len(data))
            return data[:cut], header if self.random.random() < 0.8 else self.random.choice(hostile.TYPES)
        return self.random.choice([plain, *hostile.BODIES]), self.random.choice(hostile.TYPES)

    def headers(self) -> dict[str, str]:
        return {name: self.random.choice(values) for name, values in hostile.HEADERS.items() if self.random.random() < 0.06}

    def address(self, path: str) -> str:
        pick = self.random
        if pick.random() < 0.15:
            parts = path.split("/")
            parts[pick.randrange(2, len(parts)) if len(parts) > 2 else -1] = quoted(self.text()[:900])
            path = "/".join(parts)
        if pick.random() < 0.4:
            pairs = [(pick.choice(hostile.PARAMETERS), self.text()) for _ in range(pick.randint(1, 6))]
            path = path.split("?")[0] + "?" + urllib.parse.urlencode(pairs)[:6000]
        return path

    def run(self) -> None:
        began = time.monotonic()
        for number in range(COUNT):
            if time.monotonic() - began > SECONDS:
                break
            if self.random.random() < 0.35:
                path = self.address(self.random.choice(self.pages))
                self.judged(self.owner.send(self.random.choice(["GET", "GET", "GET", "HEAD"]), path, None, self.headers()), path)
            else:
                self.form(self.random.choice(self.forms))
        check(number > COUNT / 4, f"{number} requests in {SECONDS} s are too few")

    def form(self, form: Form) -> None:
        pick = self.random
        path = urllib.parse.urlsplit(form.action).path
        if path == "/sign-out" or path in PROOFS:
            self.proofs -= 1
            if self.proofs < 0 or path == "/sign-out":
                return
        chance = pick.random()
        token = self.owner.token if chance < 0.8 else pick.choice(["", "0" * 128, self.owner.token[:-1], self.text()])
        origin = self.base if pick.random() < 0.9 else pick.choice(["https://evil.example", "null", self.base + ".evil.example", "", "\u00ff"])
        headers = self.headers() | {"Origin": origin}
        if pick.random() < 0.1:
            headers["Cookie"] = pick.choice(hostile.cookies(self.owner.cookies["__Host-session"]))
        body, kind = self.body(form, token)
        if kind is not None:
            headers["Content-Type"] = kind
        method = "POST" if pick.random() < 0.95 else pick.choice(hostile.METHODS)
        answer = self.judged(self.owner.send(method, self.address(path), body, headers), f"{method} {path}")
        if origin != self.base or method != "POST":
            check(answer.status in (400, 403, 405, 413, 404, 431), f"{method} {path} from {origin}: {answer.status}")
        elif token != self.owner.token and path not in ("/sign-in", "/preferences", "/invitation"):
            check(answer.status in (400, 403, 404, 413) or answer.is_to_sign_in, f"{path} with another token: {answer.status} {answer.location}")
        if answer.is_to_sign_in and "Cookie" not in headers and path not in PROOFS:
            check(self.owner.get("/account").status == 200, f"{path} ended the session")

    # The answers

    def judged(self, answer: Answer, what: str) -> Answer:
        """The parts of each answer that `Visitor` does not check."""
        what = f"{what[:200]}: {answer.status}"
        self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
        kind = answer.headers.get("content-type", "")
        # The server itself answers what is not HTTP.
        if answer.status not in (400, 431) or answer.is_page:
            check(answer.headers.get("content-security-policy") == POLICY, f"{what}: its policy is {answer.headers.get('content-security-policy')}")
            check(answer.headers.get("x-content-type-options") == "nosniff", f"{what}: nosniff is missing")
        is_file = kind.startswith(("application/json", "text/csv"))
        check(not answer.body or is_file or kind.startswith(("text/html; charset=utf-8", "text/event-stream")), f"{what}: {kind}")
        check(not is_file or "attachment" in answer.headers.get("content-disposition", ""), f"{what}: is not a file to keep")
        location = answer.location
        check(not location or location.startswith("/") and not location.startswith(("//", "/\\")), f"{what}: leads to {location}")
        names = {cookie.split("=")[0] for cookie in answer.headers.get_all("set-cookie") or []}
        check(names <= {f"__Host-{name}" for name in COOKIES}, f"{what}: sets {names}")
        return answer

    def raw(self) -> None:
        """Bytes that are no proper request: an answer below 500, or a closed connection."""
        host, _, port = self.owner.host.partition(":")
        for data in hostile.connections(self.owner.host, self.base, self.owner.cookies["__Host-session"]):
            with socket.create_connection((host, int(port)), timeout=2) as connection:
                try:
                    connection.sendall(data)
                    connection.shutdown(socket.SHUT_WR)
                    answer = connection.recv(1 << 16)
                except (TimeoutError, ConnectionError):
                    continue
            status = answer.split(b" ")[1:2]
            check(not answer or status and status[0] < b"500", f"{data[:60]!r}: {answer[:80]!r}")
        check(self.owner.get("/account").status == 200, "the console answers afterwards")

    def controls(self) -> None:
        """The checks fail where they must."""
        answer = self.owner.get("/account")
        check(foreign(answer.text.replace("<main", "<zq-x><main", 1)), "control: foreign markup is noticed")
        answer.headers.replace_header("content-security-policy", POLICY + "; style-src 'unsafe-inline'")
        answer.headers.add_header("set-cookie", "zq=1")
        with silent() as noticed:
            self.judged(answer, "control")
        check(len(noticed) == 2, f"control: another policy and a cookie are noticed: {noticed}")


def quoted(text: str) -> str:
    return urllib.parse.quote(text.encode("utf-8", "surrogatepass"), safe="")


def main() -> int:
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    began = time.monotonic()
    fuzz = Fuzz(sys.argv[1], seed)
    for step in (fuzz.plant, fuzz.crawl, fuzz.run, fuzz.raw, fuzz.controls):
        step()
        print(f"{step.__name__}: {time.monotonic() - began:.1f} s, {Visitor.count} requests", flush=True)
    counts = {"seed": seed, "forms": len(fuzz.forms), "pages": len(fuzz.pages), "statuses": fuzz.statuses, "requests": Visitor.count}
    print(json.dumps(counts | {"seconds": round(time.monotonic() - began), "failures": len(failures)}))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
