"""The roles that may open each page and send each form of the console, written by hand from the table of docs/security.md. Compared with
the lists of the console itself.

o owner · p operator · a author · n analyst · u auditor. A: an author, for messages that the author has sent. Forms that remove something come last.
"""

import re

LETTERS = {"owner": "o", "operator": "p", "author": "a", "analyst": "n", "auditor": "u"}
MASKED = ("author", "analyst", "auditor")

PAGES = dict(
    line.split()
    for line in """
    overview opanu
    messages opanu
    messages/{message} opanu
    messages/{message}/deliveries opanu
    messages/{message}/deliveries/{target} opanu
    failures opanu
    failures/{reason} opanu
    campaigns opanu
    hours opanu
    versions opanu
    live opanu
    find opanu
    devices/{device} opanu
    devices/{device}/diagnosis opanu
    users opanu
    users/{user} opanu
    groups opanu
    groups/{group} opanu
    exports opanu
    help opanu
    compose opa
    compose/sent/{message} opa
    templates opa
    templates/{app}/{template} opa
    test-devices opa
    apps op
    apps/{app} op
    apps/{app}/parity op
    apps/{app}/routes op
    routes op
    migrations op
    migrations/{migration} op
    credentials op
    credentials/{credential} op
    senders op
    webhooks op
    webhooks/{webhook} op
    captures op
    captures/{capture} op
    nodes op
    keys o
    keys/{key} o
    accounts o
    approvals o
    audit ou
    posture ou
    """.strip().splitlines()
)

# Each page has a form `reveal` too, for the roles that may open the page.
FORMS = {
    (page, name): roles
    for page, name, roles in (
        line.split()
        for line in """
        find search opanu
        messages/{message} pause opA
        messages/{message} resume opA
        messages/{message} requeue opA
        compose review opa
        compose preview opa
        compose send opa
        compose test opa
        compose draft opa
        devices/{device}/diagnosis test opa
        templates new opa
        templates/{app}/{template} save opa
        templates/{app}/{template} duplicate opa
        groups create opa
        groups/{group} members opa
        groups/{group} upload opa
        test-devices add opa
        devices/{device} preferences op
        devices/{device} vouch op
        users/{user} preferences op
        users/{user} consent op
        apps/{app}/routes try op
        apps/{app}/routes overlay op
        apps/{app}/routes restore op
        migrations/{migration} start op
        migrations/{migration} pause op
        migrations/{migration} resume op
        migrations/{migration} advance op
        migrations/{migration} complete op
        migrations/{migration} rollback op
        migrations/{migration} rollback-full op
        credentials upload op
        credentials/{credential} upload op
        webhooks create op
        webhooks/{webhook} pause op
        webhooks/{webhook} resume op
        webhooks/{webhook} replay op
        webhooks/{webhook} secret op
        captures/{capture} stop op
        captures start op
        apps create op
        keys create o
        keys/{key} rotate o
        accounts invite o
        accounts role o
        approvals approve o
        approvals reject o
        compose/sent/{message} undo opA
        messages/{message} cancel opA
        templates remove opa
        test-devices remove opa
        groups/{group} delete opa
        devices/{device} erase op
        users/{user} erase op
        captures/{capture} delete op
        webhooks/{webhook} delete op
        credentials/{credential} delete op
        apps/{app} delete op
        keys/{key} delete o
        """.strip().splitlines()
    )
}

# The files of forms that upload something other than a key.
FILES = {("groups/{group}", "upload"): b"user,name\r\nzq-uploaded,x\r\n"}

# Forms outside of tenants. `+`: needs a session; without one it leads to the page of signing in.
OUTSIDE = {
    "sign-in": "", "invitation": "", "preferences": "", "sign-out": "", "code": "+", "prove": "+", "account/password": "+", "account/codes": "+",
    "account/codes/confirm": "+", "account/codes/remove": "+", "account/sessions/end": "+",
}  # fmt: skip

# Forms that the pages of this test's objects do not show, because of their state, and that they must not show.
UNSEEN = {("messages/{message}", "requeue"), ("migrations/{migration}", "complete"), ("devices/{device}", "vouch")}
# The same outside of tenants: those of accounts with one-time codes, and of forms with files whose password is too old.
UNSEEN_OUTSIDE = {"code", "prove", "account/codes/remove", "account/codes/confirm"}

