#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Holds two readers of one trace against what was fired: `gkhi report --json` and babeltrace2 (its Python bindings).

usage: compare.py GKHI DIR TRACE static|marker
Every event in order, every field, bit for bit; nothing more and nothing less.
"""
import ipaddress
import json
import math
import struct
import subprocess
import sys
import uuid

import bt2


def floating(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def same_float(found, bits):
    wanted = floating(bits)
    if math.isnan(wanted):
        return math.isnan(found)
    return struct.pack("<d", found) == struct.pack("<d", wanted)


def flags_text(value, names):
    parts = []
    for name, mask in names.items():
        if mask and value & mask == mask:
            parts.append(name)
            value &= ~mask
    if value:
        parts.append(hex(value))
    return "|".join(parts) or "0"


def json_one(field, value):
    """The JSON that docs/format-trace.md promises for one raw element."""
    kind = field["kind"]
    if kind == "bool":
        return bool(value)
    if kind == "ptr":
        return hex(value)
    if kind == "f64":
        wanted = floating(value)
        if math.isnan(wanted):
            return ("nan", "-nan")
        return ("-inf" if wanted < 0 else "inf",) if math.isinf(wanted) else wanted
    if kind == "enum":
        for name, number in field["names"].items():
            if number == value:
                return name
        return value
    if kind == "flags":
        return flags_text(value, field["names"])
    return value


def json_wanted(field, value):
    if field["form"] == "string":
        return value
    if field["form"] == "binary":
        return bytes(value).hex()
    if field["format"] == "ipv4":
        return str(ipaddress.IPv4Address(bytes(value) if isinstance(value, list) else struct.pack("<I", value)))
    if field["format"] == "ipv6":
        return ipaddress.IPv6Address(bytes(value))
    if field["format"] == "mac":
        return bytes(value).hex(":")
    if field["format"] == "uuid":
        return str(uuid.UUID(bytes=bytes(value)))
    return [json_one(field, one) for one in value] if isinstance(value, list) else json_one(field, value)


def json_same(found, wanted):
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(json_same, found, wanted))
    if isinstance(wanted, tuple):
        return found in wanted
    if isinstance(wanted, ipaddress.IPv6Address):
        return ipaddress.IPv6Address(found) == wanted
    if isinstance(wanted, float):
        return isinstance(found, (int, float)) and struct.pack("<d", float(found)) == struct.pack("<d", wanted)
    return type(found) is type(wanted) and found == wanted


def check_gkhi(gkhi, trace, fields, expected):
    report = subprocess.run([gkhi, "report", "--json", "--strict", trace], capture_output=True, check=True)
    lines = report.stdout.decode().splitlines()
    wanted_end = f"# {len(expected)} events, no event lost\n"
    assert report.stderr.decode() == wanted_end, f"gkhi report says {report.stderr.decode()!r}, wanted {wanted_end!r}"
    assert len(lines) == len(expected), f"gkhi report: {len(lines)} events, wanted {len(expected)}"
    for i, (line, event) in enumerate(zip(lines, expected)):
        record = json.loads(line)
        assert record["event"] == event["event"], f"gkhi: event {i}: {record['event']}, wanted {event['event']}"
        declared = fields[event["event"]]
        assert list(record["fields"]) == [f["name"] for f in declared], f"gkhi: event {i}: {line}"
        for field, value in zip(declared, event["values"]):
            found, wanted = record["fields"][field["name"]], json_wanted(field, value)
            assert json_same(found, wanted), f"gkhi: event {i} {field}: found {found!r}, wanted {wanted!r}"


def bt2_same(field, found, value):
    if field["form"] == "string":
        # babeltrace2 2.0.4 leaves the text of an earlier event behind an empty string; its length is right.
        return (str(found) if len(found) else "") == value
    if isinstance(value, list):
        return len(found) == len(value) and all(bt2_same({**field, "form": "scalar"}, f, v) for f, v in zip(found, value))
    return same_float(float(found), value) if field["kind"] == "f64" else int(found) == value


def check_babeltrace(trace, fields, expected):
    n = 0
    for message in bt2.TraceCollectionMessageIterator(trace):
        if type(message) is not bt2._EventMessageConst:
            assert "Discarded" not in type(message).__name__, f"babeltrace2: {message}"
            continue
        assert n < len(expected), f"babeltrace2: more than {len(expected)} events"
        event = expected[n]
        assert message.event.name == "rt:" + event["event"], f"babeltrace2: event {n}: {message.event.name}"
        for field, value in zip(fields[event["event"]], event["values"]):
            found = message.event.payload_field[field["name"]]
            assert bt2_same(field, found, value), f"babeltrace2: event {n} {field}: found {found}, wanted {value!r}"
        n += 1
    assert n == len(expected), f"babeltrace2: {n} events, wanted {len(expected)}"


def main():
    gkhi, directory, trace, state = sys.argv[1:5]
    with open(f"{directory}/fields.json", encoding="utf-8") as file:
        fields = json.load(file)
    with open(f"{directory}/expected.jsonl", encoding="utf-8") as file:
        expected = [json.loads(line) for line in file]
    if state == "static":  # a bare marker has no static state
        expected = [event for event in expected if not event["bare"]]
    check_gkhi(gkhi, trace, fields, expected)
    check_babeltrace(trace, fields, expected)
    print(f"{state}: {len(expected)} events, every field the same in gkhi report and babeltrace2")


if __name__ == "__main__":
    main()
