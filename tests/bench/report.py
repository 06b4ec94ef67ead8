#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make build/bench/user.json and its table of what the benchmark programs measured: report.py DIR OUT_JSON.

DIR holds raw.json (gkhi-bench) and, as far as they ran, *.rows: lines "name value unit baseline", the last one "-" for none, or
"name - skipped: reason". Ratios are made inside each pass and then the median is taken, so that noise hits both sides.
"""
import json
import pathlib
import statistics
import sys

import rows


def ratio_rows(raw):
    figures = {(r["variant"], r["threads"], r["cache"]): r["ns"] for r in raw["results"]}
    out, spreads = [], {}
    for name, (variant, baseline, _, _) in rows.RATIOS.items():
        for suffix, (threads, cache) in rows.CONDITIONS.items():
            ours, base = figures.get((variant, threads, cache)), figures.get((baseline, threads, cache))
            if ours is None or base is None:
                few = f"needs {threads} cpus, has {raw['cpus']}" if threads > raw["cpus"] else "not measured"
                why = raw["skipped"].get(variant) or raw["skipped"].get(baseline) or few
                out.append(skipped(name + suffix, why))
                continue
            ratios = [a / b for a, b in zip(ours, base) if b > 0]
            if not ratios:
                out.append(skipped(name + suffix, "the baseline is not measurable"))
                continue
            spreads[name + suffix] = (min(ratios), max(ratios))
            out.append(row(name + suffix, statistics.median(ours), "ns/event", statistics.median(base), statistics.median(ratios)))
    return out, spreads


def row(name, value, unit, baseline, ratio):
    def rounded(x):
        return None if x is None else float(f"{x:.4g}")

    return {"name": name, "value": rounded(value), "unit": unit, "baseline": rounded(baseline), "ratio": rounded(ratio)}


def skipped(name, why):
    return {"name": name, "value": None, "unit": f"skipped: {why}", "baseline": None, "ratio": None}


def file_rows(path):
    for line in path.read_text().splitlines():
        name, value, rest = line.split(" ", 2)
        if value == "-":
            yield skipped(name, rest.removeprefix("skipped: "))
            continue
        unit, baseline = rest.rsplit(" ", 1)
        base = None if baseline == "-" else float(baseline)
        yield row(name, float(value), unit, base, None if not base else float(value) / base)


def table(all_rows, spreads):
    head = ("row", "value", "unit", "baseline", "ratio", "spread", "target", "")
    lines = [head]
    for r in all_rows:
        goal = rows.target(r["name"])
        limit = "" if goal is None else f"{'<=' if goal[1] == 'over' else '>='} {goal[0]:g}"
        spread = "{:.2f}-{:.2f}".format(*spreads[r["name"]]) if r["name"] in spreads else ""
        cells = ["" if r[k] is None else f"{r[k]:.4g}" for k in ("value", "baseline", "ratio")]
        lines.append((r["name"], cells[0], r["unit"], cells[1], cells[2], spread, limit, rows.verdict(r)))
    widths = [max(len(line[i]) for line in lines if not line[2].startswith("skipped:") or i != 2) for i in range(len(head))]
    right = {1, 3, 4}
    return "\n".join(
        "  ".join(c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths))).rstrip()
        for line in lines
    )


def main():
    directory, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    raw = json.loads((directory / "raw.json").read_text())
    all_rows, spreads = ratio_rows(raw)
    for path in sorted(directory.glob("*.rows")):
        all_rows.extend(file_rows(path))
    order = {name: i for i, name in enumerate(rows.REQUIRED)}
    all_rows.sort(key=lambda r: order.get(r["name"], len(order)))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("[\n" + ",\n".join(" " + json.dumps(r) for r in all_rows) + "\n]\n")
    text = table(all_rows, spreads)
    output.with_suffix(".txt").write_text(text + "\n")
    print(text)
    counts = {v: sum(rows.verdict(r) == v for r in all_rows) for v in ("pass", "miss", "skipped")}
    print(f"\n{raw['passes']} passes of {raw['rounds']} slices on {raw['cpus']} cpus, TSC {raw['tsc_ghz']:.2f} GHz;"
          f" targets: {counts['pass']} pass, {counts['miss']} miss; {counts['skipped']} rows skipped")
    print(f"written to {output}")


if __name__ == "__main__":
    main()
