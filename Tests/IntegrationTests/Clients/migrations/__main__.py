"""Moves an app from a vendor's stub to the gateway. `python3 -m migrations --help`, with the parent folder in PYTHONPATH, or the folder's path."""

import argparse
import os
import runpy
import signal
import sys
import time
import traceback

if not __package__:  # Started by its folder's path.
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    runpy.run_module("migrations", run_name="__main__", alter_sys=True)

from .guide import Guide  # noqa: E402
from .journey import VICTIMS, Journey  # noqa: E402
from .rollout import Rollout  # noqa: E402
from .vendors import VENDORS  # noqa: E402


def victims(text: str) -> str:
    if text != "none" and not set(text.split(",")) <= set(VICTIMS):
        raise argparse.ArgumentTypeError(f"none, or some of {', '.join(VICTIMS)}, separated by commas")
    return text


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(prog="migrations", description="Moves an app from a vendor's stub to the gateway, with phones that use it meanwhile.")
    whole.add_argument("vendor", choices=sorted(VENDORS))
    whole.add_argument("--directory", required=True, help="folder with gateway.json, tenants.yaml, simulator.json, simulator-ca.pem and the data of the gateway")
    whole.add_argument("--program", required=True, help="push-gateway")
    whole.add_argument(
        "--restart", required=True, metavar="FILE", help="file that is written with the name of what is to be killed, gateway or database, and gone when it serves again"
    )
    whole.add_argument("--topic", required=True)
    whole.add_argument("--stub-key", required=True, metavar="FILE", help="the vendor's own APNs key (.p8)")
    whole.add_argument("--stub-key-id", default="STUBKEY001")
    whole.add_argument("--stub-team-id", default="STUBTEAM01")
    whole.add_argument("--devices", type=int, default=40)
    whole.add_argument("--seed", type=int, default=1)
    whole.add_argument("--kills", type=victims, default="gateway", help="what is killed: gateway, database, stub, or none (gateway); README.md has the moments")
    whole.add_argument("--opt-out-seconds", type=float, default=2.0, help="time in which an opt-out must reach the vendor, in turns that count 0.1 s at most")
    whole.add_argument("--opt-out-clock-seconds", type=float, metavar="N", help="the same by the clock (default: the same)")
    whole.add_argument("--seconds", type=float, metavar="N", help="time after which the whole run has failed; its time is printed in any case")
    instead = whole.add_mutually_exclusive_group()
    instead.add_argument("--guide", metavar="FILE", help="docs/migration.md: run its commands instead")
    instead.add_argument("--rollout", action="store_true", help="change the rules of the app instead, without a migration")
    whole.add_argument(
        "--control", choices=("guard", "followMessage", "versions", "records"),
        help="with --rollout: only the scene that must fail without this safeguard; guard and followMessage are left out of the rules",
    )  # fmt: skip
    return whole


def main() -> int:
    options = parser().parse_args()
    # The stub ends with this process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    kind = Guide if options.guide else Rollout if options.rollout else Journey
    journey = kind(VENDORS[options.vendor](str(options.seed)), options)
    began = time.monotonic()
    try:
        journey.play()
        took = time.monotonic() - began
        print(f"{options.vendor}: {took:.1f} s", flush=True)
        if options.seconds is not None and took > options.seconds:
            raise AssertionError(f"it took {took:.1f} s of at most {options.seconds:g} s")
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        journey.stub.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
