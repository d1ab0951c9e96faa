"""The checks of each page: axe finds nothing, nothing scrolls sideways or is cut off, the keyboard reaches everything, and a Korean page has no English."""

import os
import re

from playwright.sync_api import Page

import accessibility
from browser import Browser, check

WIDTHS = (1440, 390, 320)
AXE_WIDTHS = (1440, 390)
# 200 % zoom of 1,440 pixels.
ZOOMED = 720
THEMES = ("light", "dark")
# The view of each page that is kept as a picture.
PICTURES = {"en": ("light", 1440), "ko": ("dark", 390)}

# Proper names, abbreviations, units and formats. Everything else on a Korean page is Korean, or the name of an object of the test.
NAMES = set(
    """
    APNs APN Apple iOS iPhone iPad Android FCM HTTP HTTPS HTTP2 URL URI JSON CSV YAML PEM SDK API REST ID IDs UTC KST IANA SHA ETag TLS SSL CIDR IP DNS OK
    RationalOwl iPNS UPMC Braze Notification Hubs Azure PG p8 p12 key Key Team Topic ms KB MB GB KiB MiB GiB bytes
    Live Activities Certificates Identifiers Profiles Keys UMS Unregistered BadDeviceToken ServiceUnavailable
    Admin Push Notifications service Sandbox Production Register Membership details Mac CSR cer
    Chrome Chromium Linux Windows macOS Firefox Safari PNG JPEG GIF Esc Enter Tab Ctrl Cmd Seoul Asia Tokyo KO EN English
    """.split()
)

# Words of the API, of the settings file and of HTTP, which people enter or compare as they are.
WORDS = set(
    """
    approvalAbove platforms cursor send devices admin proxy apply env push-gateway installApp dev prod tenant app user key
    minAssurance claimed vouched Authorization Bearer senderNetworks groupsByUser transactional root POST GET PUT DELETE duplicateGuard push gateway capture migration webhook
    offset true false authkey CUID PSID
    """.split()
)

# Texts in which words of the API, of Apple's site and of the test's own messages are names. Anywhere else the same words are English.
PHRASES = re.compile(
    r"""
    \((?:read|content)\)                              # scopes of keys, after their Korean names
    | (?:admin,\ )?send,\ devices,\ read,\ content     # the rights of a key, as a finding names them
    | duplicateGuard,\ calls,\ deliveries | sent,\ failed | app\ shop,\ user\ u-1 | early\ birds   # what to type, next to fields
    | \b[a-z]+:[\w.•-]+                                # `account:owner`
    | :(?:method|scheme|authority|path)\b              # headers of HTTP/2
    | push-gateway\ devices\ import\ --compare         # a command
    | Account\ Holder
    | (?:Sent|Undone)\ with(?:out)?\ scripts | Once\ \d+ | (?:First|Second)\ version | Dear\b
    """,
    re.VERBOSE,
)

# Words that would hide a missing translation, because the English pages have them.
COMMON = set(
    "sent failed received deliveries calls device message read content account native first second version old with without once scripts".split()
)

OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"

# Elements whose text is cut off, sideways or below, without a way to see all of it. Links and long texts of cells that are cut must show everything while they
# have the focus of the keyboard: it is given to them, and taken again.
CUT = """() => {
  const isCut = (element) => {
    const style = getComputedStyle(element);
    const hides = (overflow) => ["hidden", "clip"].includes(overflow);
    if (style.visibility === "hidden" || element.clientWidth <= 1) return false;
    return (hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1)
      || (hides(style.overflowY) && element.scrollHeight > element.clientHeight + 1);
  };
  const found = [];
  for (const element of document.querySelectorAll("main *")) {
    if (element.closest(".hidden, svg, pre, select, textarea, input, details:not([open]) > :not(summary)") || !isCut(element)) continue;
    const stop = element.closest('td .cell a[href], [tabindex="0"]');
    stop?.focus({ preventScroll: true, focusVisible: true });
    if (!stop || isCut(element)) found.push(element.textContent.trim().slice(0, 80));
    stop?.blur();
  }
  return found;
}"""

