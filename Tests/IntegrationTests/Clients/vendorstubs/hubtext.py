"""The two small languages of Notification Hubs: tag expressions and template bodies. Contract: docs/contracts/notificationhubs.md."""

import json
import re
from urllib.parse import quote

TAG = re.compile(r"\$(?:InstallationId|UserId):(?:\{[\w@#.:=-]+\}|[\w@#.:=-]+)|[\w@#.:-]+", re.IGNORECASE)
MAX_TAGS, MAX_MIXED_TAGS = 20, 6


class TagError(ValueError):
    """The expression cannot be read; `position` counts characters from 0."""

    def __init__(self, position: int):
        super().__init__(position)
        self.position = position


def folded(tag: str) -> str:
    """Tags compare without case; the value of $InstallationId and $UserId compares with case, braced or not."""
    name, colon, value = tag.partition(":")
    if name.lower() in ("$installationid", "$userid") and colon:
        return f"{name.lower()}:{value[1:-1] if value.startswith('{') else value}"
    return tag.lower()


class TagExpression:
    """`!` binds before `&&`, which binds before `||`. Parsed when created."""

    def __init__(self, source: str):
        self.tokens: list[tuple[str, int]] = []
        at = 0
        while at < len(source):
            if source[at].isspace():
                at += 1
                continue
            found = re.compile(r"&&|\|\||[!()]").match(source, at) or TAG.match(source, at)
            if found is None:
                raise TagError(at)
            self.tokens.append((found.group(), at))
            at = found.end()
        self.end, self.next = len(source), 0
        self.tree = self.either()
        if self.next < len(self.tokens):
            raise TagError(self.tokens[self.next][1])
        names = [t for t, _ in self.tokens if TAG.fullmatch(t)]
        only_or = not any(t in ("&&", "!") for t, _ in self.tokens)
        if len(names) > (MAX_TAGS if only_or else MAX_MIXED_TAGS):
            raise TagError(0)

    def peek(self) -> str:
        return self.tokens[self.next][0] if self.next < len(self.tokens) else ""

    def either(self):
        parts = [self.both()]
        while self.peek() == "||":
            self.next += 1
            parts.append(self.both())
        return ("or", parts)

    def both(self):
        parts = [self.one()]
        while self.peek() == "&&":
            self.next += 1
            parts.append(self.one())
        return ("and", parts)

    def one(self):
        word, position = self.tokens[self.next] if self.next < len(self.tokens) else ("", self.end)
        self.next += 1
        if word == "!":
            return ("not", [self.one()])
        if word == "(":
            inner = self.either()
            if self.peek() != ")":
                raise TagError(self.tokens[self.next][1] if self.next < len(self.tokens) else self.end)
            self.next += 1
            return inner
        if not word or word in ("&&", "||", ")"):
            raise TagError(position)
        return ("tag", folded(word))

    def matches(self, tags: set[str]) -> bool:
        """`tags` are folded."""
        return self.evaluate(self.tree, tags)

    def evaluate(self, node, tags: set[str]) -> bool:
        kind, parts = node
        if kind == "tag":
            return parts in tags
        if kind == "not":
            return not self.evaluate(parts[0], tags)
        return (any if kind == "or" else all)(self.evaluate(part, tags) for part in parts)


class TemplateError(ValueError):
    """The template cannot be rendered: the target is left out."""


EXPRESSION = re.compile(r"([$.%#])\(\s*([A-Za-z0-9_]{1,120})\s*(?:,\s*(\d+)\s*)?(?::\{((?:[^}\\]|\\.)*)\})?\)")
PART = re.compile(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"")


def expression(match: re.Match, values: dict[str, str], is_alone: bool):
    kind, name, length, default = match.group(1), match.group(2).lower(), match.group(3), match.group(4)
    value = values.get(name)
    if value is None:
        value = default.replace("\\}", "}") if default is not None else ""
    if kind == "#":
        if not is_alone:
            raise TemplateError("a number cannot be composed")
        try:
            return json.loads(value or "0")
        except ValueError:
            raise TemplateError("not a number") from None
    if kind == "%":
        if length is not None:
            raise TemplateError("%( takes no length")
        return quote(value, safe="")
    if length is None:
        return value
    count = int(length)
    if kind == ".":
        return value if len(value) <= count else value[: max(0, count - 3)] + "..."[:count]
    return value[:count]


def rendered(value: str, values: dict[str, str]):
    """One string of a template. It is an expression only as a whole; everything else is kept as it is."""
    if not value or value[0] not in "$.%#{":
        return value
    alone = EXPRESSION.fullmatch(value)
    if alone:
        return expression(alone, values, True)
    if value[0] != "{":
        if value.startswith("$body"):
            raise TemplateError("$body")
        if re.match(r"[$.%#]\(", value):
            raise TemplateError("missing parenthesis")
        return value
    if not value.endswith("}"):
        raise TemplateError("missing brace")
    whole, at, inner, is_first = "", 0, value[1:-1].strip(), True
    while at < len(inner):
        if not is_first:
            plus = re.compile(r"\s*\+\s*").match(inner, at)
            if plus is None:
                raise TemplateError("only + composes")
            at = plus.end()
        literal = PART.match(inner, at)
        part = literal or EXPRESSION.match(inner, at)
        if part is None:
            raise TemplateError("unreadable part")
        if literal:
            whole += literal.group(1).replace("''", "'") if literal.group(1) is not None else literal.group(2).replace('""', '"')
        else:
            whole += str(expression(part, values, False))
        at, is_first = part.end(), False
    return whole


def render(template, values: dict[str, str]):
    """A JSON value with its strings rendered. `values` have lower-case names."""
    if isinstance(template, dict):
        return {key: render(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [render(value, values) for value in template]
    return rendered(template, values) if isinstance(template, str) else template
