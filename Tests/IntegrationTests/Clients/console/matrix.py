"""Every page and form of the console, by everybody: the lists, and who is answered how."""

import json
import os
import re
import urllib.parse

import rights
from markup import Form
from person import Answer, Person
from planted import SUFFIXES, Tenant, difference, tomorrow
from visitor import Visitor, check


class Matrix:
    def __init__(self, base: str) -> None:
        self.base = base
        environment = os.environ
        api = environment["GATEWAY_API"]
        with open(environment["APNS_KEY"], "rb") as file:
            self.apns_key = file.read()
        self.acme = Tenant(api, environment["GATEWAY_KEY"], "acme", "shop", "zqa", "1", self.apns_key)
        self.rival = Tenant(api, environment["RIVAL_KEY"], "rival", "kiosk", "zqb", "2", self.apns_key)
        self.listed = {page or "overview": names for page, names in json.loads(environment["CONSOLE_FORMS"]).items()}
        # The forms of the pages as an owner sees them, with the page of each.
        self.forms: dict[tuple[str, str], list[Form]] = {}
        self.outside: dict[str, Form] = {}
        self.observed: dict[tuple[str, str, str], int] = {}

    # The worlds

    def people(self) -> None:
        links = json.loads(os.environ["CONSOLE_LINKS"])
        acme, rival = self.acme, self.rival
        self.owner = self.joined("owner", links["owner"], [rival], None)
        self.other = self.joined("rival-owner", links["rival-owner"], [acme], None)
        self.platform = self.joined("platform", links["platform"], [acme, rival], None)
        self.nobody = Visitor(self.base, "", [acme, rival], None)
        self.roles = {"owner": self.owner}
        for name in ("operator", "author", "analyst", "auditor", "changed"):
            role = "analyst" if name == "changed" else name
            answer = self.owner.post("/t/acme/accounts/invite", [("name", name), ("role", role)])
            link = re.search(r"/invitation/[0-9a-f]+", answer.text)
            assert link, f"no invitation of {name}: {answer.status} {answer.text[:500]}"
            person = self.joined(name, link[0], [rival], acme if name in rights.MASKED else None)
            if name == "changed":
                self.changed = person
            else:
                self.roles[name] = person

    def joined(self, name: str, link: str, foreign: list[Tenant], masked: Tenant | None) -> Visitor:
        person = Visitor(self.base, name, foreign, masked)
        person.accept(link)
        return person

    # The lists

    def pattern(self, below: str) -> str | None:
        """The pattern of a page's path below its tenant; None: it is not a page."""
        parts = [part for part in urllib.parse.unquote(below).split("/") if part]
        best = None
        for pattern in self.listed:
            fields = [] if pattern == "overview" else pattern.split("/")
            if len(fields) == len(parts) and all(field == part or field.startswith("{") for field, part in zip(fields, parts)):
                if best is None or pattern.count("{") < best.count("{"):
                    best = pattern
        return best

    def note(self, forms: list[Form], where: str) -> None:
        """Files the forms of a page under the names of the list. A form that no list has is a failure."""
        for form in forms:
            place = urllib.parse.urlsplit(form.action).path
            below = place.removeprefix("/t/acme/")
            if below == place:
                if check(place[1:] in rights.OUTSIDE, f"{where} has a form {place}, which the table of forms lacks"):
                    self.outside[place[1:]] = form
                continue
            head, _, name = below.rpartition("/")
            key = ("find", "search") if self.pattern(below) == "find" else (self.pattern(head) or "?", name)
            if name == "reveal" or check(key in rights.FORMS, f"{where} has a form {below}, which the table of forms lacks"):
                self.forms.setdefault(key, []).append(form)

    def lists(self) -> None:
        """The tables, the list of the console and the pages name the same pages and forms."""
        check(set(self.listed) == set(rights.PAGES), f"pages: table and console differ: {set(self.listed) ^ set(rights.PAGES)}")
        listed = {(page, name) for page, names in self.listed.items() for name in names}
        check(listed == set(rights.FORMS), f"forms: table and console differ: {listed ^ set(rights.FORMS)}")
        for pattern in rights.PAGES:
            for suffix in SUFFIXES:
                mine = self.acme.objects[suffix]
                path = rights.path(pattern, mine) + rights.query(pattern, mine)
                answer = self.owner.get("/t/acme/" + path)
                check(answer.status == 200, f"owner: {path}: {answer.status}")
                self.note(answer.page().forms, path)
                if "{" not in pattern:
                    break
        message = rights.values("compose", "review", self.acme.objects["owner"], "owner")
        self.note(self.owner.post("/t/acme/compose/review", list(message.items())).page().forms, "a review")
        Person.sign_in(Visitor(self.base, "owner", [self.rival], None))
        for path in ("/account", "/sign-in"):
            self.note((self.owner if path == "/account" else self.nobody).get(path).page().forms, path)
        self.outside.setdefault("invitation", Form("/invitation", False))
        seen = {key for key in self.forms if key[1] != "reveal"}
        check(set(rights.FORMS) - seen == rights.UNSEEN, f"forms that no page has: {(set(rights.FORMS) - seen) ^ rights.UNSEEN}")
        missing = set(rights.OUTSIDE) - set(self.outside)
        check(missing == rights.UNSEEN_OUTSIDE, f"forms outside of tenants that no page has: {missing ^ rights.UNSEEN_OUTSIDE}")

    # Pages

    def pages(self) -> None:
        for pattern, roles in rights.PAGES.items():
            mine, theirs = self.acme.objects["spare"], self.rival.objects["spare"]
            path, foreign = rights.path(pattern, mine), rights.path(pattern, theirs)
            query = rights.query(pattern, mine)
            for role, person in self.roles.items():
                shown = person.get(f"/t/acme/{path}{query}")
                self.observe(pattern, "", role, shown)
                if shown.status in (403, 404):
                    check('<nav class="sidebar"' in shown.text, f"{role}: {pattern}: {shown.status} without the frame of the tenant")
                for kind in ("json", "csv") if person.masked else ("json",):
                    person.get(f"/t/acme/{path}?export={kind}{query.replace('?', '&')}")
                if "{" in pattern and pattern != "failures/{reason}":
                    answer = person.get(f"/t/acme/{foreign}{rights.query(pattern, theirs)}")
                    expected = (404, 200) if rights.may(role, roles) else (403,)
                    check(answer.status in expected, f"{role}: {pattern} of another tenant: {answer.status}")
            # The tenant is looked at before the page: one role for each page.
            role = list(self.roles)[len(pattern) % len(self.roles)]
            check(self.roles[role].get(f"/t/rival/{foreign}").status == 404, f"{role}: {pattern} below another tenant")
            check(self.other.get(f"/t/rival/{path}{query}").status in (200, 404), f"rival: {pattern} of acme")
            self.elsewhere("GET", f"/t/acme/{path}", [], pattern, nodes=pattern == "nodes")

    def elsewhere(self, method: str, path: str, fields: list, what: str, nodes: bool = False) -> None:
        """Below a tenant, for those without a role there."""
        for name, person in (("rival", self.other), ("platform", self.platform), ("signed out", self.nobody)):
            answer = person.get(path) if method == "GET" else person.post(path, fields)
            if person is self.nobody:
                check(answer.is_to_sign_in, f"signed out: {what}: {answer.status} {answer.location}")
            else:
                expected = 200 if nodes and person is self.platform else 404
                check(answer.status == expected, f"{name}: {what}: {answer.status}")

    def observe(self, page: str, form: str, role: str, answer: Answer) -> None:
        self.observed[(page, form, role)] = answer.status

    def streams(self) -> None:
        """Pages that update themselves."""
        for page in ("live", f"messages/{self.acme.objects['spare']['sent']}", "audit"):
            path = "/t/acme/live/stream?" + urllib.parse.urlencode({"page": page})
            for role in rights.MASKED:
                if page == "audit" and not rights.may(role, rights.PAGES["audit"]):
                    check(self.roles[role].get(path).status == 403, f"{role}: the stream of {page}")
                else:
                    self.roles[role].watch(path)
            self.elsewhere("GET", path, [], f"the stream of {page or 'overview'}")

    # Forms

    def fields(self, key: tuple[str, str], objects: dict[str, str], who: str, forms: list[Form]) -> tuple[list, dict | None]:
        """A form as a person fills it: of those with this name, the one that is about these objects."""
        typed = rights.values(*key, objects, who)
        place = "/" + rights.path(key[0], objects)

        def fits(form: Form) -> int:
            return 9 * (place in urllib.parse.unquote(form.action)) + sum([name, value] in form.fields for name, value in typed.items())

        form = max(forms, key=fits, default=None)
        if form is None:
            return list(typed.items()), None
        # Each sends it as something new.
        fields = [(name, value) for name, value in form.filled(typed) if name not in ("_once", "once", "draft")]
        return fields, {"file": rights.FILES.get(key, self.apns_key)} if form.is_multipart and key[1] == "upload" else None

    def refused(self) -> None:
        """Forms of those who may not send them, with the fields of an owner. They change nothing."""
        before = self.acme.state()
        every = rights.FORMS | {(page, "reveal"): roles for page, roles in rights.PAGES.items()}
        for key, roles in every.items():
            page, name = key
            mine = self.acme.objects["owner"]
            below = "/".join(part for part in (rights.path(page, mine), name) if part)
            fields, files = self.fields(key, mine, "owner", self.forms.get(key, []))
            for role, person in self.roles.items():
                if rights.may(role, roles):
                    continue
                answer = person.post(f"/t/acme/{below}", fields, files)
                self.observe(page, name, role, answer)
                if not rights.may_own(role, roles):
                    bare = person.post(f"/t/acme/{below}", [])
                    check(bare.status == 403, f"{role}: {below} without fields: {bare.status}")
            self.elsewhere("POST", f"/t/acme/{below}", fields, below)
            self.other.post(f"/t/rival/{below}", fields, files)
        after = self.acme.state()
        for path, value in before.items():
            check(after[path] == value, f"refused forms changed {path}: {difference(value, after[path])}")

    def permitted(self) -> None:
        """Forms of those who may send them, each with its own objects."""
        author = self.roles["author"]
        typed = rights.values("compose", "send", self.acme.objects["author"], "author")
        at = tomorrow()[:16]
        sent = author.post("/t/acme/compose/send", list((typed | {"when": "at", "at": at}).items()))
        check("/compose/sent/" in sent.location, f"an author sends: {sent.status} {sent.text[:300]}")
        own = self.acme.objects["author"] | {"message": sent.location.rsplit("/", 1)[-1]}
        for key, roles in rights.FORMS.items():
            page, name = key
            for role, person in self.roles.items():
                is_own = rights.may_own(role, roles)
                if not rights.may(role, roles) and not is_own:
                    continue
                mine = own if is_own else self.acme.objects.get(role, self.acme.objects["spare"])
                path = rights.path(page, mine)
                shown = person.get(f"/t/acme/{path}{rights.query(page, mine)}").page().forms
                forms = [form for form in shown if form.action.endswith("/" + name)]
                fields, files = self.fields(key, mine, role, forms or self.forms.get(key, []))
                answer = person.post(f"/t/acme/{path}/{name}", fields, files)
                if not is_own:
                    self.observe(page, name, role, answer)
                expected = (409, 422) if f"{page} {name} {role}" in rights.DECLINED else (200, 303)
                check(answer.status in expected, f"{role}: {page} {name}: {answer.status} {problems(answer)}")


def problems(answer: Answer) -> str:
    """The errors that a page shows next to the fields of its form."""
    found = re.findall(r'class="(?:error small|callout bad)"[^>]*>(.*?)</(?:p|div)>', answer.text)
    return " · ".join(re.sub("<[^>]+>", "", text) for text in found)[:300]
