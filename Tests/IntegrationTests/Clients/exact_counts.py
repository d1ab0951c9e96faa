"""Counts deliveries from the raw rows and compares them with the gateway's counts.

Written from docs/metrics.md and docs/schema.md, without the gateway's code. It reads `message`, `delivery`, `slice` and
`client_version` in one snapshot with psql, and counts them by the definitions of docs/metrics.md.

    exact_counts.py snapshot DATABASE BASE   compares with the rows of the counters in the same snapshot, also while messages are
                                             sent, and asks the API for the equation and the bounds of docs/metrics.md
    exact_counts.py settled DATABASE BASE CONTROL
                                             compares with the answers of the API and with the push service's own counts (CONTROL:
                                             its control port), when nothing is being sent

Options in the environment: EXACT_KEY (API key), EXACT_FILTERS (number of random filters), EXACT_SEED, EXACT_SILENT (apps,
comma-separated, whose Braze SDK does not report receipts). Prints one line per difference, at most 40; exit status 1 if there are any.
"""

import collections
import concurrent.futures
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

OUTCOMES = ["suppressed", "canceled", "expired", "unsendable", "rejected", "accepted", "uncertain"]
PARTS = ["expiredTried", "received", "read"]
# docs/metrics.md, "Reports of each SDK".
REPORTS_RECEIVED = {"braze", "ipns", "native", "rationalowl", "upmc"}
REPORTS_READ = {"braze", "ipns", "native", "rationalowl", "upmc"}
LOSSES = ["suppressed", "canceled", "expired", "unsendable", "rejected"]
# Answers of Apple after which a push is not tried again, and the number of them that a delivery gets. An unknown token is tried once in the other environment
# (docs/architecture.md).
PERMANENT = {"Unregistered": 1, "BadDeviceToken": 2, "DeviceTokenNotForTopic": 1, "PayloadTooLarge": 1}

# In this order: the rows of a table are counted by those of the tables before it.
TABLES = {
    "messages": """SELECT message_id, app_id, vendor, floor(extract(epoch FROM due_at) / 900)::integer AS quarter,
        content->>'campaign' AS campaign, content->>'campaignVariant' AS variant, is_counted FROM gateway.message""",
    "clients": """SELECT app_id, client, app_version, os, os_version, sdk_version, model, locale FROM gateway.client_version""",
    "deliveries": """SELECT message_id, state, reason, transport, is_certain, attempts, sent_at IS NOT NULL AS is_settled,
        received_at IS NOT NULL AS is_received, read_at IS NOT NULL AS is_read, device_vendor, client FROM gateway.delivery""",
    "slices": """SELECT message_id, cardinality(targets) AS targets, encode(done, 'hex') AS done FROM gateway.slice
        WHERE state <> 'done'""",
}
COUNTERS = "targets, suppressed, canceled, expired, expired_tried, unsendable, accepted, uncertain, rejected, received, read"
COUNTER_TABLES = {
    "counters": "SELECT quarter, app_id, vendor, device_vendor, transport, %s FROM gateway.counter UNION ALL "
    "SELECT quarter, app_id, vendor, device_vendor, transport, %s FROM gateway.counter_delta" % (COUNTERS, COUNTERS),
    "reasons": """SELECT quarter, app_id, vendor, device_vendor, transport, stage || ':' || reason AS key, count
        FROM gateway.counter_reason UNION ALL
        SELECT d.quarter, d.app_id, d.vendor, d.device_vendor, d.transport, r.key, r.value::bigint
        FROM gateway.counter_delta d CROSS JOIN LATERAL json_each_text(d.reasons) AS r(key, value)""",
}

Key = collections.namedtuple("Key", "quarter app vendor device transport")


def snapshot(database, tables, file):
    """Writes the rows of queries in one snapshot to a file."""
    script = ["BEGIN ISOLATION LEVEL REPEATABLE READ;"]
    for name, query in tables.items():
        script += ["\\echo --- " + name, "COPY (" + " ".join(query.split()) + ") TO STDOUT WITH (FORMAT csv, HEADER);"]
    script.append("COMMIT;")
    for _ in range(60):
        file.seek(0)
        file.truncate()
        done = subprocess.run(
            ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database],
            input="\n".join(script).encode(),
            stdout=file,
            stderr=subprocess.PIPE,
        )
        if done.returncode == 0:
            break
        # The test has killed PostgreSQL.
        time.sleep(1)
    else:
        sys.exit("psql: " + done.stderr.decode())
    file.seek(0)


