"""Work that a prediction-style service does: created there, looked at until it is over, brought here, or cancelled.

| what | how |
|---|---|
| create | `POST /predictions {version, input}`, or `POST /models/{owner}/{name}/predictions {input}` |
| look | `GET /predictions/{id}`: starting, processing, succeeded, failed or canceled, and an output |
| cancel | `POST /predictions/{id}/cancel` |

A prediction costs money, so it is made once: its id is told to the reporter as soon as it is known, and an attempt that
is given one goes on with it. Should the answer to a creation be lost, the next attempt sends the same
``Idempotency-Key``; a service that does not honour it makes a second one. The key is made of the order as well, so that
whoever orders the same another time gets another one. The URLs by which the service itself names a prediction are not
used: the token goes where it was configured to go.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from penstock.errors import Misconfigured, Unanswered, Unavailable, telling
from penstock.generation.circuit_breaker import ProviderResting
from penstock.generation.download import download
from penstock.generation.made_file import FILM, MadeFile
from penstock.generation.provider_http import ProviderService, Unknown
from penstock.generation.steps import Made, StepReporter
from penstock.kernel.lease import LeaseLost
from penstock.media.errors import UnusableFile
from penstock.work import RetryLater, Terminal

log = logging.getLogger("penstock.generation")
F = TypeVar("F", bound=Unavailable)

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,199}")
_OWNER_AND_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_VERSION = re.compile(r"[\w./:-]{1,200}", re.ASCII)
_PENDING = frozenset({"starting", "processing", "queued"})
_CANCELLED = frozenset({"canceled", "cancelled", "aborted"})
_IN_VAIN = ("nsfw", "sensitive", "safety", "moderation", "prohibited", "invalid input")
_PATIENCE = 4
"How often in a row a service that is asked how it stands may not answer, before that costs an attempt."
_SHORT = timedelta(minutes=1)
"So long it is waited for a service in place; for longer the worker is given back."
_NUMBERS = 32
_MADE, _BROUGHT = 0.9, 0.99
"How far it is when the service is done, and when the file is here."


@dataclass(frozen=True, slots=True)
class Prediction:
    """How one stands, in as much of the service's words as can be used."""

    id: str
    status: str
    output: str | None
    error: str
    progress: float | None
    cost: float | None
    metrics: dict[str, float]

    @property
    def pending(self) -> bool:
        return self.status in _PENDING


