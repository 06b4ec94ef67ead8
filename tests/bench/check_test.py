#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py accepts what report.py writes and names every fault; report.py's ratios and verdicts are right."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import report  # noqa: E402
import rows  # noqa: E402


def raw(ours, floor, cpus=2):
    results = []
    for threads in (1, 2):
        for cache in ("hot", "cold"):
            for variant, base, _, _ in rows.RATIOS.values():
                results.append({"variant": variant, "threads": threads, "cache": cache, "ns": ours})
                results.append({"variant": base, "threads": threads, "cache": cache, "ns": floor})
    return {"tsc_ghz": 2.0, "cpus": cpus, "passes": len(ours), "rounds": 1, "results": results, "skipped": {}}


class Form(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.dir.name)
        self.addCleanup(self.dir.cleanup)

    def check(self, data):
        file = self.path / "user.json"
        file.write_text(data if isinstance(data, str) else json.dumps(data))
        done = subprocess.run([HERE / "check.py", file], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr.replace(str(file), "FILE")

    def good(self):
        return [report.row(name, 1, "x", 2, 0.5) for name in rows.REQUIRED]

    def test_report_is_accepted(self):
        (self.path / "raw.json").write_text(json.dumps(raw([10.0, 12.0, 11.0], [10.0, 10.0, 10.0])))
        (self.path / "a.rows").write_text("user.switch_10k_ms 0.5 ms -\nuser.disabled - skipped: no valgrind here\n")
        out = self.path / "out" / "user.json"
        done = subprocess.run([HERE / "report.py", self.path, out], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.check(out.read_text()), (0, ""))
        by_name = {r["name"]: r for r in json.loads(out.read_text())}
        self.assertEqual(by_name["user.switch_10k_ms"]["value"], 0.5)
        self.assertEqual(by_name["user.disabled"]["unit"], "skipped: no valgrind here")
        self.assertIn("no valgrind here", done.stdout)

    def test_ratio_is_the_median_of_passes(self):
        data = raw([10.0, 30.0, 11.0], [10.0, 10.0, 10.0])
        data["results"] = [r for r in data["results"] if r["variant"] in ("pair_static", "floor")]
        data["results"] = [{**r, "ns": [10.0, 30.0, 11.0] if r["variant"] == "pair_static" else [10.0] * 3} for r in data["results"]]
        out, spreads = report.ratio_rows(data)
        self.assertEqual(next(r for r in out if r["name"] == "user.static")["ratio"], 1.1)
        self.assertEqual(spreads["user.static"], (1.0, 3.0))
        self.assertEqual(next(r for r in out if r["name"] == "user.marker")["unit"], "skipped: not measured")

    def test_one_cpu(self):
        data = raw([1.0], [1.0], cpus=1)
        data["results"] = [r for r in data["results"] if r["threads"] == 1]
        out, _ = report.ratio_rows(data)
        self.assertEqual(next(r for r in out if r["name"] == "user.static.2thr")["unit"], "skipped: needs 2 cpus, has 1")

    def test_verdicts(self):
        self.assertEqual(rows.verdict(report.row("user.static", 9, "ns/event", 8, 1.15)), "pass")
        self.assertEqual(rows.verdict(report.row("user.static.2thr", 9, "ns/event", 8, 1.16)), "miss")
        self.assertEqual(rows.verdict(report.row("user.vs_lttng_ust", 9, "ns/event", 2, 4.9)), "miss")
        self.assertEqual(rows.verdict(report.row("user.switch_10k_ms", 1.1, "ms", None, None)), "miss")
        self.assertEqual(rows.verdict(report.row("user.static.cold", 9, "ns/event", 1, 9)), "")
        self.assertEqual(rows.verdict(report.skipped("user.static", "why")), "skipped")

    def test_faults_are_named(self):
        good = self.good()
        self.assertEqual(self.check(good), (0, ""))
        for data, text in (
            ({}, "FILE: found dict, wanted a list of rows"),
            ("[", "FILE: Expecting value"),
            ([{"name": "x"}] + good, "FILE: row 0: found ['name'], wanted the keys ['name', 'value', 'unit', 'baseline', 'ratio']"),
            (good + good[:1], f"FILE: row {len(good)} (user.static): the name is there twice"),
            (good[1:], "FILE: the row user.static is missing"),
            ([{**good[0], "value": "1"}] + good[1:], "FILE: row 0 (user.static): found value '1', wanted a number or null"),
            ([{**good[0], "ratio": True}] + good[1:], "FILE: row 0 (user.static): found ratio True, wanted a number or null"),
            ([{**good[0], "value": None}] + good[1:],
             "FILE: row 0 (user.static): value is null and the unit does not say 'skipped: REASON'"),
            ([{**good[0], "unit": ""}] + good[1:], "FILE: row 0 (user.static): found unit '', wanted a text"),
        ):
            code, error = self.check(data)
            self.assertEqual(code, 1)
            self.assertIn("check.py: " + text, error)


if __name__ == "__main__":
    unittest.main()