def tables_of(file):
    """The name of each query and its rows, as dictionaries, one after the other: a million rows are not kept in memory. An empty text is null."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    line = text.readline()

    def lines():
        nonlocal line
        line = text.readline()
        while line and not line.startswith("--- "):
            yield line
            line = text.readline()

    while line:
        name, rows = line[4:].strip(), csv.DictReader(lines())
        yield name, rows
        for _ in rows:
            pass


def stage_of(row):
    if row["state"] in ("sent", "received", "read"):
        return "accepted" if row["is_certain"] == "t" else "uncertain"
    if row["state"] == "failed":
        return "rejected" if row["transport"] else "unsendable"
    return row["state"]


class Counts:
    """The figures of the rows."""

    def __init__(self):
        self.messages = {}
        self.clients = {}
        self.stages = collections.defaultdict(collections.Counter)
        self.funnels = collections.defaultdict(collections.Counter)
        self.reasons = collections.defaultdict(collections.Counter)
        self.campaigns = collections.defaultdict(collections.Counter)
        self.versions = collections.defaultdict(collections.Counter)
        self.pending = 0
        self.pushes = collections.Counter()
        self.refusals = collections.Counter()
        self.stored = collections.defaultdict(collections.Counter)
        self.stored_reasons = collections.defaultdict(collections.Counter)

    def read(self, name, rows):
        """Counts the rows of one of the queries."""
        for row in rows:
            getattr(self, "add_" + name)(row)

    def add_messages(self, row):
        self.messages[row["message_id"]] = row

    def add_clients(self, row):
        self.clients[(row["app_id"], row["client"])] = row

    def add_slices(self, row):
        message = self.messages[row["message_id"]]
        open_targets = int(row["targets"]) - bin(int(row["done"] or "0", 16)).count("1")
        key = Key(int(message["quarter"]), message["app_id"], message["vendor"], self.dialect(message), "none")
        self.stages[key]["targets"] += open_targets
        self.stages[key]["pending"] += open_targets
        self.pending += open_targets

    def add_counters(self, row):
        counts = self.stored[self.stored_key(row)]
        counts.update({"expiredTried" if c == "expired_tried" else c: int(row[c]) for c in COUNTERS.split(", ")})

    def add_reasons(self, row):
        self.stored_reasons[self.stored_key(row)][row["key"]] += int(row["count"])

    @staticmethod
    def stored_key(row):
        return Key(int(row["quarter"]), row["app_id"], row["vendor"], row["device_vendor"] or "unknown", row["transport"] or "none")

    @staticmethod
    def dialect(message):
        return "unknown" if message["vendor"] == "native" else message["vendor"]

    def add_deliveries(self, row):
        if row["is_settled"] != "t":
            return
        message = self.messages[row["message_id"]]
        key = Key(
            int(message["quarter"]),
            message["app_id"],
            message["vendor"],
            row["device_vendor"] or self.dialect(message),
            row["transport"] or "none",
        )
        stage = stage_of(row)
        counts = self.stages[key]
        counts["targets"] += 1
        counts[stage] += 1
        funnel = self.funnels[row["message_id"]]
        funnel[stage] += 1
        if stage == "expired" and int(row["attempts"]) > 0:
            counts["expiredTried"] += 1
        if row["reason"] and stage in ("suppressed", "unsendable", "rejected"):
            self.reasons[key][stage + ":" + row["reason"]] += 1
        if row["transport"] and row["reason"]:
            self.pushes[row["reason"]] += 1
        if stage == "rejected":
            self.refusals[row["reason"]] += 1
        if stage not in ("accepted", "uncertain"):
            return
        reach = {"reached": 1, "received": row["is_received"] == "t", "read": row["is_read"] == "t"}
        for name in ("received", "read"):
            counts[name] += reach[name]
            funnel[name] += reach[name]
        if message["campaign"]:
            self.campaigns[(key.app, message["campaign"], message["variant"] or None)].update(reach)
        facts = self.clients.get((key.app, row["client"]), {})
        names = ["app_version", "os", "os_version", "sdk_version", "model", "locale"]
        values = ["other" if row["client"] == "0" else facts.get(name) or None for name in names]
        self.versions[tuple(values)].update(reach)

    def select(self, matches, by=()):
        """The sums of the keys that match, by the values of the properties `by`."""
        sums = collections.defaultdict(collections.Counter)
        for key, counts in self.stages.items():
            if matches(key):
                group = tuple(getattr(key, name) for name in by)
                sums[group].update(counts)
                sums[group].update(self.able(key, counts))
        return sums

    def able(self, key, counts):
        """The deliveries of which the app can report. A device that cannot report counts where it has reported nevertheless."""
        reached = counts["accepted"] + counts["uncertain"]
        silent = key.device == "braze" and key.app in SILENT
        return {
            "receivable": reached if key.device in REPORTS_RECEIVED and not silent else counts["received"],
            "readable": reached if key.device in REPORTS_READ else counts["read"],
        }


SILENT = set(filter(None, os.environ.get("EXACT_SILENT", "").split(",")))
differences = []


def expect(what, seen, wanted):
    if seen == wanted:
        return
    if isinstance(seen, dict) and isinstance(wanted, dict):
        # Only what differs, so that a line names nothing else.
        keys = [key for key in dict.fromkeys([*seen, *wanted]) if seen.get(key) != wanted.get(key)]
        seen, wanted = [{key: side[key] for key in keys if key in side} for side in (seen, wanted)]
    differences.append("%s: %s, not %s" % (what, seen, wanted))


def call(base, path, attempts=60):
    request = urllib.request.Request(base + path, headers={"Authorization": "Bearer " + os.environ["EXACT_KEY"]})
    for left in reversed(range(attempts)):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code < 500 or not left:
                sys.exit("%s: %s %s" % (path, error.code, error.read().decode()))
        except OSError as error:
            if not left:
                sys.exit("%s: %s" % (path, error))
        time.sleep(0.5)


class Filter:
    """Values of properties and a range of quarter hours; none: all."""

    PROPERTIES = {"app": "app", "vendor": "vendor", "device": "deviceVendor", "transport": "transport"}

    def __init__(self, keys, chance, is_whole=False):
        self.values, self.by = {}, []
        quarters = [key.quarter for key in keys]
        self.first, self.last = min(quarters) - 1, max(quarters) + 2
        if is_whole:
            return
        for name in self.PROPERTIES:
            known = sorted({getattr(key, name) for key in keys})
            if chance.random() < 0.5:
                self.values[name] = set(chance.sample(known, chance.randint(1, len(known))))
        if chance.random() < 0.5:
            self.first, self.last = sorted(chance.sample(range(self.first, self.last + 1), 2))
        self.by = chance.sample(sorted(self.PROPERTIES), chance.randint(0, 2))

    def __call__(self, key):
        return self.first <= key.quarter < self.last and all(getattr(key, n) in v for n, v in self.values.items())

    def path(self, question):
        fields = {"from": str(self.first * 900_000), "to": str(self.last * 900_000), "zone": "UTC"}
        fields.update({self.PROPERTIES[name]: ",".join(sorted(values)) for name, values in self.values.items()})
        if self.by:
            fields["by"] = ",".join(self.PROPERTIES[name] for name in self.by)
        return "/v1/analytics/" + question + "?" + urllib.parse.urlencode(fields)


def expect_rules(what, counts):
    """The equation and the bounds of docs/metrics.md, of an answer or of sums of rows."""
    expect(what + " equation", counts["targets"], sum(counts[name] for name in OUTCOMES) + counts["pending"])
    for less, more in [("received", "receivable"), ("read", "received"), ("read", "readable"), ("expiredTried", "expired")]:
        if counts[less] > counts[more]:
            differences.append("%s: %s %s > %s %s" % (what, less, counts[less], more, counts[more]))
    if min(counts[name] for name in OUTCOMES + PARTS + ["targets", "pending"]) < 0:
        differences.append("%s: a negative count in %s" % (what, dict(counts)))


def wanted_counts(sums):
    counts = {name: sums[name] for name in ["targets", "pending", "receivable", "readable"] + OUTCOMES + PARTS}
    counts["sent"] = sum(sums[name] for name in ("accepted", "uncertain", "rejected", "expiredTried"))
    # No vendor sends by itself in this run.
    counts["ownSent"], counts["ownAccepted"] = counts["sent"], counts["accepted"]
    return counts


def expect_answer(what, answer, wanted):
    expect(what, {name: answer[name] for name in wanted}, wanted)
    expect_rules(what, answer)


def compare_rows(counts, filters):
    """The rows of the counters against those of deliveries and open slices, in one snapshot."""
    stored, reasons = counts.stored, counts.stored_reasons
    # Counters count the targets of all transports together.
    for key in set(stored) | set(counts.stages):
        seen, wanted = stored[key], counts.stages[key]
        for name in OUTCOMES + PARTS:
            expect("%s %s" % (name, key), seen[name], wanted[name])
    for key in set(reasons) | set(counts.reasons):
        expect("reasons %s" % (key,), {k: v for k, v in reasons[key].items() if v}, dict(counts.reasons[key]))
    for number, matches in enumerate(filters):
        matches.values.pop("transport", None)
        sums = sum((stored[key] for key in list(stored) if matches(key)), collections.Counter())
        wanted = sum((counts.stages[key] for key in list(counts.stages) if matches(key)), collections.Counter())
        expect("equation of filter %d" % number, sums["targets"], sum(sums[n] for n in OUTCOMES) + wanted["pending"])


def answers(base, filters, question):
    """The answers to a question with each filter. Three at a time, because the gateway is not busy with one."""
    with concurrent.futures.ThreadPoolExecutor(3) as lanes:
        return list(lanes.map(lambda matches: call(base, matches.path(question)), filters))


def compare_funnels(base, counts, filters):
    for number, (matches, answer) in enumerate(zip(filters, answers(base, filters, "funnel"))):
        total = counts.select(matches).get((), collections.Counter())
        expect_answer("filter %d %s" % (number, matches.path("funnel")), answer["total"], wanted_counts(total))
        if not matches.by:
            continue
        groups = {g: wanted_counts(c) for g, c in counts.select(matches, matches.by).items() if any(c.values())}
        names = [Filter.PROPERTIES[name] for name in matches.by]
        seen = {tuple(g["group"][n] for n in names): {k: g["counts"][k] for k in wanted_counts(total)} for g in answer["groups"]}
        seen = {g: c for g, c in seen.items() if any(c.values())}
        expect("groups of filter %d %s" % (number, matches.path("funnel")), seen, groups)


def compare_losses(base, counts, filters):
    for number, (matches, answer) in enumerate(zip(filters, answers(base, filters, "losses"))):
        names = [Filter.PROPERTIES[name] for name in matches.by]
        seen = {(l["stage"], l["reason"]) + tuple(l["group"][n] for n in names): l["count"] for l in answer["losses"]}
        wanted = collections.Counter()
        for key, sums in counts.stages.items():
            if not matches(key):
                continue
            group = tuple(getattr(key, name) for name in matches.by)
            for stage in LOSSES:
                explained = 0
                for name, count in counts.reasons[key].items():
                    if name.split(":", 1)[0] == stage:
                        wanted[(stage, name.split(":", 1)[1]) + group] += count
                        explained += count
                wanted[(stage, None) + group] += sums[stage] - explained
        expect("losses of filter %d %s" % (number, matches.path("losses")), seen, {k: v for k, v in wanted.items() if v})


def compare_messages(base, counts, chance):
    """The funnels of messages: all that have counts of their own, and some that are counted from their deliveries."""
    counted = sorted(message for message, row in counts.messages.items() if row["is_counted"] == "t")
    others = sorted(set(counts.messages) - set(counted))
    messages = counted + chance.sample(others, min(5, len(others)))
    with concurrent.futures.ThreadPoolExecutor(3) as lanes:
        found = list(lanes.map(lambda message: call(base, "/v1/messages/" + message), messages))
    for message, answer in zip(messages, found):
        sums = counts.funnels[message]
        wanted = {"reached": sums["accepted"] + sums["uncertain"], "failed": sums["rejected"] + sums["unsendable"]}
        wanted.update({name: sums[name] for name in ("received", "read", "suppressed", "expired", "canceled")})
        expect("funnel of message %s" % message, {name: answer["funnel"][name] for name in wanted}, wanted)


def compare_readings(base, counts, span):
    """Campaigns and versions, which the event reader counts: it may be behind."""
    facts = ["appVersion", "os", "osVersion", "sdkVersion", "model", "locale"]
    by = ",".join(facts)
    end = time.time() + float(os.environ.get("EXACT_READER_SECONDS", "90"))
    while True:
        mark = len(differences)
        for name, names, wanted in [
            ("campaigns", ["app", "campaign", "variant"], counts.campaigns),
            ("versions?by=" + by, facts, counts.versions),
        ]:
            joint = "&" if "?" in name else "?"
            answer = call(base, "/v1/analytics/" + name + joint + span)
            seen = {tuple(g["group"].get(n) for n in names): {k: g[k] for k in ("reached", "received", "read")} for g in answer["groups"]}
            expect(name, seen, {k: {n: v[n] for n in ("reached", "received", "read")} for k, v in wanted.items()})
        if len(differences) == mark or time.time() > end:
            return
        del differences[mark:]
        time.sleep(0.5)


def compare_pushes(control, counts):
    """The push service's own counts. It counts an accepted push once, however often a killed node repeated it."""
    with urllib.request.urlopen(control + "/_simulator/stats", timeout=30) as answer:
        stats = json.load(answer)
    total = sum(counts.stages.values(), collections.Counter())
    repeats = int(os.environ.get("EXACT_REPEATS", "0"))
    # Each push that the service accepted is the first of its delivery or a repeat. If it could not remember some, its counts would be lower bounds.
    expect("pushes accepted", stats["accepted"], stats["distinctPairs"] + stats["repeats"])
    expect("pushes that the push service does not remember", [stats["untracked"], stats["overflowed"]], [0, False])
    # After kills the answer to a push may be lost.
    most = total["accepted"] + (total["uncertain"] if repeats else 0)
    if not total["accepted"] <= stats["distinctPairs"] <= most:
        differences.append("accepted: %s to %s, the push service %s" % (total["accepted"], most, stats["distinctPairs"]))
    for reason, count in stats["rejected"].items():
        # A refusal that a killed node did not record is repeated.
        wanted = counts.pushes[reason] * PERMANENT.get(reason, 0)
        if reason in PERMANENT and not wanted <= count <= wanted + repeats:
            differences.append("%s: %s, the push service %s" % (reason, wanted, count))
    expect("rejections for another reason", sorted(str(reason) for reason in set(counts.refusals) - set(PERMANENT)), [])
    for reason in set(PERMANENT) & set(counts.pushes):
        if reason not in stats["rejected"]:
            differences.append("%s: %s, the push service none" % (reason, counts.pushes[reason]))


