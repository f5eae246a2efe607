"""Celery's broker, as those see it who tell workers of tasks: what a message says, and how much waits there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import msgspec
from celery import Celery
from kombu.connection import Connection
from kombu.exceptions import ChannelError, OperationalError

from penstock.errors import BROKER, Unavailable
from penstock.net.per_process import PerProcess
from penstock.work.task import Task
from penstock.work.told_task import ToldTask
from penstock.workers.celery_outlet import Outlet, outlet
from penstock.workers.pool_process import STUCK

RUN, RUN_SEVERAL, LOOK = "penstock.run", "penstock.run_several", "penstock.schedule"
_SHOWN = 1000
"Characters of a message's arguments in Celery's log."
_encode = msgspec.json.Encoder().encode


class CeleryBroker:
    """The broker, as the dispatcher sees it."""

    def __init__(self, app: Celery, *, killed_after: timedelta = timedelta(seconds=30)) -> None:
        self._app, self._queue, self._killed_after = app, app.conf.task_default_queue, killed_after
        self._outlets = PerProcess(self._open)
        self._moulds: dict[tuple[str, float | None], Any] = {}
        "By what they are for, of which there are as many as tasks have limits."

    def send(self, tasks: Sequence[Task], *, limit: timedelta) -> None:
        """Tell a worker; its process is killed if a task still runs so long after its time is over."""
        told = [ToldTask.of(task) for task in tasks]
        # Those that are not begun after a short while are handed back, so that none waits for the time of another.
        longest = (limit + self._killed_after).total_seconds() + (STUCK if told[1:] else 0.0)
        if told[1:]:
            self._publish(RUN_SEVERAL, ([(each.task_id, each.epoch) for each in told],), time_limit=longest)
        else:
            self._publish(RUN, told[0], time_limit=longest)

    def look(self, schedule: str) -> Unavailable | None:
        """Tell a worker to look whether a schedule is due; why not, if the broker is away."""
        try:
            self._publish(LOOK, (schedule,))
        except Unavailable as away:
            return away
        return None

    def queued(self) -> int:
        with self._reaching(), self._app.pool.acquire(block=True) as connection:
            try:
                return int(connection.default_channel.queue_declare(self._queue, passive=True).message_count)
            except ChannelError:
                return 0  # there is none yet, or the broker has lost its memory

    def _publish(self, name: str, arguments: Sequence[Any], *, time_limit: float | None = None) -> None:
        """Send what Celery's own ``send_task`` would, on a connection that is kept: that takes a fraction of the time.

        There is no route to be found for it: all goes to one queue, which is declared once.
        """
        mould, sent = self._mould(name, time_limit), str(uuid4())
        headers = {**mould.headers, "id": sent, "root_id": sent, "argsrepr": repr(arguments)[:_SHOWN]}
        properties = {**mould.properties, "delivery_mode": 2, "correlation_id": sent}
        body = _encode((arguments, {}, mould.body[2]))
        with self._reaching():
            try:
                kept = self._outlets.get()
                with kept.one_at_a_time:
                    kept.put(body, headers, properties)
            except BaseException:
                if (failed := self._outlets.drop()) is not None:
                    failed.close()
                raise

    def _mould(self, name: str, time_limit: float | None) -> Any:
        """A message as Celery makes it, without what is its own."""
        known = self._moulds.get((name, time_limit))
        if known is None:
            known = self._app.amqp.as_task_v2("", name, time_limit=time_limit)
            self._moulds[name, time_limit] = known
        return known

    def _open(self) -> Outlet:
        connection: Connection = self._app.connection_for_write()
        self._app.amqp.queues[self._queue](connection.default_channel).declare()
        return outlet(connection, self._queue)

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """What each of Celery's transports says of a broker that is away, in our own words."""
        try:
            yield
        except Exception as error:
            if not isinstance(error, (OperationalError, OSError, *self._app.connection_for_write().connection_errors)):
                raise
            raise Unavailable(f"the broker cannot be reached: {error}", part=BROKER) from error
