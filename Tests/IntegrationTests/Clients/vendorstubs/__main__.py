"""Starts the stub of one vendor. `python3 -m vendorstubs --help`, with the parent folder in PYTHONPATH; `python3 FOLDER/vendorstubs` works too."""

import argparse
import importlib
import os
import runpy
import sys
import threading
from datetime import datetime, timezone

if not __package__:  # Started by its folder's path.
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    runpy.run_module("vendorstubs", run_name="__main__", alter_sys=True)

from .runner import Runner  # noqa: E402
from .stub import COMMON_SETTINGS  # noqa: E402

VENDORS = {
    "rationalowl": ("RationalOwl and RationalUMS", "RationalOwlStub"),
    "upmc": ("UPMC (Uracle Morpheus Push)", "UPMCStub"),
    "ipns": ("iPNS (iPNG)", "IPNSStub"),
    "braze": ("Braze, REST calls only", "BrazeStub"),
    "notificationhubs": ("Azure Notification Hubs", "NotificationHubsStub"),
}


def stub_of(vendor: str):
    return getattr(importlib.import_module(f".{vendor}", __package__), VENDORS[vendor][1])


def milliseconds(text: str) -> int:
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return int((moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp() * 1000)


def setting(kind):
    known = COMMON_SETTINGS | kind.SETTINGS

    def read(text: str) -> tuple[str, object]:
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            raise argparse.ArgumentTypeError(f"NAME=VALUE with one of the names {', '.join(sorted(known))}")
        default = known[name][0]
        if isinstance(default, bool):
            return name, value.lower() in ("true", "yes", "1")
        return name, int(value) if isinstance(default, int) else value

    return read


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(
        prog="vendorstubs",
        description="Runs a stub of a vendor's real service: it answers the documented calls and pushes through APNs with a key of its own.",
        epilog="Standard output gets one JSON line with vendor, port, url and control when the stub is ready. SIGTERM ends it gracefully. README.md describes "
        "faults and the control calls.",
    )
    vendors = whole.add_subparsers(dest="vendor", required=True, metavar="VENDOR")
    for vendor, (title, _) in VENDORS.items():
        kind = stub_of(vendor)
        names = [f"  {name}={default}  {text}" for name, (default, text) in (COMMON_SETTINGS | kind.SETTINGS).items()]
        one = vendors.add_parser(
            vendor, help=title, description=f"Stub of {title}.", epilog="settings (--set NAME=VALUE), with their defaults:\n" + "\n".join(names),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        one.add_argument("--host", default="127.0.0.1", help="address to listen at (127.0.0.1)")
        one.add_argument("--port", type=int, default=0, help="port of the vendor's service; 0: any free one (0)")
        one.add_argument("--control-port", type=int, default=0, help="port of the control calls, always on 127.0.0.1; 0: any free one (0)")
        one.add_argument("--tls-cert", metavar="FILE", help="serve TLS with this certificate chain (PEM)")
        one.add_argument("--tls-key", metavar="FILE", help="the certificate's key, unless it is in --tls-cert")
        one.add_argument("--apns", metavar="URL", help="APNs, such as https://localhost:PORT of apns-simulator; without it pushes stay in state waiting")
        one.add_argument("--apns-ca", metavar="FILE", help="authority of APNs' certificate (PEM); without it those of the system")
        one.add_argument("--key", metavar="FILE", help="the stub's own APNs key (.p8)")
        one.add_argument("--key-id", default="STUBKEY001", help="ID of that key (STUBKEY001)")
        one.add_argument("--team-id", default="STUBTEAM01", help="ID of its team (STUBTEAM01)")
        one.add_argument("--journal", metavar="FILE", help="keeps the state, so that a killed stub goes on where it was when it is started again")
        one.add_argument("--seed", help="makes the IDs of the answers reproducible; default: random")
        one.add_argument("--time", type=milliseconds, metavar="ISO", help="start of a clock that moves by 1 ms per call only; default: the real time")
        one.add_argument("--set", type=setting(kind), action="append", default=[], metavar="NAME=VALUE", help="a setting of the vendor; repeatable")
    return whole


def main() -> int:
    options = parser().parse_args()
    if options.apns and not options.key:
        parser().error("--apns needs --key")
    threading.stack_size(512 * 1024)
    return Runner(stub_of(options.vendor), dict(options.set), options).run(options.vendor)


if __name__ == "__main__":
    sys.exit(main())
