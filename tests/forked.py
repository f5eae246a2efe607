"""What a test does in a forked child, which never outlives the test.

A child has the locks of its parent's threads, but not the threads; so it may wait for ever, even without letting
another thread of Python run. And while it lives it holds the pipe through which a test process speaks to the one
that collects results, which then waits as well.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import traceback
from collections.abc import Callable

_SECONDS = 60


def forked(work: Callable[[], object]) -> int:
    """Do it in a child; its exit code, which is not 0 if it raised, was untrue or took more than a minute."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            mortal()
            code = 1 if work() is False else 0
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def mortal() -> None:
    """Have the system end this process in a minute, whatever it waits for then, and say what that was."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    faulthandler.register(signal.SIGALRM, file=sys.__stderr__, chain=True)
    signal.alarm(_SECONDS)