def main():
    mode, database, base = sys.argv[1:4]
    chance = random.Random(int(os.environ.get("EXACT_SEED", "1")))
    tables = dict(TABLES, **COUNTER_TABLES) if mode == "snapshot" else TABLES
    counts = Counts()
    with tempfile.TemporaryFile() as file:
        snapshot(database, tables, file)
        for name, rows in tables_of(file):
            counts.read(name, rows)
    filters = [Filter(list(counts.stages), chance, number == 0) for number in range(int(os.environ.get("EXACT_FILTERS", "1000")))]
    if mode == "snapshot":
        for matches in filters[: max(1, len(filters) // 20)]:
            expect_rules(matches.path("funnel"), call(base, matches.path("funnel"))["total"])
        compare_rows(counts, filters)
    else:
        compare_funnels(base, counts, filters)
        compare_losses(base, counts, filters[: max(1, len(filters) // 10)])
        compare_messages(base, counts, chance)
        quarters = [key.quarter for key in counts.stages]
        span = urllib.parse.urlencode({"from": (min(quarters) - 96) * 900_000, "to": (max(quarters) + 97) * 900_000, "zone": "UTC"})
        compare_readings(base, counts, span)
        compare_pushes(sys.argv[4], counts)
    for line in differences[:40]:
        print(line[:1500])
    total = sum(counts.stages.values(), collections.Counter())
    print(
        "%s: %d deliveries, %d filters, %d differences, %s"
        % (mode, total["targets"], len(filters), len(differences), json.dumps({k: v for k, v in sorted(total.items()) if v}))
    )
    sys.exit(1 if differences else 0)


main()