# Puts an element that is cut off at the end of the page, or removes it. Returns whether it is cut off before it has the focus.
PLANT = """kind => {
  document.getElementById("planted")?.remove();
  if (!kind) return false;
  const make = (name, parent) => parent.appendChild(document.createElement(name));
  const box = make("div", document.querySelector("main"));
  box.id = "planted";
  let element;
  if (kind === "link") {
    const cell = make("div", make("td", make("tr", make("tbody", make("table", box)))));
    cell.className = "cell";
    element = make("a", cell);
    element.href = "#main";
  } else {
    element = make("span", box);
  }
  element.textContent = "planted ".repeat(100);
  if (kind === "clip") element.className = "clip";
  if (kind === "clip" || kind === "stop") element.tabIndex = 0;
  if (kind === "button") {
    element.textContent = "planted";
    element.setAttribute("role", "button");
    element.tabIndex = -1;
    return true;
  }
  if (!["link", "clip"].includes(kind)) Object.assign(element.style, { display: "block", width: "80px", overflow: "hidden" });
  if (kind === "low") element.style.height = "20px";
  else if (element.style.width) element.style.whiteSpace = "nowrap";
  return element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1;
}"""

# Lowers the contrast of the heading in the light theme. The content security policy does not block styles that a script sets by their properties. The heading has no
# background of its own: its letters are higher than its box, so that axe could not determine what is behind them.
FADE = """isFaded => { document.querySelector("h1").style.color = isFaded ? "#e9e9ec" : ""; }"""

# Notes what has had the focus, and where nothing shows that it has it. The box of the search shows the focus of its field.
WALK = """() => {
  window.reached = new Set();
  window.unmarked = new Set();
  document.addEventListener("focusin", ({ target }) => {
    reached.add(target);
    const shows = (element) => { const style = getComputedStyle(element); return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1; };
    if (target.id !== "main" && !shows(target) && !(target.parentElement && shows(target.parentElement))) unmarked.add(target);
  });
}"""

# The elements that a person can use on the page as it is, and that the keyboard has not reached. Of radio buttons it reaches one, and the arrows the others. A closed menu is
# reached by its summary; what is in it must not be taken out of the order of the keyboard either.
UNREACHED = """() => {
  const usable = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex], [role=button], [role=link], [onclick]";
  const name = (element) => `${element.localName} ${(element.getAttribute("name") || element.getAttribute("href") || element.textContent).trim().slice(0, 60)}`;
  const groups = new Set([...reached].filter((element) => element.type === "radio").map((element) => element.form + element.name));
  const found = [];
  for (const element of document.querySelectorAll(usable)) {
    if (element.id === "main" || element.disabled || element.closest("dialog:not([open])")) continue;
    if (element.tabIndex < 0) found.push(name(element));
    else if (!reached.has(element) && element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0
      && !(element.type === "radio" && groups.has(element.form + element.name))) found.push(name(element));
  }
  return found;
}"""
# Presses of Tab between two evaluations, and the limit on one page. A date field takes several.
PRESSES, MOST_PRESSES = 20, 800

# Visible texts outside of what is written for machines, or is content of the test.
TEXTS = """() => {
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.nodeValue.trim() || parent.closest("pre, code, kbd, .mono, script, style, textarea, [lang=en]")) continue;
    if (parent.checkVisibility && !parent.checkVisibility()) continue;
    texts.push(node.nodeValue.trim());
  }
  for (const element of document.querySelectorAll("[aria-label], [placeholder], [title], [alt]")) {
    for (const name of ["aria-label", "placeholder", "title", "alt"]) if (element.hasAttribute(name)) texts.push(element.getAttribute(name));
  }
  texts.push(document.title);
  return texts;
}"""

WORD = re.compile(r"[A-Za-z][A-Za-z]+")


