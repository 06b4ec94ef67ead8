#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the tests that a run of ctest skipped, each with its reason.

    skipped.py RESULTS PRESET [LIST]        LIST: tests/skips.txt

RESULTS comes from ctest --output-junit, with --test-output-size-passed large enough for all output: a program that runs
many tests, and a script of many parts, pass though they skipped some. With CI in the environment every skip must stand in LIST, and have said
why; a line of LIST that names no test of this run is a mistake too. LIST's lines are three columns, the last one free text:

    PRESET TEST REASON      preset and test are globs
"""
import fnmatch
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

GTEST = re.compile(r"^\[  SKIPPED \] ([\w./]+) \(\d+ ms\)$", re.M)
GTEST_REASON = re.compile(r"^\S+:\d+: Skipped\n(.+)$", re.M)
REASON = re.compile(r"^skipped: *(.+)$", re.M)


def skipped_in(case):
    """Pairs of a name and a reason, which is empty where none was given."""
    name, output = case.get("name"), case.findtext("system-out") or ""
    inner = GTEST.findall(output)
    if case.find("skipped") is None:
        # gtest prints the reason in front of each.
        parts = GTEST.split(output)[::2]
        for test, part in zip(inner, parts):
            reasons = GTEST_REASON.findall(part)
            yield f"{name}/{test}", reasons[-1] if reasons else ""
        # A script that left out a part of itself.
        for reason in REASON.findall(output):
            yield f"{name}/part", reason
        return
    reasons = (GTEST_REASON if inner else REASON).findall(output)
    yield name, reasons[-1] if reasons else ""


def read_list(path, preset):
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = line.split(None, 2)
        if len(columns) != 3:
            sys.exit(f"{path}:{number}: found {len(columns)} columns, wanted 3: preset, test, reason")
        if fnmatch.fnmatchcase(preset, columns[0]):
            yield number, columns[1]


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    results, preset = sys.argv[1:3]
    path = sys.argv[3] if len(sys.argv) == 4 else pathlib.Path(__file__).parent.parent / "tests/skips.txt"
    cases = list(xml.parse(results).getroot().iter("testcase"))
    if not cases:
        sys.exit(f"{results}: no test in it")
    skipped = [pair for case in cases for pair in skipped_in(case)]
    names = [case.get("name") for case in cases] + [name for name, _ in skipped]
    listed = list(read_list(path, preset))
    bad = []
    for name, reason in sorted(skipped):
        known = any(fnmatch.fnmatchcase(name, glob) for _, glob in listed)
        print(f"  skipped: {name}: {reason or 'no reason given'}" + ("" if known else " (not in skips.txt)"))
        if not known or not reason:
            bad.append(name)
    print(f"{len(skipped)} of {len(cases)} tests skipped in {preset}")
    if not os.environ.get("CI"):
        return 0
    for name in bad:
        print(f"skipped.py: {name} was skipped, wanted every test run, or a reason and a line in {path}", file=sys.stderr)
    stale = [number for number, glob in listed if not any(fnmatch.fnmatchcase(name, glob) for name in names)]
    for number in stale:
        print(f"{path}:{number}: names no test of {preset}", file=sys.stderr)
    return 1 if bad or stale else 0


if __name__ == "__main__":
    sys.exit(main())
