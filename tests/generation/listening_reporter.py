"""A reporter that keeps what it is told, and may stop listening."""

from __future__ import annotations

from collections.abc import Callable


class Gone(BaseException):
    """Nobody waits any more. No `Exception`, so that whoever catches too much is found out."""


class ListeningReporter:
    def __init__(
        self,
        *,
        until: int | None = None,
        error: BaseException | None = None,
        on_remember: Callable[[str], None] = lambda job: None,
    ) -> None:
        self.told: list[float] = []
        self.notes: list[str | None] = []
        self.remembered: list[str] = []
        self._until, self._error, self._on_remember = until, error or Gone(), on_remember

    def progress(self, fraction: float, note: str | None = None) -> None:
        if self._until is not None and len(self.told) >= self._until:
            raise self._error
        self.told.append(fraction)
        self.notes.append(note)

    def remember(self, job: str) -> None:
        self._on_remember(job)
        self.remembered.append(job)
