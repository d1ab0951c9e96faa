"""Plays a vendor's script against an address. `python3 -m vendorstubs.clients --help`."""

import argparse
import importlib
import os
import runpy
import sys
from datetime import datetime, timezone

if not __package__:  # Started by its folder's path.
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    runpy.run_module("vendorstubs.clients", run_name="__main__", alter_sys=True)

from .script import LEFT_OUT, Script  # noqa: E402

VENDORS = ["rationalowl", "upmc", "ipns", "braze", "notificationhubs"]


def moment(text: str) -> datetime:
    value = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return value if value.tzinfo else value.replace(tzinfo=timezone.utc)


def pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError("NAME=VALUE")
    return name, value


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="vendorstubs.clients",
        description="Plays the documented flow of a vendor's apps and back ends, and writes each call with its raw answer as one JSON line.",
        epilog=f"Headers of one connection are left out of the answers: {', '.join(sorted(LEFT_OUT))}. `Date` has no value there. Against a stub "
        "that was started with the same --seed and --time, two runs of a script write equal answers.",
    )
    parser.add_argument("vendor", choices=VENDORS)
    parser.add_argument("--base", required=True, metavar="URL", help="scheme, host and port; a path is put before all paths of the script")
    parser.add_argument("--out", metavar="FILE", help="file for the lines; default: standard output")
    parser.add_argument("--seed", default="1", help="source of device IDs and tokens (1)")
    parser.add_argument("--time", type=moment, metavar="ISO", help="time from which the script computes its dates; default: now")
    parser.add_argument("--ca", metavar="FILE", help="authority of the server's certificate (PEM)")
    parser.add_argument("--host", metavar="NAME", help="Host header; default: that of --base")
    parser.add_argument("--set", type=pair, action="append", default=[], metavar="NAME=VALUE", help="keys and names as in the stub's settings; repeatable")
    parser.add_argument("--skip", action="append", default=[], metavar="CALL", help="a call, by its name in the lines, that is not made; repeatable")
    options = parser.parse_args()
    out = open(options.out, "w", encoding="utf-8") if options.out else sys.stdout
    script = Script(options.base, out, options.seed, options.time, options.ca, options.host)
    script.skipped = set(options.skip)
    try:
        importlib.import_module(f".{options.vendor}", __package__).play(script, dict(options.set))
    finally:
        script.close()
        out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
