#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every relative link of the project's pages leads to something: files and headings. Paths in the text exist, too.

    links_test.py SOURCE_DIR
"""
import pathlib
import re
import sys

FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
LINK = re.compile(r"\[[^][]*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?) *$", re.M)
ROOMS = "backends|clang-plugin|cmake|docs|examples|genevent|hooks|kmod|schemas|scripts|tests|userspace"
PATH = re.compile(rf"(?<![\w./<$*-])((?:{ROOMS})/[\w./-]*\w)(?![\w*<{{/])")


def anchors(page):
    """As GitHub makes them."""
    return {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in HEADING.findall(FENCE.sub("", page.read_text()))}


def bad_links(source, page):
    text = FENCE.sub(lambda match: "\n" * match.group().count("\n"), page.read_text())
    for match in LINK.finditer(text):
        target, _, anchor = match.group(1).partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = page.parent / target if target else page
        if not path.exists():
            yield match, f"no {path.relative_to(source) if path.is_relative_to(source) else path}"
        elif anchor and anchor not in anchors(path):
            yield match, f"no heading '#{anchor}' in {path.name}"
    for match in PATH.finditer(text):
        if not (source / match.group(1)).exists():
            yield match, f"no {match.group(1)}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1]).resolve()
    pages = [page for page in source.rglob("*.md") if not {"build", "golden"} & set(page.relative_to(source).parts)]
    if not pages:
        sys.exit("links_test.py: found no page")
    bad = 0
    for page in sorted(pages):
        for match, what in bad_links(source, page):
            line = match.string.count("\n", 0, match.start()) + 1
            print(f"{page.relative_to(source)}:{line}: {what}")
            bad += 1
    print(f"{len(pages)} pages, {bad} bad links")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
