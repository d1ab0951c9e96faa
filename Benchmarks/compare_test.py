"""Tests of compare.py's arithmetic, and of its runs with programs that only print."""

import contextlib
import io
import os
import stat
import tempfile
import unittest

import compare


def calls(register, read):
    return {"register (new)": {"ratioToHello": register}, "read": {"ratioToHello": read}}


class FigureTests(unittest.TestCase):
    def test_the_median_is_compared_with_the_bar(self):
        self.assertTrue(compare.Figure("a", [0.5, 0.9, 0.98], 0.9).passes)
        self.assertFalse(compare.Figure("a", [0.89, 0.5, 2], 0.9).passes)
        self.assertTrue(compare.Figure("a", [1.5], 1.5, is_ceiling=True).passes)
        self.assertFalse(compare.Figure("a", [1.51], 1.5, is_ceiling=True).passes)
        self.assertTrue(compare.Figure("a", [0.1]).passes)

    def test_calls_have_the_bar_of_their_kind(self):
        figures = compare.calls_figures([calls(0.36, 0.5)], [])
        self.assertEqual([(figure.name, figure.passes) for figure in figures],
                         [("register (new), of hello-world", True), ("read, of hello-world", False)])

    def test_a_call_is_compared_with_the_commit_before(self):
        figures = compare.calls_figures([calls(0.4, 0.6), calls(0.5, 0.6)], [calls(0.4, 0.7), calls(0.5, 0.7)])
        named = {figure.name: figure for figure in figures}
        self.assertTrue(named["register (new), of before"].passes)
        self.assertFalse(named["read, of before"].passes)
        self.assertAlmostEqual(named["read, of before"].median, 0.6 / 0.7)
        # A call that the commit before does not have.
        figures = compare.calls_figures([calls(0.4, 0.6)], [{"read": {"ratioToHello": 0.6}}])
        self.assertEqual([figure.name for figure in figures if "before" in figure.name], ["read, of before"])

    def test_deliveries(self):
        new = {"ratioToCeiling": 0.81, "perSecond": 96, "postgresCpuMicroseconds": 14, "rssMiB": 101}
        old = {"ratioToCeiling": 0.84, "perSecond": 100, "postgresCpuMicroseconds": 16, "rssMiB": 90}
        self.assertEqual([figure.passes for figure in compare.deliver_figures([new], [])], [True, False])
        self.assertEqual([figure.passes for figure in compare.deliver_figures([new], [old])], [True, False, False, True])

    def test_the_time_per_delivery_may_not_grow_with_the_devices(self):
        rates = {10_000: 70, 100_000: 100, 1_000_000: 100, 10_000_000: 80}
        figures = compare.scale_figures({devices: {"perSecond": rate} for devices, rate in rates.items()})
        self.assertEqual([figure.passes for figure in figures], [True, True, False])

    def test_webhooks(self):
        results = [{"order": "log", "perSecond": 5}, {"order": "device", "perSecond": 20_001}, {"campaignRatio": 0.89}]
        self.assertEqual([figure.passes for figure in compare.webhook_figures(results)], [True, False])

    def test_imports(self):
        def result(ratio, rate, memory):
            return {"ratiosToCSV": dict.fromkeys(compare.FORMATS, ratio), "perSecond": rate, "rssMiB": 40,
                    "rssMiBOfFormats": dict.fromkeys(compare.FORMATS, memory)}

        figures = compare.import_figures([result(0.61, 100, 50), result(0.6, 100, 52)], [], result(0.5, 100, 84))
        self.assertEqual([figure.passes for figure in figures], [True] * 7)
        figures = compare.import_figures([result(0.59, 96, 50)], [{"perSecond": 100}], result(0.7, 100, 83))
        self.assertEqual([figure.passes for figure in figures], [False] * 4 + [True] + [False] * 3)

    def test_compressed_imports_have_names_of_their_own(self):
        result = {"ratiosToCSV": dict.fromkeys(compare.FORMATS, 0.6), "perSecond": 1, "rssMiB": 40, "rssMiBOfFormats": dict.fromkeys(compare.FORMATS, 40)}
        plain, zipped = ([figure.name for figure in compare.import_figures([result], [], result, kind)] for kind in compare.IMPORT_KINDS)
        self.assertIn("import of gzip braze, of gzip CSV", zipped)
        self.assertEqual(len(set(plain + zipped)), 14)

    def test_parity(self):
        self.assertTrue(compare.parity_figures({"ratioToWithout": 1.1})[0].passes)
        self.assertFalse(compare.parity_figures({"ratioToWithout": 1.11})[0].passes)

    def test_the_order_of_pairs_alternates(self):
        order = []
        results = compare.pairs(3, "new", "old", lambda directory: order.append(directory) or directory)
        self.assertEqual(order, ["old", "new", "new", "old", "old", "new"])
        self.assertEqual(results, (["new"] * 3, ["old"] * 3))
        self.assertEqual(compare.pairs(2, "new", None, lambda directory: directory), (["new"] * 2, []))


