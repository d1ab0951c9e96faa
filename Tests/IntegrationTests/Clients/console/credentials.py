"""Uploads of keys and certificates: a correct one, and wrong ones, each with its message."""

import dataclasses
import pathlib
import subprocess
import tempfile

from playwright.sync_api import Page

import flows
import gateway
from accessibility import look
from browser import Browser, check
from hands import attach, submit, write

TEAM = "TEAM123456"
KEY_ID = "KEY1234567"
PASSPHRASE = "of the file"


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
    # None: a new credential. Otherwise the file replaces this one, of which an app has uses.
    replaces: str | None = None


WRONG = [
    Wrong("public", "public.pem", "file", "This is a public key.", "공개 키입니다."),
    Wrong("bare", "certificate.pem", "file", "This is a certificate without its private key", "개인 키가 없는 인증서(.cer)입니다."),
    Wrong("request", "request.pem", "file", "This is a certificate signing request.", "인증서 서명 요청(CSR)입니다."),
    Wrong("other-curve", "p384.p8", "file", "The private key is not a P-256 key in PEM (.p8).", "개인 키가 PEM 형식의 P-256 키(.p8)가 아닙니다."),
    Wrong("other-key", "AuthKey_ABCDE12345.p8", "keyId", "By its name the file is the key ABCDE12345.", "파일 이름에 따르면 키 ID는 ABCDE12345입니다."),
    Wrong("short-team", "key.p8", "teamId", "Apple's IDs are ten capital letters and digits.", "Apple의 ID는 영문 대문자와 숫자 10자리입니다.", team="TEAM"),
    Wrong("text", "notes.p8", "file", "The file is neither an APNs key nor a certificate.", "APNs 키나 인증서로 읽을 수 없는 파일입니다."),
    Wrong("expired", "expired.pem", "file", "The certificate has expired.", "인증서가 만료되었습니다."),
    Wrong("other-topic", "other-topic.pem", "topics", "The credential does not serve the topic com.example.shop.",
          "com.example.shop 토픽에는 발신할 수 없습니다.", replaces="used"),
    Wrong("sandbox", "sandbox.pem", "file", "The certificate is not for production.", "운영용 인증서가 아닙니다.", replaces="used"),
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
    # Apple's extension of certificates for development: without the other one, the certificate is for nothing else.
    sandbox = ("-addext", "1.2.840.113635.100.6.3.1=ASN1:NULL")
    topic = ("-subj", "/CN=Apple Push Services: com.example.other/UID=com.example.other")
    for name, options in (("sandbox", (*subject, *sandbox)), ("other-topic", topic), ("good", subject)):
        openssl(folder, "req", "-new", "-x509", "-key", "key.p8", *options, "-days", "90", "-out", "made.pem")
        (folder / f"{name}.pem").write_text((folder / "made.pem").read_text() + (folder / "key.p8").read_text())
    openssl(folder, "pkcs12", "-export", "-in", "good.pem", "-passout", f"pass:{PASSPHRASE}", "-out", "good.p12")
    (folder / "notes.p8").write_text("The key is in the vault.\n")


def upload(page: Page, browser: Browser, place: str, name: str | None, file: pathlib.Path, key: str, team: str, passphrase: str = "") -> None:
    """`place`: the page; `name`: of a new credential."""
    page.goto(flows.tenant(browser, place))
    form = page.locator(f'form[action$="/{place}/upload"]')
    if name is not None:
        write(page, form.locator("input[name=credential]"), name)
    attach(page, form.locator("input[name=file]"), file)
    write(page, form.locator("input[name=keyId]"), key)
    write(page, form.locator("input[name=teamId]"), team)
    if passphrase:
        write(page, form.locator("input[name=passphrase]"), passphrase)
    submit(page, f"{place}/upload")


def plant(folder: pathlib.Path) -> None:
    """A credential that an app uses, for production."""
    key = {"kind": "apns-token", "keyId": KEY_ID, "teamId": TEAM, "privateKey": (folder / "key.p8").read_text()}
    gateway.need("PUT", "/v1/credentials/used", key, key=gateway.ADMIN)
    gateway.need("PUT", "/v1/apps/using", {"platforms": {"ios": {"topic": "com.example.shop", "production": "used"}}}, key=gateway.ADMIN)


def stored() -> set[tuple[str, str]]:
    """The credentials with their kinds."""
    found = gateway.need("GET", "/v1/credentials?limit=1000", key=gateway.ADMIN)["credentials"]
    return {(credential["credential"], credential["kind"]) for credential in found}


def refuse(page: Page, browser: Browser, folder: pathlib.Path, language: str, where: str) -> None:
    """Each wrong file has its message next to its field, and nothing is stored for it."""
    before = stored()
    for wrong in WRONG:
        place = f"credentials/{wrong.replaces}" if wrong.replaces else "credentials"
        name = None if wrong.replaces else f"wrong-{wrong.name}"
        upload(page, browser, place, name, folder / wrong.file, wrong.key, wrong.team)
        expected = wrong.ko if language == "ko" else wrong.en
        form = page.locator(f'form[action$="/{place}/upload"]')
        field = form.locator(".field", has=page.locator(f"[name={wrong.field}]"))
        found = field.locator(".error").all_inner_texts()
        check(any(text.startswith(expected) for text in found), f"{wrong.name} ({where}): {found} is not {expected}")
        others = page.locator("main .error").count() - len(found)
        check(others == 0, f"{wrong.name} ({where}): other fields have errors too")
        kept = form.locator("input[name=keyId]").input_value()
        check(kept == wrong.key, f"{wrong.name} ({where}): the typed key ID is kept: {kept}")
        if name is not None:
            kept = form.locator("input[name=credential]").input_value()
            check(kept == name, f"{wrong.name} ({where}): the typed name is kept: {kept}")
    look(browser, page, f"credentials-{language}")
    check(stored() == before, f"{where}: a wrong credential is stored: {stored() - before}")


def accept(page: Page, browser: Browser, folder: pathlib.Path, language: str, where: str) -> None:
    """A correct key is stored, its page shows the checks, and its secret is nowhere. The key ID comes from the name of the file."""
    name = f"right-{language}"
    upload(page, browser, "credentials", name, folder / f"AuthKey_{KEY_ID}.p8", "", TEAM)
    check(page.url.split("?")[0].endswith(f"/credentials/{name}"), f"{where}: a correct key leads to its page: {page.url}")
    text = page.locator("main").inner_text()
    check(KEY_ID in text and TEAM in text, f"{where}: the page shows the IDs of the key")
    secret = (folder / f"AuthKey_{KEY_ID}.p8").read_text().splitlines()[1]
    check(secret not in page.content(), f"{where}: the page shows the secret")
    found = gateway.need("GET", f"/v1/credentials/{name}", key=gateway.ADMIN)
    check((found["keyId"], found["teamId"], found["kind"]) == (KEY_ID, TEAM, "apns-token"), f"{where}: the stored key is {found}")


def accept_certificate(page: Page, browser: Browser, folder: pathlib.Path, language: str, where: str) -> None:
    """A correct .p12 is stored with its passphrase."""
    name = f"certificate-{language}"
    upload(page, browser, "credentials", name, folder / "good.p12", "", "", PASSPHRASE)
    check(page.url.split("?")[0].endswith(f"/credentials/{name}"), f"{where}: a correct certificate leads to its page: {page.url}")
    found = gateway.need("GET", f"/v1/credentials/{name}", key=gateway.ADMIN)
    check((found["kind"], found["usable"], found["topics"]) == ("apns-certificate", True, ["com.example.shop"]), f"{where}: the stored certificate is {found}")


def run(browser: Browser) -> dict:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(folder)
        plant(folder)
        for view in flows.VIEWS:
            language = view["language"]
            where = f"{language}, {view['size']['width']}"
            with browser.person(**view) as page:
                flows.sign_in(page, browser, "owner")
                refuse(page, browser, folder, language, where)
                accept(page, browser, folder, language, where)
                accept_certificate(page, browser, folder, language, where)
    fields = sorted({wrong.field for wrong in WRONG})
    check(fields == ["file", "keyId", "teamId", "topics"], f"wrong credentials are of {fields}")
    return {"wrong": len(WRONG)}
