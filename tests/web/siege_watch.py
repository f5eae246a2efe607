"""Asks a service for health until its input ends, then says how long each answer took: siege_watch.py PORT.

A process of its own, and a small one, so that it waits for nobody but the service.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time

ASKED = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
NEVER = 20.0


def seconds_to_an_answer(port: int) -> float:
    began = time.monotonic()
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=NEVER) as line:
            line.sendall(ASKED)
            alive = line.recv(1000).startswith(b"HTTP/1.1 200")
    except OSError:
        alive = False
    return time.monotonic() - began if alive else NEVER


def main(port: str) -> None:
    over = threading.Event()

    def listen() -> None:
        sys.stdin.read()
        over.set()

    threading.Thread(target=listen, daemon=True).start()
    taken = []
    while not over.is_set():
        taken.append(seconds_to_an_answer(int(port)))
        over.wait(0.05)
    print(json.dumps(taken))


if __name__ == "__main__":
    main(*sys.argv[1:])