class RunTests(unittest.TestCase):
    def program(self, script):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "push-gateway")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(path, stat.S_IRWXU)
        return folder.name

    def outcome(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            status = compare.main(list(arguments))
        return status, out.getvalue()

    def test_a_bench_beyond_its_own_limit_is_a_missed_bar(self):
        folder = self.program("""echo '{"acceptP99Ratio":1.2,"acceptToPushP99Ratio":1.8}'; exit 1\n""")
        status, text = self.outcome("bodies", "--programs", folder)
        self.assertEqual(status, 1)
        self.assertRegex(text, r"accept p99 during large bodies, of without +1\.200 .* yes")
        self.assertRegex(text, r"accept to push p99 .* 1\.800 .* NO")

    def test_a_bench_that_fails_ends_the_run(self):
        folder = self.program("exit 1\n")
        with self.assertRaises(SystemExit) as ending:
            self.outcome("deliver", "--programs", folder, "--pairs", "1")
        self.assertIn("status 1", str(ending.exception))

    def importing(self, plain, zipped):
        """A program whose imports have these ratios to CSV, and that adds its arguments to the file `calls` next to it."""
        line = ('{"ratiosToCSV":{"map":$ratio,"braze":$ratio,"notificationhubs":$ratio},"perSecond":100,"rssMiB":40,'
                '"rssMiBOfFormats":{"map":50,"braze":50,"notificationhubs":50}}')
        script = 'echo "$*" >>"${0%/*}/calls"\nratio=' + plain + '\ncase "$*" in *--gzip*) ratio=' + zipped + ' ;; esac\n'
        return self.program(script + "cat <<END\n" + line + "\nEND\n")

    def calls(self, folder):
        with open(os.path.join(folder, "calls")) as file:
            return file.read().splitlines()

    def test_imports_of_compressed_files_have_the_same_bar(self):
        for plain, zipped, missed in [("0.61", "0.6", None), ("0.7", "0.59", "gzip braze, of gzip CSV"), ("0.59", "0.7", "braze, of CSV")]:
            folder = self.importing(plain, zipped)
            status, text = self.outcome("import", "--programs", folder, "--pairs", "1")
            self.assertEqual(status, 0 if missed is None else 1, text)
            if missed is not None:
                self.assertRegex(text, "import of " + missed + r" .* NO\n")
            # Each form at each of the two numbers of rows.
            calls = self.calls(folder)
            self.assertEqual([len(calls), sum("--gzip" in call for call in calls)], [4, 2])
            self.assertEqual(sum("--rows 1000000" in call for call in calls), 2)

    def test_the_commit_before_imports_plain_csv_only(self):
        new, old = self.importing("0.7", "0.7"), self.importing("0.7", "0.7")
        status, text = self.outcome("import", "--programs", new, "--before-programs", old, "--pairs", "1")
        self.assertEqual(status, 0, text)
        self.assertEqual(text.count("of before"), 1)
        self.assertEqual([("--gzip" in call, "--formats" in call) for call in self.calls(old)], [(False, False)])

    def test_a_start_ends_with_its_address_file(self):
        script = """while [ "$1" != --address-file ]; do shift; done; sleep 0.05; echo '{}' >"$2"; exec sleep 60\n"""
        status, text = self.outcome("start", "--programs", self.program(script))
        self.assertEqual(status, 0)
        self.assertRegex(text, r"start on an empty database, seconds +0\.")

    def test_a_gateway_that_does_not_start_ends_the_run(self):
        with self.assertRaises(SystemExit) as ending:
            self.outcome("start", "--programs", self.program("echo no database; exit 1\n"))
        self.assertIn("no database", str(ending.exception))

    def test_two_programs_are_measured(self):
        line = """echo progress; echo '{{"call":"read","ratioToHello":{}}}'\n"""
        new, old = self.program(line.format(0.6)), self.program(line.format(0.5))
        status, text = self.outcome("calls", "--programs", new, "--before-programs", old, "--pairs", "2")
        self.assertEqual(status, 0)
        self.assertRegex(text, r"read, of before +1\.200")


if __name__ == "__main__":
    unittest.main()
