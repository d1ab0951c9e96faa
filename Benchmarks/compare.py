#!/usr/bin/env python3
"""Measures this commit, alone or in turn with an older one, and prints ratios. The exit status is 1 if a ratio misses its bar.

    Benchmarks/compare.py calls                    registrations, receipts and reads, relative to a minimal HTTP server
    Benchmarks/compare.py deliver                  a message to many devices, relative to the lower of two upper limits
    Benchmarks/compare.py bodies                   p99 of small calls during twelve bodies of 10 MB, relative to p99 without them
    Benchmarks/compare.py scale                    time per delivery at 10,000, 100,000, 1,000,000 and 10,000,000 devices, relative to 1,000,000
    Benchmarks/compare.py webhooks                 a webhook that catches up, and a message to all devices meanwhile
    Benchmarks/compare.py import                   imports of vendors' exports, plain and gzip, relative to CSV, and the memory of 1,000,000 rows above that of 100,000
    Benchmarks/compare.py parity                   CPU of observing a vendor's calls with parity, relative to without
    Benchmarks/compare.py start                    time until `serve` on an empty embedded database is ready, of five starts
    Benchmarks/compare.py all                      calls, deliver, bodies, webhooks and start
    Benchmarks/compare.py calls --before COMMIT    each pair also measures COMMIT, and the ratio of the two rates has a bar
    Benchmarks/compare.py --help

Bars: receipts and reads 0.55 of the minimal server, registrations 0.35; deliveries 0.8 of the lower limit, with at most 100 MiB of memory; with --before, each rate 0.97 of
that before; p99 during large bodies 1.5 times that without; 1.15 times the time per delivery of 1,000,000 devices at 100,000 and 10,000,000, and 1.5 times at 10,000; 20,000 events per second of a webhook in
the order of devices, and 0.9 of a message's rate meanwhile; a start within 1.0 s; exports 0.6 of CSV, plain and gzip, with --before CSV 0.97 of before, and 32 MiB
more for ten times the rows; 1.1 times the CPU with parity. `scale` needs about 40 GB of disk and an hour. The programs are built in release mode (scripts/bench, scripts/older) unless --programs and --before-programs name directories. The
machine must be idle: other work changes every figure. A ratio is the median of the pairs' ratios, so that work in between affects both sides.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# A rate may be 3 % lower than before.
BEFORE_BAR = 0.97
DELIVER_BAR = 0.8
DELIVER_MEBIBYTES = 100
BODIES_BAR = 1.5
WEBHOOK_BAR = 20_000
CAMPAIGN_BAR = 0.9
START_BAR = 1.0
FORMAT_BAR = 0.6
FORMATS = ["map", "braze", "notificationhubs"]
# The forms of the files: what precedes the name of a format, and the options of `bench import`.
IMPORT_KINDS = {"": [], "gzip ": ["--gzip"]}
# MiB that ten times the rows of `IMPORT_ROWS` may add.
IMPORT_MEBIBYTES = 32
IMPORT_ROWS = 100_000
PARITY_BAR = 1.1
STARTS = 5
# Devices, and the bar of the time per delivery, relative to that of `SCALE_BASE` devices.
SCALE_BASE = 1_000_000
SCALE_BARS = {10_000: 1.5, 100_000: 1.15, 10_000_000: 1.15}
# By the beginning of the call's name.
CALL_BARS = {"register": 0.35, "received": 0.55, "read": 0.55}


class Figure:
    """A measured ratio: its median over the pairs, and the bar that it must reach or, if `is_ceiling`, not exceed."""

    def __init__(self, name, values, bar=None, is_ceiling=False):
        self.name = name
        self.values = list(values)
        self.bar = bar
        self.is_ceiling = is_ceiling

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def passes(self):
        if self.bar is None:
            return True
        return self.median <= self.bar if self.is_ceiling else self.median >= self.bar

    def row(self):
        bar = "-" if self.bar is None else ("<= " if self.is_ceiling else ">= ") + format(self.bar, ".2f")
        spread = "{:.3f} to {:.3f}".format(min(self.values), max(self.values))
        return [self.name, format(self.median, ".3f"), spread, bar, "yes" if self.passes else "NO"]


def objects(text):
    """The JSON objects in the output of a program, one per line."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def call_bar(name):
    return next((bar for start, bar in CALL_BARS.items() if name.startswith(start)), None)


def calls_figures(after, before):
    """`after` and `before` hold one dictionary per pair: by call, what `bench calls --json` printed. `before` may be empty."""
    figures = []
    for name in after[0]:
        ratios = [pair[name]["ratioToHello"] for pair in after]
        figures.append(Figure(name + ", of hello-world", ratios, call_bar(name)))
        shared = [(new[name], old[name]) for new, old in zip(after, before) if name in old]
        if shared:
            # The minimal server measures the machine in both, so that the ratio of ratios compares the programs.
            ratios = [new["ratioToHello"] / old["ratioToHello"] for new, old in shared]
            figures.append(Figure(name + ", of before", ratios, BEFORE_BAR))
    return figures


