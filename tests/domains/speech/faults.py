"""Object stores and stores that fail where a test wants them to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.errors import Unavailable
from penstock.kernel.change import Change


class Failing:
    """Something real, except that certain calls are refused."""

    error: Callable[[str], Exception] = Unavailable

    def __init__(self, real: Any, **refuse: Callable[..., bool]) -> None:
        self._real, self._refuse = real, refuse

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        refuses = self._refuse.get(name)
        if refuses is None:
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            if refuses(*args, **kwargs):
                raise self.error(f"{name} is refused")
            return found(*args, **kwargs)

        return call


class FailingStore(Failing):
    """A store of which certain calls are refused, also to its own changes."""

    def change(self, **kwargs: Any) -> Change:
        failing: Any = self
        return Change(failing, **kwargs)


def deleting(*names: str) -> Callable[[Iterable[str]], bool]:
    """Refuses to delete files of these names, as S3 does: all of a request, though it may hold others."""
    return lambda keys: any(key.endswith(name) for key in keys for name in names)


def always(*args: Any, **kwargs: Any) -> bool:
    return True