class Checks:
    """`own`: words of the test's own objects, which appear on pages in any language."""

    def __init__(self, browser: Browser, own: set[str]) -> None:
        self.browser = browser
        self.names = {word.lower() for word in NAMES | WORDS} | {word.lower() for word in own}
        self.axe_runs = 0
        self.is_complete = os.environ.get("CONSOLE_CHECKS") == "all"

    def page(self, page: Page, name: str, language: str) -> None:
        """The checks of the page as it is, in all widths and both themes. The page and axe are loaded once for all of them. Themes differ in colours alone
        (`StyleTests`), so that nothing is cut off in one of them only.

        `CONSOLE_CHECKS=all`: axe checks 320 pixels too, which have the layout of 390, and there is a picture of each view."""
        found: dict[tuple[str, str], list[str]] = {}
        walked = 1440 if language == "en" else 390
        page.set_viewport_size({"width": walked, "height": 900})
        self.reached(page, f"{name} ({language}, {walked})")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            self.overflow(page, f"{name} ({language}, {width})")
            for theme in THEMES:
                # Nothing is measured while a colour changes into another.
                page.emulate_media(color_scheme=theme, reduced_motion="reduce")
                if width in AXE_WIDTHS or self.is_complete:
                    self.axe_runs += 1
                    for rule, what in accessibility.violations(page).items():
                        found.setdefault((rule, what), []).append(f"{theme} {width}")
                if self.is_complete or PICTURES[language] == (theme, width):
                    self.browser.shot(page, f"{name}-{language}-{theme}-{width}")
        for (rule, what), places in found.items():
            check(False, f"axe: {name} ({language}): {rule}: {what} in {', '.join(places)}")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": ZOOMED, "height": 450})
        self.overflow(page, f"{name} ({language}, 200 % zoom)")
        page.set_viewport_size({"width": 1440, "height": 900})
        self.language(page, name, language)

    def reached(self, page: Page, where: str) -> None:
        """The keyboard reaches everything that can be used, and each stop shows that it has the focus. Walks from where the page has the focus at first."""
        page.evaluate(WALK)
        missing = []
        for _ in range(MOST_PRESSES // PRESSES):
            for _ in range(PRESSES):
                page.keyboard.press("Tab")
            missing = page.evaluate(UNREACHED)
            if not missing:
                break
        check(not missing, f"{where}: the keyboard does not reach {missing[:5]}")
        unmarked = page.evaluate("() => [...unmarked].map(element => element.outerHTML.slice(0, 120))")
        check(not unmarked, f"{where}: nothing shows the focus of {unmarked[:3]}")
        # Scrolled down, the page would be measured at another place.
        page.evaluate("() => { document.activeElement?.blur(); scrollTo(0, 0); }")

    def overflow(self, page: Page, where: str) -> None:
        extra = page.evaluate(OVERFLOW)
        check(extra <= 0, f"{where} scrolls sideways by {extra} px")
        cut = page.evaluate(CUT)
        check(not cut, f"{where} cuts off {cut[:3]}")

    def control(self, page: Page) -> None:
        """Elements that are cut off are found, also inside of `main` with its `tabindex`; those that show everything with the focus are not."""
        for kind, is_fault in (("wide", True), ("low", True), ("stop", True), ("link", False), ("clip", False)):
            check(page.evaluate(PLANT, kind), f"control: the planted element ({kind}) is not cut off")
            found = [text for text in page.evaluate(CUT) if text.startswith("planted")]
            check(bool(found) == is_fault, f"control: an element that is cut off ({kind}): {found}")
        page.evaluate(PLANT, "button")
        check(any("planted" in name for name in page.evaluate(UNREACHED)), "control: a button that the keyboard does not reach is found")
        page.evaluate(PLANT, "")
        for is_faded in (True, False):
            page.evaluate(FADE, is_faded)
            found = accessibility.violations(page)
            check(("color-contrast" in found) == is_faded, f"control: axe and a heading that is hardly seen ({is_faded}): {found}")

    def language(self, page: Page, name: str, language: str) -> None:
        check(page.evaluate("() => document.documentElement.lang") == language, f"{name}: lang is not {language}")
        if language != "ko":
            return
        foreign: dict[str, str] = {}
        for text in page.evaluate(TEXTS):
            # Identifiers, addresses and times are no words.
            plain = re.sub(r"\S*[/@_=#{}\d]\S*|\S+\.\S+|\S+-\S+", " ", PHRASES.sub(" ", text))
            for word in WORD.findall(plain):
                if word.lower() not in self.names:
                    foreign.setdefault(word, text[:80])
        for word in COMMON & self.names:
            check(False, f"{word} is English, and must not be allowed as a name")
        check(not foreign, f"{name}: English on a Korean page: {dict(list(foreign.items())[:8])}")