# Forms that the API declines for the state of this test's objects, whoever sends them.
DECLINED = {
    "migrations/{migration} start operator", "migrations/{migration} advance owner", "migrations/{migration} advance operator",
    "migrations/{migration} complete owner", "migrations/{migration} complete operator",
}  # fmt: skip


def may(role: str, roles: str) -> bool:
    return LETTERS[role] in roles


def may_own(role: str, roles: str) -> bool:
    return role == "author" and "A" in roles


def path(pattern: str, objects: dict[str, str]) -> str:
    """The address of a page below its tenant, for the objects of somebody."""
    if pattern == "overview":
        return ""
    values = dict(objects)
    if pattern.startswith("apps/"):
        values["app"] = objects["web"]
    if "/deliveries" in pattern:
        values["message"] = objects["sent"]
    return re.sub(r"\{(\w+)\}", lambda field: values[field[1]], pattern)


def query(pattern: str, objects: dict[str, str]) -> str:
    return f"?app={objects['app']}" if pattern.split("/")[0] in ("users", "groups", "compose", "templates", "test-devices", "senders") else ""


def values(page: str, name: str, objects: dict[str, str], who: str) -> dict[str, str]:
    """The values that a person types into a form so that it does something."""
    confirmed = {"confirmed": "yes"}
    app = {"app": objects["app"]}
    text = {"title": f"zq title {who}", "body": f"zq body {who}"}
    message = app | text | {"audience": "group", "group": objects["group"], "when": "now", "count": "1"}
    typed = {
        "find search": {"value": objects["phone"]},
        "messages requeue": confirmed, "messages cancel": confirmed,
        "compose review": message, "compose preview": message, "compose send": message, "compose test": message, "compose draft": message,
        "devices test": {"title": "zq probe", "body": "zq probe"},
        "devices preferences": {"tags": f"zq-tag-{who}", "acceptsPush": ""},
        "devices vouch": {"identity": objects["identity"], "user": objects["user"]},
        "devices erase": confirmed,
        "users preferences": app | {"acceptsPush": "true"},
        "users consent": app | {"subject": f"zq-subject-{who}", "state": "subscribed"},
        "users erase": confirmed,
        "templates new": app | {"name": f"zq-template-{who}"},
        "templates save": text,
        "templates duplicate": {"name": f"zq-copy-{who}"},
        "templates remove": app | {"name": objects["template"]},
        "groups create": app | {"group": f"zq-group-{who}"},
        "groups members": app | {"add": "", "remove": objects["user"]},
        "groups upload": app | {"act": "add"},
        "groups delete": app | confirmed,
        "test-devices add": app | {"user": f"zq-user-{who}"},
        "test-devices remove": app | {"user": objects["user"]},
        "apps restore": confirmed | {"version": "1", "inForce": "2"},
        "apps create": {"app": f"zq-app-{who}", "topic": "com.example.shop"},
        "apps delete": confirmed,
        "migrations start": confirmed, "migrations advance": confirmed, "migrations complete": confirmed,
        "migrations rollback": confirmed, "migrations rollback-full": confirmed,
        # The list stores new ones only.
        "credentials upload": {"credential": objects["credential"] if "{" in page else f"zq-credential-{who}", "keyId": "DEMOKEY001", "teamId": "DEMOTEAM01", "passphrase": "", "topics": ""},
        "credentials delete": confirmed,
        "webhooks create": {"url": f"http://127.0.0.1:9/zq-{who}"},
        "webhooks replay": {"from": "0"},
        "webhooks delete": confirmed,
        "captures start": {"app": objects["web"], "vendor": "rationalowl", "minutes": "1", "exchanges": "1"},
        "captures delete": confirmed,
        "keys create": {"name": f"zq-key-{who}", "scope-read": "on"},
        "keys delete": confirmed,
        "accounts invite": {"name": f"zq-invited-{who}", "role": "analyst"},
        "accounts role": {"name": "changed", "role": "auditor"},
        "approvals approve": {"message": objects["awaiting"]}, "approvals reject": {"message": objects["awaiting"]},
    }  # fmt: skip
    return typed.get(f"{page.split('/')[0]} {name}", {})