def deliver_figures(after, before):
    figures = [Figure("deliver, of the lower limit", [pair["ratioToCeiling"] for pair in after], DELIVER_BAR)]
    figures.append(Figure("deliver, MiB of a node", [pair["rssMiB"] for pair in after], DELIVER_MEBIBYTES, is_ceiling=True))
    if before:
        ratios = [new["perSecond"] / old["perSecond"] for new, old in zip(after, before)]
        figures.append(Figure("deliver, of before", ratios, BEFORE_BAR))
        costs = [new["postgresCpuMicroseconds"] / old["postgresCpuMicroseconds"] for new, old in zip(after, before)]
        figures.append(Figure("deliver, PostgreSQL's CPU, of before", costs))
    return figures


def bodies_figures(result):
    # The bench prints the medians of its own pairs.
    return [
        Figure("accept p99 during large bodies, of without", [result["acceptP99Ratio"]], BODIES_BAR, is_ceiling=True),
        Figure("accept to push p99 during large bodies, of without", [result["acceptToPushP99Ratio"]], BODIES_BAR, is_ceiling=True),
    ]


def scale_figures(results):
    """`results` holds what `bench deliver --json` printed, by the number of devices."""
    base = results[SCALE_BASE]["perSecond"]
    return [
        Figure("time per delivery at {} devices, of {}".format(devices, SCALE_BASE), [base / results[devices]["perSecond"]], bar, is_ceiling=True)
        for devices, bar in SCALE_BARS.items()
    ]


def webhook_figures(results):
    rate = next(result["perSecond"] for result in results if result.get("order") == "device")
    share = next(result["campaignRatio"] for result in results if "campaignRatio" in result)
    return [
        Figure("webhook in the order of devices, events/s", [rate], WEBHOOK_BAR),
        Figure("message during a webhook's catching up, of alone", [share], CAMPAIGN_BAR),
    ]


def import_figures(after, before, large, kind=""):
    """`after` and `before` hold one result of `bench import --json` per pair; `large` is that of ten times the rows. `before` may be empty. `kind` comes before the formats."""
    figures = [Figure("import of {}{}, of {}CSV".format(kind, name, kind), [pair["ratiosToCSV"][name] for pair in after], FORMAT_BAR) for name in FORMATS]
    if before:
        # Not the ratios to COPY: each program copies the rows of its own schema.
        ratios = [new["perSecond"] / old["perSecond"] for new, old in zip(after, before)]
        figures.append(Figure("import of CSV, of before", ratios, BEFORE_BAR))

    def more(of):
        return [of(large) - max(of(pair) for pair in after)]

    added = {"CSV": more(lambda result: result["rssMiB"])}
    for name in FORMATS:
        added[name] = more(lambda result: result["rssMiBOfFormats"][name])
    for name, values in added.items():
        figures.append(Figure("import of {}{}, MiB more for ten times the rows".format(kind, name), values, IMPORT_MEBIBYTES, is_ceiling=True))
    return figures


def parity_figures(result):
    # The bench prints the medians of its own pairs.
    return [Figure("CPU of observation with parity, of without", [result["ratioToWithout"]], PARITY_BAR, is_ceiling=True)]


def table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def report(figures):
    """Prints the figures. Returns the exit status."""
    print(table([["figure", "median", "pairs", "bar", "reached"]] + [figure.row() for figure in figures]))
    return 0 if all(figure.passes for figure in figures) else 1


# Running the programs.


def run(program, arguments, may_miss=False):
    """The output of a bench. With `may_miss`, status 1 means that its own limit was exceeded, which the caller judges."""
    print("running " + " ".join([program] + arguments), file=sys.stderr)
    done = subprocess.run([program] + arguments, stdout=subprocess.PIPE, text=True)
    if done.returncode not in ([0, 1] if may_miss else [0]) or not objects(done.stdout):
        sys.exit("compare: {} ended with status {}".format(program, done.returncode))
    return objects(done.stdout)


def start_seconds(program, folder):
    """Starts the gateway on an empty data directory in the new `folder`, and returns the time until its address file exists."""
    os.mkdir(folder)
    # The account of the database must be able to enter it.
    os.chmod(folder, 0o711)
    # A start waits until the file system has written everything, also what others wrote before.
    os.sync()
    time.sleep(1)
    addresses = os.path.join(folder, "addresses.json")
    arguments = ["serve", "--data-dir", os.path.join(folder, "data"), "--address-file", addresses]
    arguments += ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]
    if os.geteuid() == 0:
        arguments += ["--run-as", "root"]
    with open(os.path.join(folder, "log"), "wb") as log:
        began = time.monotonic()
        process = subprocess.Popen([program] + arguments, stdout=log, stderr=log)
        try:
            while not os.path.exists(addresses):
                if process.poll() is not None or time.monotonic() - began > 60:
                    sys.exit("compare: the gateway did not start: " + tail(log.name))
                time.sleep(0.002)
            return time.monotonic() - began
        finally:
            process.terminate()
            process.wait()


