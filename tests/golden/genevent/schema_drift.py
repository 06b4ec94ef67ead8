#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Editors (JSON Schema) and genevent agree on every fixture: schema_drift.py GENEVENT GOLDEN_DIR

What a schema cannot express (duplicate keys, references between values, ...) is listed in schema-blind.txt, one
fixture per line with the reason. An entry that the schema does reject is an error too: the list stays honest.
"""
import json
import pathlib
import subprocess
import sys

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    """The common reader: YAML 1.1, no time stamps."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def schema_accepts(validator, path):
    try:
        document = yaml.load(path.read_bytes(), Loader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return False
    return validator.is_valid(document)


def main():
    genevent, golden = sys.argv[1], pathlib.Path(sys.argv[2])
    schema = json.loads(subprocess.run([genevent, "schema"], check=True, capture_output=True).stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    blind = {}
    for line in (golden / "schema-blind.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, reason = line.split(None, 1)
            blind[name] = reason
    wrong = []
    fixtures = sorted(p for folder in ("pass", "fail", "compat") for p in (golden / folder).glob("*.yaml"))
    for path in fixtures:
        accepted = subprocess.run([genevent, "check", path], capture_output=True).returncode == 0
        schema_says = schema_accepts(validator, path)
        if accepted != (path.parent.name != "fail"):
            wrong.append(f"{path.name}: genevent {'accepts' if accepted else 'refuses'} it")
        if path.stem in blind and path.parent.name == "fail":
            if not schema_says:
                wrong.append(f"{path.name}: in schema-blind.txt, but the schema does refuse it")
        elif schema_says != accepted:
            wrong.append(f"{path.name}: genevent {'accepts' if accepted else 'refuses'}, the schema does not agree")
    unknown = set(blind) - {p.stem for p in fixtures}
    wrong += [f"schema-blind.txt: no fixture '{name}'" for name in sorted(unknown)]
    print("\n".join(wrong) if wrong else f"{len(fixtures)} fixtures: genevent and the schema agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
