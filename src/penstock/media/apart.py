"""Decoding, done apart: in a process of its own, so that no file can take this one's memory, time or life.

A decoder is started when it is first needed and kept for the next file, for starting one takes longer than most files.
It is replaced when it has failed, when it was ended, and after many files.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from threading import Lock
from typing import Any

from penstock.media.errors import DecodingBusy, TooMuchToDecode, UnusableFile
from penstock.media.room import MEGABYTE, room
from penstock.net.per_process import PerProcess

_IDLE = 64 * MEGABYTE
"What a decoder takes before it has seen a file."
_KEPT = 2
"So many wait for the next file."
_MOST_FILES = 200
_GRACE = 10.0
"Seconds more than its processor time that an answer may take: the machine has other things to do."
_LONGEST_ANSWER = 1 << 20
_START = timedelta(seconds=60)


def apart(job: str, path: Path, *, memory: int, limit: timedelta, **arguments: Any) -> Any:
    """What a decoder finds in a file; UnusableFile if it is at fault, DecodingBusy if there is no room for it now."""
    seconds = max(limit.total_seconds(), 0.0)
    asked = {"job": job, "path": str(path.absolute()), "memory": memory, "cpu": seconds + 1, "arguments": arguments}
    question = json.dumps(asked).encode() + b"\n"
    with room().taken(memory + _IDLE):
        answer = _DECODERS.get().ask(question, seconds + _GRACE)
    if "too_much" in answer:
        raise TooMuchToDecode(f"it takes more than {memory // MEGABYTE} MB of memory to decode; send a smaller one")
    if "unusable" in answer:
        raise UnusableFile(str(answer["unusable"]))
    return answer["found"]


def kept() -> set[int]:
    """The processes that wait for the next file."""
    return _DECODERS.get().kept()


class _Died(Exception):
    """A decoder has gone without an answer."""


class _Decoder:
    """One process that answers one question at a time."""

    def __init__(self) -> None:
        self.files = 0
        root = str(Path(__file__).parents[2])
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "penstock.media.decoder"],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # It is none of a decoder's business what secrets this process was started with.
                env={"PYTHONPATH": root, "MALLOC_ARENA_MAX": "1"},
                start_new_session=True,
            )
        except OSError as error:
            raise DecodingBusy(f"no decoder could be started ({error.strerror}); try again soon") from None

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, question: bytes, seconds: float) -> bytes:
        """Its answer, a line."""
        assert self._process.stdin is not None
        until = time.monotonic() + seconds + (0 if self.files else _START.total_seconds())
        self.files += 1
        try:
            unsent = memoryview(question)
            while unsent:
                unsent = unsent[self._process.stdin.write(unsent) or 0 :]
        except OSError:
            raise _Died from None
        return self._heard(until)

    def _heard(self, until: float) -> bytes:
        assert self._process.stdout is not None
        pipe, heard = self._process.stdout.fileno(), b""
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        while not heard.endswith(b"\n"):
            left = until - time.monotonic()
            if left <= 0 or len(heard) > _LONGEST_ANSWER:
                raise UnusableFile("it takes too long to look at; send a shorter or smaller one")
            if poll.poll(left * 1000):
                piece = os.read(pipe, 1 << 16)
                if not piece:
                    raise _Died
                heard += piece
        return heard

    def end(self, *, grace: float = 0.0) -> int:
        """End it, whatever it does; how it has ended."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            return self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


class _Decoders:
    """Those of this process."""

    def __init__(self) -> None:
        self._idle: list[_Decoder] = []
        self._lock = Lock()
        atexit.register(self.close)

    def ask(self, question: bytes, seconds: float) -> dict[str, Any]:
        while True:
            decoder = self._taken()
            new = not decoder.files
            try:
                answer: dict[str, Any] = json.loads(decoder.ask(question, seconds))
            except _Died:
                ended = decoder.end(grace=1.0)  # it has died by itself, and says why
                # An older one may have been ended while it waited, and not by the file.
                if new or ended == -signal.SIGXCPU:
                    return {"unusable": _why(ended)}
                continue
            except BaseException:
                decoder.end()
                raise
            self._give_back(decoder, spent="too_much" in answer)
            return answer

    def kept(self) -> set[int]:
        with self._lock:
            return {decoder.pid for decoder in self._idle}

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for decoder in idle:
            decoder.end()

    def _taken(self) -> _Decoder:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return _Decoder()

    def _give_back(self, decoder: _Decoder, *, spent: bool) -> None:
        with self._lock:
            if not spent and decoder.files < _MOST_FILES and len(self._idle) < _KEPT:
                self._idle.append(decoder)
                return
        decoder.end()


def _why(ended: int) -> str:
    if ended == -signal.SIGXCPU:
        return "it takes too long to decode; send a shorter or smaller one"
    if ended == -signal.SIGKILL:
        return "it takes more memory to decode than there is; send a smaller one"
    return "the file is damaged: its decoder has failed at it; export it anew and send it again"


_DECODERS = PerProcess(_Decoders)