def starts(program):
    # Removed at the end only: a file system is busy for a while after it removed thousands of files.
    with tempfile.TemporaryDirectory(prefix="gateway-start-") as folder:
        os.chmod(folder, 0o711)
        return [start_seconds(program, os.path.join(folder, str(number))) for number in range(STARTS)]


def tail(path):
    with open(path, errors="replace") as file:
        return file.read()[-800:]


def build(products):
    """Builds this tree as scripts/bench does, and returns the directory of the programs."""
    environment = dict(os.environ, GATEWAY_BENCHMARKS="1")
    options = ["swift", "build", "-c", "release", "--scratch-path", ".build-release"]
    for product in products:
        subprocess.run(options + ["--product", product], cwd=ROOT, env=environment, stdout=sys.stderr, check=True)
    shown = subprocess.run(options + ["--show-bin-path"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return shown.stdout.strip()


def build_older(commit, products):
    command = [os.path.join(ROOT, "scripts", "older"), commit] + products
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return os.path.join(ROOT, done.stdout.strip().splitlines()[-1])


def pairs(count, after, before, measure):
    """Measures both programs in turn; the order of a pair alternates. Returns the two lists of results."""
    results = {after: [], before: []}
    for number in range(count):
        order = [after] if before is None else [after, before] if number % 2 else [before, after]
        for directory in order:
            results[directory].append(measure(directory))
    return results[after], results[before] if before is not None else []


def measure(what, options, after, before):
    def program(directory):
        return os.path.join(directory, "push-gateway")

    if what == "calls":
        arguments = ["bench", "calls", "--json", "--pairs", "1", "--seconds", str(options.seconds), "--connections", str(options.connections)]

        def calls(directory):
            return {result["call"]: result for result in run(program(directory), arguments)}

        return calls_figures(*pairs(options.pairs, after, before, calls))
    if what == "scale":
        results = {}
        for devices in sorted([SCALE_BASE] + list(SCALE_BARS)):
            results[devices] = run(program(after), ["bench", "deliver", "--json", "--devices", str(devices)])[0]
        return scale_figures(results)
    if what == "webhooks":
        return webhook_figures(run(program(after), ["bench", "webhooks", "--json", "--campaign"], may_miss=True))
    if what == "import":
        arguments = ["bench", "import", "--json", "--runs", "1", "--rows", str(IMPORT_ROWS)]
        formats = ["--formats", ",".join(FORMATS)]

        # An older program may not know all formats, nor --gzip. All formats of a run are compressed, or none is.
        def imported(directory):
            if directory != after:
                return run(program(directory), arguments)
            return [run(program(directory), arguments + formats + kind)[0] for kind in IMPORT_KINDS.values()]

        new, old = pairs(options.pairs, after, before, imported)
        figures = []
        for place, (name, kind) in enumerate(IMPORT_KINDS.items()):
            large = run(program(after), arguments[:-1] + [str(10 * IMPORT_ROWS)] + formats + kind)[0]
            earlier = [] if kind else [pair[0] for pair in old]
            figures += import_figures([pair[place] for pair in new], earlier, large, name)
        return figures
    if what == "parity":
        return parity_figures(run(program(after), ["bench", "parity", "--json", "--pairs", str(options.pairs)], may_miss=True)[0])
    if what == "start":
        seconds = starts(program(after))
        return [Figure("start on an empty database, seconds", seconds, START_BAR, is_ceiling=True)]
    if what == "deliver":
        arguments = ["bench", "deliver", "--json", "--devices", str(options.devices)]
        return deliver_figures(*pairs(options.pairs, after, before, lambda directory: run(program(directory), arguments)[0]))
    arguments = ["bench", "neighbour", "--json", "--trouble", "bodies", "--pairs", str(options.pairs), "--seconds", str(options.seconds)]
    return bodies_figures(run(program(after), arguments, may_miss=True)[0])


def number(text):
    value = int(text)
    if not 1 <= value <= 5_000_000:
        raise argparse.ArgumentTypeError("must be 1 to 5000000")
    return value


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["calls", "deliver", "bodies", "scale", "webhooks", "import", "parity", "start", "all"])
    parser.add_argument("--before", metavar="COMMIT", help="also measure this commit, for calls, deliver and import")
    parser.add_argument("--before-programs", metavar="DIRECTORY", help="its programs, if they are built already")
    parser.add_argument("--programs", metavar="DIRECTORY", help="the programs of this commit, if they are built already")
    parser.add_argument("--pairs", type=number, default=5, help="number of pairs (5)")
    parser.add_argument("--seconds", type=number, default=5, help="seconds per turn of calls and bodies (5)")
    parser.add_argument("--connections", type=number, default=256, help="connections of calls (256)")
    parser.add_argument("--devices", type=number, default=1_000_000, help="devices of deliver (1000000)")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    products = ["push-gateway", "apns-accept-server", "hello-server"]
    before = options.before_programs
    if before is None and options.before is not None and options.what in ["calls", "deliver", "import", "all"]:
        before = build_older(options.before, products)
    after = options.programs or build(products)
    figures = []
    for what in ["calls", "deliver", "bodies", "webhooks", "start"] if options.what == "all" else [options.what]:
        figures += measure(what, options, after, before)
    return report(figures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
