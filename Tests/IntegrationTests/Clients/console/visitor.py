"""A person whose every answer is checked."""

import contextlib
import io
import re
import urllib.parse

from markup import foreign
from person import Answer, Person
from planted import Tenant

failures: list[str] = []


def check(holds: object, what: str) -> bool:
    """Notes a failure, and goes on: one run reports all of them."""
    if not holds:
        print(f"FAILED {what[:600]}", flush=True)
        failures.append(what)
    return bool(holds)


@contextlib.contextmanager
def silent():
    """For controls: yields the failures of its body, which then count for nothing."""
    kept, noticed = failures[:], []
    with contextlib.redirect_stdout(io.StringIO()):
        yield noticed
    noticed += failures[len(kept) :]
    failures[:] = kept


class Visitor(Person):
    """Every answer has no error of the server, no markup but the console's, nothing of another tenant, and nobody whom the role sees masked."""

    count = 0
    # The ids and texts that the people of each tenant have asked for, which the audit of the tenant shows: by the marks of the others.
    asked: dict[str, set[str]] = {}

    def __init__(self, base: str, name: str, foreign: list[Tenant], masked: Tenant | None) -> None:
        super().__init__(base, name)
        self.foreign = foreign
        self.masked = masked
        self.is_revealed = False
        self.seen: set[str] = set()

    def send(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        answer = super().send(method, path, body, headers)
        Visitor.count += 1
        where = f"{self.name or 'signed out'}: {method} {path}: {answer.status}"
        check(answer.status < 500, f"{where} {answer.text[:300]}")
        if answer.is_page:
            wrong = foreign(answer.text)
            check(not wrong, f"{where}: markup that is not the console's: {wrong[:3]}")
        # A text of the request may be in its answer.
        self.judge(answer.text + " " + answer.location, urllib.parse.unquote_plus(path + " " + (body or b"").decode("latin-1")), where)
        return answer

    def watch(self, path: str) -> None:
        self.judge(self.glance(path), path, f"{self.name}: {path}")

    def judge(self, text: str, own: str, where: str) -> None:
        asked = Visitor.asked.setdefault("".join(tenant.mark for tenant in self.foreign), set())
        asked |= texts(own) | set(re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", own))
        if "audit" in own:
            own += " ".join(asked)
        found = texts(text) - texts(own)
        self.seen |= found
        for tenant in self.foreign:
            leak = {name for name in found if name.startswith(tenant.mark)} | numbers(text, own, tenant.phones | tenant.secrets)
            check(not leak, f"{where}: data of the tenant {tenant.name}: {sorted(leak)[:5]}")
        if self.masked is not None and not self.is_revealed:
            leak = (found & self.masked.personal) | numbers(text, own, self.masked.phones | self.masked.tokens)
            check(not leak, f"{where}: not masked: {sorted(leak)[:5]}")


def texts(text: str) -> set[str]:
    return set(re.findall(r"zq[ab]-(?:id|own|per)-[a-z0-9-]+", text))


def numbers(text: str, own: str, secrets: set[str]) -> set[str]:
    """The phone numbers, tokens and ids in a text. Digits may be in groups."""
    plain = re.sub(r"(?<=\d)[ -](?=\d)", "", text)
    return {secret for secret in secrets if (secret in plain or secret in text) and secret not in own}
