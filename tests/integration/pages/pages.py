#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs what a page shows, and holds what it shows against what comes.

    pages.py SOURCE BUILD PAGE          e.g. docs/tasks/record.md
    pages.py SOURCE BUILD README.md demo    its `make demo`

Each ```console block is a terminal: what stands behind "$ " is run by bash, in one folder per page, with build/ in it; the
lines below must be what it prints. "..." stands for any number of lines, "^C" for an interrupt after two seconds. Numbers may
differ, but in the README's own program the counts may not. 4711 is the pid of ./server, which runs in the background, unless
the page itself starts one. A ```c or ```yaml block of the README must stand so in examples/hello/.
Every `make TARGET` of the README is a target; what `make test` ends with is suite.summary's.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
PIDOF = """#!/bin/bash
# Only of the folder that it is called in: other servers of this machine are none of ours.
for exe in /proc/[0-9]*/exe; do
	[ "$(readlink "$exe" 2>/dev/null)" = "$PWD/$1" ] && pid=${exe#/proc/} && echo "${pid%/exe}"
done
"""


def fail(text):
    sys.exit(f"pages.py: {text}")


def normal(line, exact):
    """What two runs have in common. A number is 0, a size a number; columns are as wide as they must be."""
    line = re.sub(r"0x[0-9a-f]+", "0x0", line)
    line = re.sub(r"\b[0-9.]+ (bytes|[KMG]iB)", "0 bytes", line)
    if exact:
        line = re.sub(r"-\d+ +\[\d+\]", "-0 [0]", line)
        line = re.sub(r"\b\d+\.\d{6,}", "0", line)
    else:
        line = re.sub(r"\d+(\.\d+)?", "0", line)
    return re.sub(r"[ \t]+", " ", line.strip())


def same(wanted, found):
    """Lists of lines; "..." in the first matches any number of lines."""
    if not wanted:
        return not found
    if wanted[0] == "...":
        return any(same(wanted[1:], found[i:]) for i in range(len(found) + 1))
    return bool(found) and wanted[0] == found[0] and same(wanted[1:], found[1:])


def commands(block):
    """Pairs of a command and the lines below it."""
    pairs = []
    for line in block.splitlines():
        if line.startswith("$ "):
            pairs.append((line[2:], []))
        elif not pairs:
            fail(f"found output in front of the first command: {line}")
        else:
            pairs[-1][1].append(line)
    return pairs


class Terminal:
    def __init__(self, build, folder):
        self.folder, self.running, self.server = folder, [], None
        (folder / "build").symlink_to(build)
        (folder / "server").write_bytes((build / "bin/page_server").read_bytes())
        (folder / "server").chmod(0o755)
        tools = folder / "tools"
        tools.mkdir()
        (tools / "pidof").write_text(PIDOF)
        (tools / "less").symlink_to("/bin/cat")
        for tool in tools.iterdir():
            if not tool.is_symlink():
                tool.chmod(0o755)
        (folder / "run").mkdir(mode=0o700)
        (folder / "hooks.batch").write_text("# by line\nnet:rx=static\nnet:tx=static\n")
        self.environment = dict(os.environ, GKHI_DIR=str(folder / "run"),
                                PATH=f"{tools}:{build}/bin:{os.environ['PATH']}")
        self.environment.pop("GKHI", None)

    def start(self, command):
        """In the background, with its words going nowhere; it is running when it has been loaded."""
        environment = dict(self.environment, SERVER_SECONDS="300")
        process = subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=environment, start_new_session=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.running.append(process)
        for _ in range(200):
            found = subprocess.run(["pidof", "server"], cwd=self.folder, env=self.environment, capture_output=True, text=True)
            if found.stdout.strip():
                self.server = found.stdout.strip()
                return
            time.sleep(0.05)
        fail(f"'{command}' did not start")

    def run(self, command, interrupt):
        if self.server:
            command = command.replace("4711", self.server)
        process = subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=self.environment, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            if interrupt:
                try:
                    process.wait(2)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGINT)
            output = process.communicate(timeout=60)[0]
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return process.returncode, output

    def end(self):
        for process in self.running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def check_block(terminal, block, exact):
    for command, shown in commands(block):
        if re.search(r"&\s*$", command):
            terminal.start(command.rstrip("& "))
            continue
        command = command.split("    #")[0]
        dies = command.startswith("kill")
        interrupt = "^C" in shown
        wanted = [normal(line, exact) for line in shown if line != "^C"]
        status, output = terminal.run(command, interrupt)
        if dies:
            terminal.running[-1].wait(20)
        found = [normal(line, exact) for line in output.splitlines()]
        print(f"$ {command}\n{output}", end="")
        if not same(wanted, found):
            fail(f"'{command}' (exit status {status}) prints otherwise. Found:\n" + "\n".join(found) + "\nwanted:\n" + "\n".join(wanted))
        refused = any("error:" in line for line in wanted)
        if (status != 0) != refused and not interrupt:
            fail(f"'{command}' ends with {status}")


def check_excerpt(source, block):
    """Of the smallest provider: lines that stand in its files, in this order."""
    text = "".join((source / "examples/hello" / name).read_text() for name in ("hello.yaml", "hello.c"))
    at = 0
    for line in block.splitlines():
        line = line.split("\t\t/*")[0].strip()
        if not line or line.startswith("# "):
            continue
        at = text.find(line, at)
        if at < 0:
            fail(f"no '{line}' there in examples/hello/")


def check_demo(source, build, shown):
    demo = subprocess.run([source / "examples/sqlite/demo.sh"], env=dict(os.environ, BUILD=str(build)), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(demo.stdout)
    if demo.returncode:
        fail(f"the demo ends with {demo.returncode}")
    wanted, found = ([normal(line, False) for line in lines] for lines in (shown, demo.stdout.splitlines()))
    if not same(wanted, found):
        fail("the demo prints otherwise; wanted:\n" + "\n".join(wanted))


def check_targets(source, text):
    for target in sorted(set(re.findall(r"(?:`|\$ |\" )make ([a-z-]+)", text))):
        if subprocess.run(["make", "-n", target], cwd=source, stdout=subprocess.DEVNULL).returncode:
            fail(f"no make {target}")


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    source, build, page = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    page_text = (source / page).read_text()
    blocks = BLOCK.findall(page_text)
    if sys.argv[4:] == ["demo"]:
        shown = [text for kind, text in blocks if kind == "console" and text.startswith("$ make demo\n")]
        if not shown:
            fail(f"{page}: shows nothing of `make demo`")
        return check_demo(source, build, commands(shown[0])[0][1])
    if page == "README.md":
        check_targets(source, page_text)
    consoles = [text for kind, text in blocks if kind == "console" and not re.match(r"\$ make ", text)]
    if not consoles:
        fail(f"{page}: no console block in it")
    with tempfile.TemporaryDirectory(prefix="gkhi-page.") as folder:
        terminal = Terminal(build, pathlib.Path(folder).resolve())
        try:
            if page != "README.md" and not any(re.search(r"&$", text, re.M) for text in consoles):
                terminal.start("./server")
            for kind, text in blocks:
                if text in consoles:
                    check_block(terminal, text, page == "README.md")
                elif page == "README.md" and kind in ("c", "yaml"):
                    check_excerpt(source, text)
        finally:
            terminal.end()
    print(f"{page}: {len(consoles)} blocks are true")


if __name__ == "__main__":
    main()
