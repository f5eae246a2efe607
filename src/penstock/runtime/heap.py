"""Memory that is given back: what a burst of work took is not kept by the process for ever.

The C library keeps a heap for each of many threads, and learns from each large array that such are worth keeping. A
service whose threads come and go then holds, for good, the sum of what each of them ever needed at once.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress

_LARGE = 4 * 1024 * 1024
"""Bytes from which on memory is taken from the system, and given back to it at once. The system clears each page of it
again: to speak a text, whose arrays are of one or two megabytes, would take half as long again if they went with it."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"As malloc.h numbers them."
_HEAPS = 2


def give_memory_back() -> None:
    """Have the C library keep little of what it does not need; nothing changes where it is not GNU's."""
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        for parameter, value in ((_ARENA_MAX, _HEAPS), (_MMAP_THRESHOLD, _LARGE), (_TRIM_THRESHOLD, _LARGE)):
            libc.mallopt(parameter, value)