class Predictions:
    """A model at a prediction-style service, which makes one kind of file."""

    def __init__(
        self,
        service: ProviderService,
        model: str,
        *,
        makes: MadeFile = FILM,
        poll: timedelta = timedelta(seconds=3),
        price: float | None = None,
        most_bytes: int | None = None,
        in_vain: tuple[str, ...] = _IN_VAIN,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``model`` is an owner and a name, or a version. ``price`` is in dollars for a second of the model's time, for
        services that do not tell what a prediction has cost. ``most_bytes`` are taken of a file, or as many as its
        kind usually has. A prediction that fails with one of the words of ``in_vain`` in its error would fail again;
        any other is worth another attempt.
        """
        if not _VERSION.fullmatch(model):
            raise Misconfigured(f"{model!r} is no model; write owner/name, or the id of a version")
        self._service, self._model, self._poll, self._price = service, model, poll, price
        self._makes, self._most_bytes, self._sleep = makes, most_bytes or makes.most_bytes, sleep
        self._in_vain = tuple(word.lower() for word in in_vain)

    @property
    def host(self) -> str:
        """Whose model it is."""
        return self._service.host

    @property
    def model(self) -> str:
        return self._model

    def make(
        self, input: Mapping[str, Any], into: Path, reporter: StepReporter, *, job: str | None = None, order: str = ""
    ) -> Made:
        """A sound file at ``into``, made from an input; ``job`` is the prediction that an earlier attempt has begun.

        ``order`` is the same for all attempts at one file, and another for any other.
        """
        onward = _Onward(reporter)
        try:
            return self._make(input, into, onward, job, order)
        except _NobodyWaits as gone:
            # Whoever has taken the work over goes on with the prediction.
            if onward.running is not None and not isinstance(gone.error, LeaseLost):
                self._cancel(onward.running)
            raise gone.error from gone.error.__cause__

    def _make(self, input: Mapping[str, Any], into: Path, reporter: _Onward, job: str | None, order: str) -> Made:
        if job is not None and _ID.fullmatch(job):
            try:
                return self._bring(self._look(job, reporter), into, reporter)
            except _Over as over:
                # Forgotten there, failed, or cancelled by an attempt that was given up: it has to be made anew.
                log.info("prediction %s is not gone on with: %s", job, over.reason)
        created = self._create(input, earlier=job, order=order)
        reporter.running = created.id
        reporter.remember(created.id)
        try:
            return self._bring(created, into, reporter)
        except _Over as over:
            raise over.reason from over.__cause__

    def _cancel(self, id: str) -> None:
        """The service need not go on; if it cannot be told so, that changes nothing."""
        try:
            self._service.ask("POST", f"/predictions/{id}/cancel")
        except Exception as error:
            log.warning("prediction %s could not be cancelled: %s", id, error)

    def _create(self, input: Mapping[str, Any], *, earlier: str | None, order: str) -> Prediction:
        asked = json.dumps([self._model, input, earlier, order], sort_keys=True)
        headers = {"Idempotency-Key": hashlib.sha256(asked.encode()).hexdigest()}
        if _OWNER_AND_NAME.fullmatch(self._model):
            answer = self._service.ask(
                "POST", f"/models/{self._model}/predictions", {"input": dict(input)}, headers=headers
            )
        else:
            body = {"version": self._model, "input": dict(input)}
            answer = self._service.ask("POST", "/predictions", body, headers=headers)
        return self._read(answer)

    def _look(self, id: str, reporter: _Onward) -> Prediction:
        reporter.running = id
        for tries_left in reversed(range(_PATIENCE)):
            try:
                return self._read(self._service.ask("GET", f"/predictions/{id}"), id)
            except ProviderResting:
                raise  # the worker is given back, and another attempt goes on with the prediction
            except (Unavailable, RetryLater) as hiccup:
                pause = hiccup.after if isinstance(hiccup, RetryLater) else self._poll
                if not tries_left or pause > _SHORT:
                    raise
                self._wait(pause, reporter)
            except Unknown as unknown:
                raise _Over(unknown) from unknown
        raise AssertionError("the last try raises")

    def _bring(self, prediction: Prediction, into: Path, reporter: _Onward) -> Made:
        """Wait until it is made, and fetch it."""
        polls = 0
        while prediction.pending:
            polls += 1
            # Without a word from the service: ever closer to the end, and never there.
            guess = prediction.progress if prediction.progress is not None else polls / (polls + 20)
            self._wait(self._poll, reporter, _MADE * guess, prediction.status)
            prediction = self._look(prediction.id, reporter)
        reporter.running = None
        if prediction.status != "succeeded":
            self._give_reason(prediction)
        measured = self._fetch(prediction, into, reporter)
        # What was measured here counts more than what the service says of itself.
        return Made(cost=self._cost(prediction), metrics={**prediction.metrics, **measured})

    def _give_reason(self, prediction: Prediction) -> NoReturn:
        host, words = self._service.host, prediction.error or "it does not say why"
        if prediction.status in _CANCELLED:
            brief = f"the prediction was cancelled at {host}"
            raise _Over(telling(Terminal(f"{brief}: {words}"), brief))
        if prediction.status != "failed":
            strange = f"{host} says of a prediction that it is {prediction.status!r}, which is not known here"
            unknown = telling(Unavailable(strange, part=None), f"{host} says of a prediction what is not known here")
            raise self._counted(unknown)
        brief = f"the prediction failed at {host}"
        in_vain = any(word in words.lower() for word in self._in_vain)
        if in_vain:
            raise _Over(telling(Terminal(f"{brief}: {words}"), f"{brief}, and would again; change what is asked for"))
        raise _Over(self._counted(telling(Unavailable(f"{brief}: {words}", part=None), brief)))

    def _fetch(self, prediction: Prediction, into: Path, reporter: _Onward) -> Mapping[str, Any]:
        if prediction.output is None:
            raise _Over(self._counted(Unanswered(f"{self.host} has made a prediction and names no file for it")))
        between = _BROUGHT - _MADE
        try:
            download(
                self._service,
                prediction.output,
                into,
                most=self._most_bytes,
                types=self._makes.types,
                tell=lambda part: reporter.progress(_MADE + between * part, "downloading"),
            )
        except Terminal as gone:
            # Files are kept for an hour or so, and URLs that were signed for as long.
            raise _Over(gone) from gone
        except (Unavailable, RetryLater) as failure:
            self._service.count(failure)
            raise
        try:
            return self._makes.check(into)
        except UnusableFile as wrong:
            raise self.useless(wrong) from wrong

    def useless(self, wrong: UnusableFile) -> Unavailable:
        """What to raise of a file that was made and cannot be used."""
        brief = f"what {self.host} has made cannot be used"
        return self._counted(telling(Unavailable(f"{brief}: {self._service.words(str(wrong))}", part=None), brief))

    def _counted(self, failure: F) -> F:
        """A failure that the service's answers did not show, counted with those that they did."""
        self._service.count(failure)
        return failure

    def _wait(self, pause: timedelta, reporter: _Onward, fraction: float = 0.0, note: str | None = None) -> None:
        """Let some time pass, and hear now and then whether anybody waits."""
        left, step = pause.total_seconds(), self._poll.total_seconds()
        while left > 0:
            reporter.progress(fraction, note)
            self._sleep(min(left, step))
            left -= step

    def _cost(self, prediction: Prediction) -> float | None:
        if prediction.cost is not None:
            return prediction.cost
        seconds = prediction.metrics.get("predict_time")
        return None if self._price is None or seconds is None else round(self._price * seconds, 6)

    def _read(self, answer: Mapping[str, Any], id: str | None = None) -> Prediction:
        told = id or answer.get("id")
        status = answer.get("status")
        if not isinstance(told, str) or not _ID.fullmatch(told) or not isinstance(status, str):
            raise Unanswered(f"{self._service.host} answered about a prediction without its id or its status")
        metrics = answer.get("metrics")
        numbers = _numbers(metrics) if isinstance(metrics, dict) else {}
        return Prediction(
            id=told,
            status=self._service.words(status.lower())[:40],
            output=self._makes.url_in(answer.get("output")),
            error=_words(self._service, answer.get("error")),
            progress=_between(answer.get("progress")),
            cost=next((c for c in map(_amount, (answer.get("cost"), numbers.get("cost"))) if c is not None), None),
            metrics=numbers,
        )


class _Onward:
    """A reporter that is told only of progress, never of less than before."""

    def __init__(self, reporter: StepReporter) -> None:
        self._desk = reporter
        self._fraction = 0.0
        self._note: str | None = None
        self.running: str | None = None
        "What the service is still at."

    def progress(self, fraction: float, note: str | None = None) -> None:
        self._fraction, self._note = max(self._fraction, fraction), note or self._note
        try:
            self._desk.progress(self._fraction, self._note)
        except BaseException as error:
            raise _NobodyWaits(error) from error

    def remember(self, job: str) -> None:
        try:
            self._desk.remember(job)
        except BaseException as error:
            raise _NobodyWaits(error) from error


class _NobodyWaits(BaseException):
    """What a reporter has raised, on its way past whatever is done about errors of the service."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


class _Over(Exception):
    """This prediction will come to nothing; what to raise if that is the end of it."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))
        self.reason = reason


def _words(service: ProviderService, error: Any) -> str:
    if error is None:
        return ""
    try:
        return service.words(error if isinstance(error, str) else json.dumps(error).encode())
    except RecursionError:
        return "it says too much"


def _numbers(metrics: Mapping[str, Any]) -> dict[str, float]:
    found = ((name[:64], _amount(value)) for name, value in metrics.items())
    return {name: value for name, value in list(found)[:_NUMBERS] if value is not None}


def _amount(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        return None
    return float(value) if value >= 0 and isfinite(value) else None


def _between(value: Any) -> float | None:
    amount = _amount(value)
    return amount if amount is not None and amount <= 1 else None
