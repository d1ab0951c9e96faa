"""Uploads of keys and certificates: a correct one, and wrong ones, each with its message."""

import dataclasses
import pathlib
import subprocess
import tempfile

from playwright.sync_api import Page

import flows
import gateway
from browser import DESKTOP, PHONE, Browser, check, submit

TEAM = "TEAM123456"
KEY_ID = "KEY1234567"


@dataclasses.dataclass
class Wrong:
    """A file with the typed IDs, the field that is wrong, and the beginning of its message."""

    name: str
    file: str
    field: str
    en: str
    ko: str
    key: str = KEY_ID
    team: str = TEAM


WRONG = [
    Wrong("public", "public.pem", "file", "This is a public key.", "공개 키입니다."),
    Wrong("bare", "certificate.pem", "file", "This is a certificate without its private key", "개인 키가 없는 인증서(.cer)입니다."),
    Wrong("request", "request.pem", "file", "This is a certificate signing request.", "인증서 서명 요청(CSR)입니다."),
    Wrong("other-curve", "p384.p8", "file", "The private key is not a P-256 key in PEM (.p8).", "개인 키가 PEM 형식의 P-256 키(.p8)가 아닙니다."),
    Wrong("other-key", "AuthKey_ABCDE12345.p8", "keyId", "By its name the file is the key ABCDE12345.", "파일 이름에 따르면 키 ID는 ABCDE12345입니다."),
    Wrong("short-team", "key.p8", "teamId", "Apple's IDs are ten capital letters and digits.", "Apple의 ID는 영문 대문자와 숫자 10자리입니다.", team="TEAM"),
    Wrong("text", "notes.p8", "file", "The file is neither an APNs key nor a certificate.", "APNs 키나 인증서로 읽을 수 없는 파일입니다."),
    Wrong("expired", "expired.pem", "file", "The certificate has expired.", "인증서가 만료되었습니다."),
]  # fmt: skip


def openssl(folder: pathlib.Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder, timeout=60)


def make(folder: pathlib.Path) -> None:
    """The files of a person who confuses them. Keys are new in each run."""
    for name, curve in (("key.p8", "P-256"), ("AuthKey_ABCDE12345.p8", "P-256"), (f"AuthKey_{KEY_ID}.p8", "P-256"), ("p384.p8", "P-384")):
        openssl(folder, "genpkey", "-algorithm", "EC", "-pkeyopt", f"ec_paramgen_curve:{curve}", "-out", name)
    openssl(folder, "pkey", "-in", "key.p8", "-pubout", "-out", "public.pem")
    subject = ("-subj", "/CN=Apple Push Services: com.example.shop/UID=com.example.shop")
    openssl(folder, "req", "-new", "-key", "key.p8", *subject, "-out", "request.pem")
    openssl(folder, "req", "-new", "-x509", "-key", "key.p8", *subject, "-days", "30", "-out", "certificate.pem")
    openssl(folder, "x509", "-req", "-in", "request.pem", "-signkey", "key.p8", "-days", "-1", "-out", "old.pem")
    (folder / "expired.pem").write_text((folder / "old.pem").read_text() + (folder / "key.p8").read_text())
    (folder / "notes.p8").write_text("The key is in the vault.\n")


def upload(page: Page, browser: Browser, name: str, file: pathlib.Path, key: str, team: str) -> None:
    page.goto(flows.tenant(browser, "credentials"))
    form = page.locator('form[action$="/credentials/upload"]')
    form.locator("input[name=credential]").fill(name)
    form.locator("input[name=file]").set_input_files(file)
    form.locator("input[name=keyId]").fill(key)
    form.locator("input[name=teamId]").fill(team)
    submit(page, "credentials/upload")


def stored() -> set[str]:
    return {credential["credential"] for credential in gateway.need("GET", "/v1/credentials?limit=1000", key=gateway.ADMIN)["credentials"]}


def refuse(page: Page, browser: Browser, folder: pathlib.Path, language: str, where: str) -> None:
    """Each wrong file has its message next to its field, and nothing is stored for it."""
    before = stored()
    for wrong in WRONG:
        upload(page, browser, f"wrong-{wrong.name}", folder / wrong.file, wrong.key, wrong.team)
        expected = wrong.ko if language == "ko" else wrong.en
        field = page.locator('form[action$="/credentials/upload"] .field', has=page.locator(f"[name={wrong.field}]"))
        found = field.locator(".error").all_inner_texts()
        check(any(text.startswith(expected) for text in found), f"{wrong.name} ({where}): {found} is not {expected}")
        others = page.locator("main .error").count() - len(found)
        check(others == 0, f"{wrong.name} ({where}): other fields have errors too")
        kept = page.locator('form[action$="/credentials/upload"] input[name=credential]').input_value()
        check(kept == f"wrong-{wrong.name}", f"{wrong.name} ({where}): the typed name is kept: {kept}")
    browser.shot(page, f"credentials-{language}")
    check(stored() == before, f"{where}: a wrong credential is stored: {stored() - before}")


def accept(page: Page, browser: Browser, folder: pathlib.Path, language: str, where: str) -> None:
    """A correct key is stored, its page shows the checks, and its secret is nowhere. The key ID comes from the name of the file."""
    name = f"right-{language}"
    upload(page, browser, name, folder / f"AuthKey_{KEY_ID}.p8", "", TEAM)
    check(page.url.split("?")[0].endswith(f"/credentials/{name}"), f"{where}: a correct key leads to its page: {page.url}")
    text = page.locator("main").inner_text()
    check(KEY_ID in text and TEAM in text, f"{where}: the page shows the IDs of the key")
    secret = (folder / f"AuthKey_{KEY_ID}.p8").read_text().splitlines()[1]
    check(secret not in page.content(), f"{where}: the page shows the secret")
    found = gateway.need("GET", f"/v1/credentials/{name}", key=gateway.ADMIN)
    check((found["keyId"], found["teamId"], found["kind"]) == (KEY_ID, TEAM, "apns-token"), f"{where}: the stored key is {found}")


def run(browser: Browser) -> dict:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(folder)
        # The second person has a phone without scripts.
        for language, size, scripts in (("en", DESKTOP, True), ("ko", PHONE, False)):
            where = f"{language}, {size['width']}"
            with browser.person(language, size=size, scripts=scripts) as page:
                flows.sign_in(page, browser, "owner")
                refuse(page, browser, folder, language, where)
                accept(page, browser, folder, language, where)
    return {"wrong": len(WRONG)}
