"""A process that speaks with SVOX Pico, and imports nothing else: it is started as a file of its own.

It reads a request a line, as JSON, and answers with the length of the sound in four bytes, and the sound. Pico is
written in C, and there may be a text that it never ends with; so the process ends when it has used its time.
"""

from __future__ import annotations

import json
import signal
import sys

from py_nanotts import NanoTTS

_VOLUME = 0.4
"Of what Pico takes for usual, which it cuts off."


def main() -> None:
    voice, out = NanoTTS(), sys.stdout.buffer
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        signal.setitimer(signal.ITIMER_VIRTUAL, asked["limit"])
        try:
            # At its own pace it needs no markup for that, and reads better.
            speed = None if asked["speed"] == 1 else asked["speed"]
            sound = voice.speak(asked["text"], voice=asked["language"], speed=speed, volume=_VOLUME)
        except RuntimeError:
            sound = b""
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        out.write(len(sound).to_bytes(4, "big") + sound)
        out.flush()


if __name__ == "__main__":
    main()
