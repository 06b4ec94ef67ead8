#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes a random provider, a program that fires random events of it, and the list of what it fires.

usage: generate.py SEED EVENT-TYPES EVENTS DIR [known]
known: enums take declared values only.
DIR gets rt.yaml, rt.c, expected.jsonl (a line per event) and fields.json (the declared fields).
"""
import json
import random
import struct
import sys

INTS = {"u8": (1, False), "u16": (2, False), "u32": (4, False), "u64": (8, False),
        "s8": (1, True), "s16": (2, True), "s32": (4, True), "s64": (8, True)}
C_TYPES = {"bool": "bool", "f64": "double", "ptr": "const volatile void *"}
ENUMS = {
    "color": ("s8", {"red": -1, "green": 2, "blue": 127, "black": -128}),
    "big": ("u64", {"huge": 0xFFFFFFFFFFFFFFFF, "small": 1, "zero": 0}),
    "plain": ("u32", {"a": 0, "b": 1, "c": 5}),
    "neg": ("s32", {"low": -2147483648, "high": 2147483647, "mid": 0}),
}
FLAGS = {"mode": ("u32", {"read": 1, "write": 2, "exec": 4, "both": 3}), "wide": ("u64", {"top": 1 << 63, "one": 1})}


class Field:
    """One declared field: how to declare it, to make values, and to write them in C."""
    known = False

    def __init__(self, rng, name):
        self.name, self.max, self.format = name, 1, "dec"
        self.form = rng.choices(["scalar", "array", "sequence", "string", "binary"], [6, 2, 2, 2, 1])[0]
        kinds = list(INTS) + ["bool", "f64", "ptr", "enum", "flags"]
        self.kind = "u8" if self.form in ("string", "binary") else rng.choice(kinds)
        if self.kind == "enum":
            self.type_name = rng.choice(list(ENUMS))
        elif self.kind == "flags":
            self.type_name = rng.choice(list(FLAGS))
        if self.form == "string":
            self.max = rng.randint(2, 64)
        elif self.form in ("binary", "sequence"):
            self.max = rng.randint(1, 40)
        elif self.form == "array":
            self.max = rng.randint(1, 12)
        self._choose_format(rng)

    def _choose_format(self, rng):
        choices = []
        if self.kind in INTS and self.form in ("scalar", "array", "sequence"):
            choices = ["dec", "hex", "oct"]
            if self.kind == "u32" and self.form == "scalar":
                choices.append("ipv4")
            if self.kind == "u8" and self.form == "array":
                special = rng.choice([("ipv4", 4), ("ipv6", 16), ("mac", 6), ("uuid", 16), (None, 0)])
                if special[0]:
                    choices, self.max = [special[0]], special[1]
        if choices:
            self.format = rng.choice(choices)

    def element(self):
        """(bytes, signed) of an integer element."""
        if self.kind in INTS:
            return INTS[self.kind]
        if self.kind in ("enum", "flags"):
            return INTS[(ENUMS if self.kind == "enum" else FLAGS)[self.type_name][0]]
        return {"bool": (1, False), "ptr": (8, False)}[self.kind]

    def type_text(self):
        if self.form in ("string", "binary"):
            return self.form
        base = f"{self.kind} {self.type_name}" if self.kind in ("enum", "flags") else self.kind
        return base + {"scalar": "", "array": f"[{self.max}]", "sequence": "[]"}[self.form]

    def yaml(self):
        text = f'      - {{name: {self.name}, type: "{self.type_text()}"'
        if self.form in ("string", "binary", "sequence"):
            text += f", max: {self.max}"
        if self.format != "dec":
            text += f", format: {self.format}"
        return text + "}\n"

    def counted(self):
        return self.form in ("binary", "sequence")

    def c_element(self):
        if self.kind in C_TYPES:
            return C_TYPES[self.kind]
        size, signed = self.element()
        return f"{'' if signed else 'u'}int{size * 8}_t"

    def c_member(self):
        if self.form == "scalar":
            return f"{self.c_element()} {self.name};"
        if self.form == "string":
            return f"const char *{self.name};"
        member = f"{self.c_element()} const *{self.name};"
        return member + (f" uint32_t {self.name}_len;" if self.counted() else "")

    def one(self, rng):
        """A raw element: an integer, or the 64 bits of a float."""
        if self.kind == "bool":
            return rng.randint(0, 1)
        if self.kind == "f64":
            special = [0, 1 << 63, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 1,
                       0x3FF0000000000000, 0x3FB999999999999A]
            bits = rng.getrandbits(64) if rng.random() < 0.6 else rng.choice(special)
            # A signalling NaN may become a quiet one on its way through a register.
            return bits | 1 << 51 if bits >> 52 & 0x7FF == 0x7FF and bits & ((1 << 52) - 1) else bits
        if self.kind == "enum" and (rng.random() < 0.8 or Field.known):
            return rng.choice(list(ENUMS[self.type_name][1].values()))
        size, signed = self.element()
        edge = [0, 1, (1 << size * 8) - 1, 1 << (size * 8 - 1), (1 << (size * 8 - 1)) - 1]
        value = rng.choice(edge) if rng.random() < 0.3 else rng.getrandbits(size * 8)
        return value - (1 << size * 8) if signed and value >> (size * 8 - 1) else value

    def random(self, rng):
        """(given, recorded): what the program passes and what must come out."""
        if self.form == "scalar":
            value = self.one(rng)
            return value, value
        if self.form == "string":
            return self.random_string(rng)
        n = self.max if self.form == "array" else rng.choice([0, 1, self.max, rng.randint(0, self.max), self.max + 3])
        values = [self.one(rng) for _ in range(n)]
        return values, values[:self.max]

    def random_string(self, rng):
        if rng.random() < 0.05:
            return None, "(null)"[:self.max - 1]
        if rng.random() < 0.1:  # too long: cut
            text = "".join(rng.choice("abcdefgh") for _ in range(self.max + rng.randint(0, 20)))
            return text, text[:self.max - 1]
        alphabet = "abc XYZ\"\\\n\t\x01\x7f{}%=,;äß€𝄞"
        text = ""
        while rng.random() < 0.9:
            longer = text + rng.choice(alphabet)
            if len(longer.encode()) > self.max - 1:
                break
            text = longer
        return text, text

    def c_one(self, value):
        if self.kind == "f64":
            return f"bits({value:#x}ull)"
        if self.kind == "bool":
            return str(value)
        if self.kind == "ptr":
            return f"(const void *){value:#x}ull"
        size, signed = self.element()
        if signed:
            return "INT64_MIN" if value == -(1 << 63) else f"{value}ll"
        return f"{value}ull"

    def c_value(self, value):
        if self.form == "scalar":
            return self.c_one(value)
        if self.form == "string":
            if value is None:
                return "NULL"
            return '"' + "".join(f"\\{byte:03o}" for byte in value.encode()) + '"'
        elements = ", ".join(self.c_one(one) for one in value) or "0"
        text = f"(const {self.c_element()}[]){{{elements}}}".replace("const const", "const")
        if self.kind == "ptr":
            text = f"(const volatile void *const[]){{{elements}}}"
        return text + (f", {len(value)}" if self.counted() else "")

    def describe(self):
        names = {"enum": ENUMS, "flags": FLAGS}.get(self.kind, {}).get(getattr(self, "type_name", ""), ("", {}))[1]
        size = 8 if self.kind == "f64" else self.element()[0]
        return {"name": self.name, "kind": self.kind, "form": self.form, "format": self.format, "size": size,
                "names": names}


def yaml_of(events):
    text = "# SPDX-License-Identifier: MIT\nprovider: rt\ndoc: Random events.\nenums:\n"
    for name, (base, values) in ENUMS.items():
        text += f"  {name}: {{type: {base}, values: {json.dumps(values)}}}\n"
    text += "flags:\n"
    for name, (base, values) in FLAGS.items():
        text += f"  {name}: {{type: {base}, values: {json.dumps(values)}}}\n"
    text += "events:\n"
    for name, (fields, bare) in events.items():
        text += f"  - name: {name}\n    doc: Random.\n"
        if bare:
            text += "    states: [marker]\n"
        if fields:
            text += "    fields:\n" + "".join(field.yaml() for field in fields)
    return text


def program_of(events, calls):
    out = ["/* SPDX-License-Identifier: MIT */", "#include <stdbool.h>", "#include <stdint.h>", "#include <string.h>",
           '#include "gkhi_rt.h"', "",
           "#define bits(b) (((union { uint64_t u; double d; }){ .u = (b) }).d)", ""]
    for name, (fields, _) in events.items():
        out.append(f"struct {name} {{ {' '.join(f.c_member() for f in fields)} char none; }};")
        args = []
        for f in fields:
            args += [f"v->{f.name}"] + ([f"v->{f.name}_len"] if f.counted() else [])
        out.append(f"static __attribute__((noinline)) void fire_{name}(const struct {name} *v)")
        out.append(f"{{ (void)v; gkhi_rt_{name}({', '.join(args)}); }}")
    # In functions of 250 calls: compilers do not like one of 10 000.
    chunks = [calls[i:i + 250] for i in range(0, len(calls), 250)]
    for i, chunk in enumerate(chunks):
        out.append(f"static __attribute__((noinline)) void chunk_{i}(void)\n{{")
        for name, given in chunk:
            values = ", ".join(f.c_value(v) for f, v in zip(events[name][0], given))
            out.append(f"\tfire_{name}(&(const struct {name}){{ {values}{', ' if values else ''}0 }});")
        out.append("}")
    out.append("int main(void)\n{")
    out += [f"\tchunk_{i}();" for i in range(len(chunks))]
    out.append("\treturn 0;\n}")
    return "\n".join(out) + "\n"


def main():
    seed, n_types, n_events, directory = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    rng = random.Random(seed)
    Field.known = sys.argv[5:] == ["known"]
    events = {}
    for i in range(n_types):
        fields = [Field(rng, f"f{k}") for k in range(rng.choice([0, 1, 2, 3, 4, 6, 9]))]
        events[f"e{i}"] = (fields, rng.random() < 0.15)
    calls, expected = [], []
    for _ in range(n_events):
        name = rng.choice(list(events))
        pairs = [field.random(rng) for field in events[name][0]]
        calls.append((name, [given for given, _ in pairs]))
        expected.append({"event": name, "bare": events[name][1], "values": [recorded for _, recorded in pairs]})
    with open(f"{directory}/rt.yaml", "w", encoding="utf-8") as file:
        file.write(yaml_of(events))
    with open(f"{directory}/rt.c", "w", encoding="utf-8") as file:
        file.write(program_of(events, calls))
    with open(f"{directory}/fields.json", "w", encoding="utf-8") as file:
        json.dump({name: [f.describe() for f in fields] for name, (fields, _) in events.items()}, file)
    with open(f"{directory}/expected.jsonl", "w", encoding="utf-8") as file:
        for line in expected:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
