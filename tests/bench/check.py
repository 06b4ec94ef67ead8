#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the form of a benchmark's JSON: check.py FILE [--targets]. With --targets, print what each row had to reach.

Exits 1 when the form is wrong, never for a missed target: those are for people to read.
"""
import argparse
import json
import math
import sys

import rows

KEYS = ["name", "value", "unit", "baseline", "ratio"]


def problems(data):
    if not isinstance(data, list):
        yield f"found {type(data).__name__}, wanted a list of rows"
        return
    seen = set()
    for i, r in enumerate(data):
        if not isinstance(r, dict) or list(r) != KEYS:
            yield f"row {i}: found {list(r) if isinstance(r, dict) else r!r}, wanted the keys {KEYS}"
            continue
        name = r["name"]
        where = f"row {i} ({name})"
        if not isinstance(name, str) or not name:
            yield f"{where}: found {name!r}, wanted a name"
        elif name in seen:
            yield f"{where}: the name is there twice"
        seen.add(name)
        if not isinstance(r["unit"], str) or not r["unit"]:
            yield f"{where}: found unit {r['unit']!r}, wanted a text"
        for key in ("value", "baseline", "ratio"):
            v = r[key]
            if v is not None and (isinstance(v, bool) or not isinstance(v, (int, float)) or not math.isfinite(v)):
                yield f"{where}: found {key} {v!r}, wanted a number or null"
        if r["value"] is None and not str(r["unit"]).startswith("skipped: "):
            yield f"{where}: value is null and the unit does not say 'skipped: REASON'"
    for name in rows.REQUIRED:
        if name not in seen:
            yield f"the row {name} is missing"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--targets", action="store_true", help="print targets and verdicts")
    args = parser.parse_args()
    try:
        with open(args.file, encoding="utf-8") as f:
            data = json.load(f)
    except (OSError, ValueError) as error:
        print(f"check.py: {args.file}: {error}", file=sys.stderr)
        return 1
    found = list(problems(data))
    for text in found:
        print(f"check.py: {args.file}: {text}", file=sys.stderr)
    if found:
        return 1
    if args.targets:
        for r in data:
            goal = rows.target(r["name"])
            if goal:
                print(f"{r['name']}: {goal[2]} {r[goal[2]]} wanted {'<=' if goal[1] == 'over' else '>='} {goal[0]}: {rows.verdict(r)}")
    print(f"{args.file}: {len(data)} rows, form is right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
