#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Send NMIs through QEMU's monitor: inject_nmi.py MONITOR_SOCKET CONSOLE_LOG

Starts when the guest has printed READY (a handler is registered then) and goes on
until QEMU ends; prints how many were sent.
"""
import socket
import sys
import time


def wait_for_ready(path, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with open(path, "rb") as log:
                if b"READY" in log.read():
                    return True
        except OSError:
            pass
        time.sleep(0.05)
    return False


def main():
    monitor, log = sys.argv[1:3]
    if not wait_for_ready(log):
        sys.exit("inject_nmi.py: the guest never said READY")
    sent = 0
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(monitor)
        try:
            while True:
                s.sendall(b"nmi\n" * 4)
                sent += 4
                time.sleep(0.001)
                s.setblocking(False)
                try:
                    s.recv(65536)
                except BlockingIOError:
                    pass
                s.setblocking(True)
        except OSError:
            print("sent", sent)


main()
