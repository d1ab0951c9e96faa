"""Texts, bodies and headers that people and programs send to the console to break it. Texts that would be markup have an element `zq-x` or an attribute `zqattr`."""

TEXTS = [
    "<zq-x>", '"><zq-x zqattr=1>', "'><img src=x onerror=alert(1) zqattr>", "</textarea></select></title></script><script>alert(1)</script>",
    "<!-- zq", "<svg/onload=alert(1)>", "{{{zq}}}{{>form}}", "#{name}#{", "&lt;zq-x&gt;&#60;zq-x>", "javascript:alert(1)//", "//evil.example/",
    "/\\evil.example", "\u202eabc\u2066def\u200f", "\u0000\u0001\u0007\u001b[31m", "\r\nSet-Cookie: zq=1\r\n\r\n<zq-x>",
    "\ufeff\ufffe\U000e0001\U0001f468\u200d\U0001f469", "가" * 3000, "x" * 10_000, "-1", "99999999999999999999", "1e999", "NaN", "0x10",
    "2026-02-30T25:61", "../../etc/passwd", "%00%ff%zz", "=cmd|' /C calc'!A0", '{"a":' * 200, "[" * 5000, "null", "true", "", " ", "a\tb\nc", "•••",
    "sealed-zz", "'; DROP TABLE gateway.account; --", "\\u0000", "yes", "all", "*",
]  # fmt: skip
BODIES = [
    b"\xff\xfe%FF", b"a=%C3%28", b"a=%ED%A0%80&b=%00", b"&&&===;;;", b"\x00" * 100, b"a=1&" * 1500, b"_token=x&_token=y",
    b"--b\r\n--b\r\n--b--", b"{}",
]  # fmt: skip
FILES = [b"", b"\x89PNG\r\n\x1a\n" + bytes(range(200)), b"x" * 60_000, *BODIES]
TYPES = [
    "application/json", "text/plain", "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=b",
    "multipart/form-data; boundary=" + "b" * 300, "application/x-www-form-urlencoded; charset=utf-16", "x/\u00ff", None,
    "application/x-www-form-urlencoded",
]  # fmt: skip
PARAMETERS = (
    "app range from to zone after before sort state vendor text limit q next version export message ask draft user key phone campaign day lane since figure"
).split()
HEADERS = {
    "Accept-Language": ["ko;q=9", "x" * 5000, ",,,;;", "en-\u00ff"], "Range": ["bytes=0-1", "bytes=9-1"], "If-None-Match": ["*", '"x"'],
    "Accept-Encoding": ["gzip;q=0", "*", "br, gzip", "x" * 500], "X-Forwarded-For": ["<zq-x>", "1.2.3.4"], "X-Forwarded-Proto": ["https", "zq"],
    "X-Forwarded-Host": ["evil.example"], "User-Agent": ["<zq-x>", "", "\u00ff" * 300], "Referer": ["https://evil.example/<zq-x>"],
    "Content-Encoding": ["gzip", "zq"], "Traceparent": ["00-x", "\u00ff"], "X-Request-Id": ["<zq-x>", "x" * 1000],
    "Last-Event-ID": ["-1", "<zq-x>"], "Idempotency-Key": ["<zq-x>"], "Authorization": ["Bearer zq", "Basic \u00ff"],
}  # fmt: skip
METHODS = ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "ZQ"]


def cookies(session: str) -> list[str]:
    """A session that is none, or the right one among others."""
    return [
        "", f"__Host-session={'0' * 64}", f"__Host-session={session[:-1]}", f"__Host-session={session}; __Host-session={session[::-1]}",
        "=;=;;", "\u00ff=1", "a=1;" * 900, f"__Host-session={session}\x01", f'__Host-session="{session}"', f"__host-session={session}",
    ]  # fmt: skip


def connections(host: str, origin: str, session: str) -> list[bytes]:
    """Bytes that are no proper request."""
    head = f"POST /sign-in HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\n".encode()
    own = f"HTTP/1.1\r\nHost: {host}\r\nCookie: __Host-session={session}\r\n\r\n".encode()
    return [
        b"GARBAGE\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET /\x00 " + own, b"\x16\x03\x01" * 50,
        b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 5000 + b"\r\n",
        b"GET /" + b"a" * 100_000 + b" " + own, b"GET /t/%ff%fe/ " + own, b"GET /t/acme/" + b"x/" * 1500 + b" " + own, b"GET /\xff\xfe " + own,
        head + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\na=1&b", head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        head + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", head + b"Content-Length: -1\r\n\r\n",
        head + b"Content-Length: 99999999999\r\n\r\n", head + b"Content-Type: \xff\xfe\r\nContent-Length: 0\r\n\r\n",
        head + b"Expect: zq\r\nContent-Length: 0\r\n\r\n",
    ]  # fmt: skip
