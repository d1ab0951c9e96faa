"""Reads the console's HTML: its forms, and whether anything in it was not written by the console."""

import html.parser
import re

# The elements of the console's templates, written by hand.
ELEMENTS = set(
    """
    html head meta title link script body nav div span a svg use symbol path rect circle line polyline polygon ellipse text tspan g title desc defs
    header main footer section article aside form input button label select option optgroup textarea fieldset legend details summary table caption
    thead tbody tfoot tr th td h1 h2 h3 h4 p ul ol li dl dt dd figure figcaption time kbd code pre strong b em i small mark del ins output progress
    meter img dialog template datalist hr br wbr
    """.split()
)
# Attributes that make a browser load or run something.
ADDRESSES = {"href", "src", "action", "formaction", "poster", "data", "srcset", "xlink:href", "background", "manifest", "ping"}
# Sites to which the console's own texts lead.
OUTSIDE = ("https://developer.apple.com/", "https://icloud.developer.apple.com/")


class Form:
    """A form of a page as a browser would send it without a change."""

    def __init__(self, action: str, is_multipart: bool) -> None:
        self.action = action
        self.is_multipart = is_multipart
        self.fields: list[list[str]] = []
        self.kinds: dict[str, str] = {}

    def filled(self, values: dict[str, str]) -> list[tuple[str, str]]:
        """The fields with these values in place of theirs."""
        kept = [(name, value) for name, value in self.fields if name not in values]
        return kept + list(values.items())


class Page(html.parser.HTMLParser):
    """The forms and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: list[Form] = []
        self.links: list[str] = []
        self._form: Form | None = None
        self._seconds: list[str] = []
        self._select: list[str] | None = None
        self._area: list[str] | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        values = {name: value or "" for name, value in attrs}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag == "form" and values.get("method", "get").lower() == "post":
            self._form = Form(values["action"], values.get("enctype") == "multipart/form-data")
            self.forms.append(self._form)
            self._seconds = []
        if self._form is None:
            return
        name = values.get("name")
        if values.get("formaction"):
            self._seconds.append(values["formaction"])
        if tag == "input" and name:
            kind = values.get("type", "text")
            self._form.kinds.setdefault(name, kind)
            if kind == "file" or kind in ("radio", "checkbox") and "checked" not in values:
                return
            self._form.fields.append([name, values.get("value", "")])
        elif tag == "button" and name:
            self._form.fields.append([name, values.get("value", "")])
        elif tag == "textarea" and name:
            self._form.kinds[name] = "textarea"
            self._area = [name, ""]
            self._form.fields.append(self._area)
        elif tag == "select" and name:
            self._form.kinds[name] = "select"
            self._select = [name, ""]
            self._form.fields.append(self._select)
        elif tag == "option" and self._select is not None and ("selected" in values or not self._select[1]):
            self._select[1] = values.get("value", "")

    def handle_endtag(self, tag):
        if tag == "form" and self._form is not None:
            # A second button sends the same fields to another address.
            for action in self._seconds:
                second = Form(action, self._form.is_multipart)
                second.fields, second.kinds = self._form.fields, self._form.kinds
                self.forms.append(second)
            self._form = None
        elif tag == "textarea":
            self._area = None
        elif tag == "select":
            self._select = None

    def handle_data(self, data):
        if self._area is not None:
            self._area[1] += data if self._area[1] else data.removeprefix("\n")


class Tag(html.parser.HTMLParser):
    """One tag as it is in a page. `foreign`: the parts that the console does not write."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.foreign: list[str] = []
        self.is_tag = False
        self.feed(text)
        if not self.is_tag and text != "<!doctype html>":
            self.foreign.append(text[:80])

    def handle_endtag(self, tag):
        self.is_tag = tag in ELEMENTS

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_starttag(self, tag, attrs):
        self.is_tag = True
        if tag not in ELEMENTS:
            self.foreign.append(f"<{tag}>")
        for name, value in attrs:
            value = value or ""
            # `zq`: attributes of the hostile texts.
            is_wrong = name.startswith("on") or name in ("style", "srcdoc") or any(part in name for part in ("<", '"', "zq"))
            if is_wrong or name in ADDRESSES and not is_own(tag, value):
                self.foreign.append(f"<{tag} {name}={value[:60]!r}>")
        if tag == "script" and not dict(attrs).get("src", "").startswith("/assets/"):
            self.foreign.append("<script> without a file of the console")


def is_own(tag: str, address: str) -> bool:
    """Whether an address stays at the console, or is one of its links to Apple."""
    if address.startswith(("//", "/\\")):
        return False
    return address == "" or address[0] in "/?#" or tag == "a" and address.startswith(OUTSIDE)


_own: set[str] = set()


def foreign(text: str) -> list[str]:
    """The parts of a page that the console has not written. It escapes `<` and `>` in texts and values, so that each one belongs to a tag."""
    found = []
    for tag in set(re.findall(r"<[^>]*>?", text)) - _own:
        wrong = Tag(tag).foreign
        if wrong:
            found += wrong
        else:
            _own.add(tag)
    return found
