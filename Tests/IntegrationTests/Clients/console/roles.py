"""Crawls every page, form and export of the console by every role, signed out, as a platform account, and with the objects of another tenant.

usage: roles.py BASE. Environment: CONSOLE_FORMS, a JSON object of the names of the forms by the paths of all pages; CONSOLE_LINKS, the links of the
invitations of the owner of each tenant and of a platform account; GATEWAY_API; GATEWAY_KEY and RIVAL_KEY, keys of both tenants with all scopes;
APNS_KEY, a file with a key for APNs. The last line is a JSON object with counts. Any failure is printed, and the status is 1.
"""

import json
import re
import sys
import time

import exports
import rights
from matrix import Matrix
from person import URLENCODED
from visitor import Visitor, check, failures, silent, texts


class Roles(Matrix):
    def exported(self) -> None:
        """The exports of the owner's pages are the answers of the API."""
        exports.run(self.owner, self.acme, list(self.listed))

    def sessions(self) -> None:
        """Nobody ends another person's session; a person whose role is changed has to sign in again."""
        owner, author = self.roles["owner"], self.roles["author"]
        ids = set(re.findall(r'name="id" value="([0-9a-f-]{36})"', owner.get("/account").text))
        check(ids, "the account's page lists no session that can be ended")
        for session in ids:
            author.post("/account/sessions/end", [("id", session)])
        check(ids <= set(re.findall(r'name="id" value="([0-9a-f-]{36})"', owner.get("/account").text)), "an author ended a session of the owner")
        check(self.changed.get("/t/acme/").is_to_sign_in, "a changed role ends the sessions")
        for name, kind in rights.OUTSIDE.items():
            answer = self.nobody.post("/" + name, [])
            check(answer.is_to_sign_in if kind == "+" else answer.status in (303, 404, 422), f"signed out: {name}: {answer.status}")
            forged = owner.send("POST", "/" + name, b"", {"Origin": self.base, "Content-Type": URLENCODED})
            check(forged.status in (403, 303, 404, 422) and (not kind or forged.status != 200), f"{name} without a token: {forged.status}")
            cross = owner.send("POST", "/" + name, b"", {"Origin": "https://evil.example", "Content-Type": URLENCODED})
            check(cross.status == 403, f"{name} from another site: {cross.status}")

    def revealed(self) -> None:
        """Every role sees what is masked after `reveal`, once, and each time has a row of the audit."""
        shown = 0
        for pattern in ("devices/{device}", "users/{user}", "groups/{group}", "test-devices", "users"):
            mine = self.acme.objects["spare"]
            path = "/t/acme/" + rights.path(pattern, mine)
            for role in rights.MASKED:
                person = self.roles[role]
                person.is_revealed = True
                answer = person.post(f"{path}/reveal{rights.query(pattern, mine)}", [])
                person.is_revealed = False
                if rights.may(role, rights.PAGES[pattern]):
                    shown += 1
                    found = texts(answer.text) & self.acme.personal
                    check(answer.status == 200 and found, f"{role}: {pattern} is not revealed: {answer.status}")
                else:
                    check(answer.status == 403, f"{role}: reveals {pattern}: {answer.status}")
                person.get(path + rights.query(pattern, mine))
        audit = self.acme.done("GET", "/v1/audit?limit=200&order=newest")["entries"]
        rows = [entry for entry in audit if entry["action"] == "reveal" and entry["actor"].split(":")[1] in rights.MASKED]
        check(len(rows) >= shown, f"{shown} pages were revealed, and the audit has {len(rows)} rows")

    def afterwards(self) -> None:
        """The traces of these forms are masked too: in the audit, the lists and the pages of messages to named people."""
        named = self.acme.objects["spare"]["awaiting"]
        extra = [f"compose?message={named}", f"messages/{named}", f"compose/sent/{named}", "messages?text=zqa-per-user-spare"]
        extra += ["templates?app=shop", "live", "audit", "audit?export=json"]
        for role in rights.MASKED:
            for path in extra:
                self.roles[role].get(f"/t/acme/{path}")
            self.searched(role, self.roles[role])
        for path in ("audit", "messages", "live"):
            self.other.get(f"/t/rival/{path}")

    def searched(self, role: str, person: Visitor) -> None:
        """A person who knows one thing about another learns nothing more by searching for it."""
        spare = self.acme.objects["spare"]
        for value in (spare["user"], spare["phone"], spare["phone"][-4:], "zqa-per-key-spare", "zqa-per-name-spare", *sorted(self.acme.tokens)[:1]):
            answer = person.post("/t/acme/find", [("value", value)])
            check(answer.status in (200, 303), f"{role}: searches: {answer.status}")
            if answer.status == 303:
                person.get(answer.location)
            if rights.may(role, rights.FORMS[("compose", "review")]):
                found = {"app": "shop", "audience": "search", "search": value, "title": "x", "body": "x", "when": "now"}
                for name in ("review", "preview"):
                    person.post(f"/t/acme/compose/{name}", list(found.items()))

    def compared(self, pages: dict, forms: dict, observed: dict | None = None) -> list[str]:
        """The differences between the observed answers and tables."""
        found = []
        for (page, name, role), status in (observed or self.observed).items():
            allowed = rights.may(role, forms[(page, name)] if name else pages[page])
            if (status == 403) == allowed or status == 404:
                found.append(f"{role}: {page} {name}: {status}, although the table says {'yes' if allowed else 'no'}")
        return found

    def controls(self) -> None:
        """The checks fail where they must: with another table, and with another tenant's or an unmasked person's answers."""
        forms = rights.FORMS | {(page, "reveal"): roles for page, roles in rights.PAGES.items()}
        for fault in self.compared(rights.PAGES, forms):
            check(False, fault)
        check(len(self.compared(rights.PAGES | {"messages": "opau"}, forms)) == 1, "control: a right that the table lacks is noticed")
        check(len(self.compared(rights.PAGES, forms | {("keys", "create"): "op"})) == 1, "control: a right that the table has in excess is noticed")
        device = rights.path("devices/{device}", self.rival.objects["spare"])
        for person, tenant, path, foreign, masked in (
            (self.other, "rival", device, [self.rival], None),
            (self.owner, "acme", "users?app=shop", [], self.acme),
        ):
            twin = Visitor(self.base, f"control ({person.name})", foreign, masked)
            twin.cookies = dict(person.cookies)
            with silent() as noticed:
                twin.get(f"/t/{tenant}/{path}")
            check(noticed, f"control: {tenant}/{path} has nothing that must be hidden from others")
        self.unchecked()
        planted, seen = ({text.split("-")[2] for text in texts} for texts in (self.acme.personal, self.owner.seen & self.acme.personal))
        check(planted == seen, f"control: the owner has seen no {planted - seen}, so that nobody knows whether it is masked")

    def unchecked(self) -> None:
        """Control: a console that lets a person open everything and see everybody. Held against the rights of an analyst, each of its pages differs."""
        given = self.owner.post("/t/acme/accounts/role", [("name", "changed"), ("role", "owner")])
        check(given.status == 303, f"control: the role is given: {given.status}")
        spare = self.acme.objects["spare"]
        closed = [page for page, roles in rights.PAGES.items() if not rights.may("analyst", roles)]
        person = Visitor(self.base, "changed", [self.rival], self.acme)
        observed = {}
        with silent() as noticed:
            person.sign_in()
            for page in closed:
                answer = person.get(f"/t/acme/{rights.path(page, spare)}{rights.query(page, spare)}")
                observed[(page, "", "analyst")] = answer.status
            person.get("/t/acme/users?app=shop")
        found = self.compared(rights.PAGES, {}, observed)
        check(len(found) == len(closed) > 20, f"control: of {len(closed)} pages without a check of the role, {len(found)} are noticed")
        check(any("not masked" in fault for fault in noticed), "control: an answer that is not masked is noticed")


def main() -> int:
    began = time.monotonic()
    roles = Roles(sys.argv[1])
    steps = [roles.acme.plant, roles.rival.plant, roles.people, roles.lists, roles.pages, roles.streams, roles.exported, roles.refused]
    for step in [*steps, roles.revealed, roles.permitted, roles.sessions, roles.afterwards, roles.controls]:
        step()
        print(f"{step.__name__}: {time.monotonic() - began:.1f} s, {Visitor.count} requests", flush=True)
    print(json.dumps({"requests": Visitor.count, "seconds": round(time.monotonic() - began), "failures": len(failures)}))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
