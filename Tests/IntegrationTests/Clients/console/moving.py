"""Moving an app away from a vendor: rollouts of its rules, and the gates of its migration. In Korean on a phone without scripts, by the keyboard alone."""

import json

from playwright.sync_api import Page

import flows
import gateway
import objects
from accessibility import look
from browser import Browser, check, sentence
from hands import press, select, submit, write

# Of the salt `spring` user-1 has the bucket 27.5 % (docs/routing.md): outside of a tenth of the users, and inside of a half.
USER = "user-1"

WORDS = {
    "en": {"saved": "The overlay is saved.", "restored": "The rules were restored.", "question": "apply as a new version",
           "few": f"{objects.MIGRATION}: too few samples to advance.",
           "missing": f"{objects.NEEDED} samples missing", "advice": "Each send is a sample."},
    "ko": {"saved": "저장했습니다.", "restored": "되돌렸습니다.", "question": "새 버전으로 적용합니다.",
           "few": f"{objects.MIGRATION}: 표본이 부족해 다음 단계로 넘어갈 수 없습니다.", "missing": f"표본 {objects.NEEDED}개 부족", "advice": "발신하면 표본이 늘어납니다."},
}  # fmt: skip


def rules() -> dict:
    return gateway.need("GET", f"/v1/apps/{objects.ROLLED}/routes", key=gateway.ADMIN)


def percent() -> int:
    return rules()["rules"]["deliveries"][0]["rollout"]["percent"]


def side() -> list[str]:
    """The paths that the rules in force give to the user."""
    question = {"vendor": "upmc", "kind": "send", "users": [USER]}
    return gateway.need("POST", f"/v1/apps/{objects.ROLLED}/routes/test", question, key=gateway.ADMIN)["deliveries"][0]["paths"]


def notice(page: Page) -> str:
    return page.locator(".callout.notice").first.inner_text()


def roll(page: Page, browser: Browser, language: str) -> None:
    """The rollout is tried, raised, compared and rolled back."""
    words = WORDS[language]
    path = f"apps/{objects.ROLLED}/routes"
    status, present = gateway.call("GET", f"/v1/{path}", key=gateway.ADMIN)
    tag = f'"{present["version"] or 0}"' if status == 200 else '"0"'
    gateway.need("PUT", f"/v1/{path}", objects.overlay(10), key=gateway.ADMIN, match=tag)
    before = rules()["version"]
    gateway.until(lambda: side() == [objects.UPSTREAM], "a tenth of the users does not include the user")
    page.goto(flows.tenant(browser, path))
    editor = page.locator(f'form[action$="/{path}/overlay"]')
    write(page, editor.locator("textarea[name=overlay]"), json.dumps(objects.overlay(50)))
    select(page, editor.locator("select[name=tryVendor]"), "upmc")
    write(page, editor.locator("input[name=tryUser]"), USER)
    press(page, editor.locator("button[data-second], button[formaction]").first)
    row = page.locator("tr", has_text=USER).first.inner_text()
    check("APNs" in row and objects.UPSTREAM not in row, f"a trial shows the side of the user ({language}): {row}")
    check(percent() == 10, f"a trial changes nothing ({language})")
    typed = json.loads(editor.locator("textarea[name=overlay]").input_value())
    check(typed == objects.overlay(50), f"a trial keeps what is typed ({language}): {typed}")
    submit(page, f"{path}/overlay")
    check(notice(page).startswith(words["saved"]), f"the page reports the change ({language}): {notice(page)}")
    check(percent() == 50, f"half of the users are in the rollout ({language}): {percent()}")
    gateway.until(lambda: side() == ["apns"], f"half of the users include the user ({language})")
    check(f" {rules()['version']}" in sentence(page), f"the sentence names the version in force ({language}): {sentence(page)}")
    back(page, language, path, before)


def back(page: Page, language: str, path: str, version: int) -> None:
    """The earlier version is compared with the one in force, and restored."""
    words = WORDS[language]
    restore = page.locator(f'form[action$="/{path}/restore"]', has=page.locator(f'input[name=version][value="{version}"]'))
    press(page, restore.locator("button"))
    text = page.locator("main").inner_text()
    check(words["question"] in text and percent() == 50, f"the page asks before it rolls back ({language})")
    changed = page.locator(".difference, .diff, ins, del").all_inner_texts()
    check("10" in " ".join(changed) and "50" in " ".join(changed), f"the difference shows both shares ({language}): {changed}")
    press(page, page.locator(f'form[action$="/{path}/restore"]', has=page.locator("input[name=confirmed]")).locator("button"))
    check(notice(page).startswith(words["restored"]), f"the page reports the rollback ({language}): {notice(page)}")
    check(percent() == 10, f"the rollback is in force ({language}): {percent()}")
    gateway.until(lambda: side() == [objects.UPSTREAM], f"the user is at the vendor again ({language})")
    check(rules()["version"] == version + 2, f"a rollback is a new version ({language}): {rules()['version']}")


def routes(browser: Browser) -> dict:
    objects.upstream(objects.ROLLED)
    for view in flows.VIEWS:
        language = view["language"]
        with browser.person(**view) as page:
            flows.sign_in(page, browser, "owner")
            roll(page, browser, language)
            look(browser, page, f"routes-{language}")
    return {}


def gates(page: Page, browser: Browser, language: str) -> None:
    """The page explains what is missing; advancing is refused and changes nothing."""
    words = WORDS[language]
    path = f"migrations/{objects.MIGRATION}"
    page.goto(flows.tenant(browser, path))
    check(words["few"] in sentence(page), f"the sentence says what holds the step ({language}): {sentence(page)}")
    notes = page.locator("main .callout").all_inner_texts()
    missing = [note for note in notes if words["missing"] in note]
    check(len(missing) == 3, f"each gate says how many samples are missing ({language}): {notes}")
    check(any(words["advice"] in note for note in missing), f"and what makes more of them ({language}): {missing}")
    rows = page.locator("tr[data-row]", has_text=words["missing"]).all_inner_texts()
    check(all(f"0 / {objects.NEEDED}" in row for row in rows) and len(rows) == 3, f"the table counts the samples ({language}): {rows}")
    submit(page, f"{path}/advance")
    press(page, page.locator(f'form[action$="/{path}/advance"]', has=page.locator("input[name=confirmed]")).locator("button"))
    refusal = page.locator("main .callout").first.inner_text()
    check(page.locator("main .callout .mark.bad").count() == 1, f"the page says why it does not advance ({language}): {refusal}")
    found = gateway.need("GET", f"/v1/{path}", key=gateway.ADMIN)
    check((found["step"], found["status"]) == (0, "running"), f"the step stays ({language}): {found['step']} {found['status']}")


def migration(browser: Browser) -> dict:
    objects.migration()
    for view in flows.VIEWS:
        language = view["language"]
        with browser.person(**view) as page:
            flows.sign_in(page, browser, "owner")
            gates(page, browser, language)
            look(browser, page, f"migration-{language}")
    return {}
