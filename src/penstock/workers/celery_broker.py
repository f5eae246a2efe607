"""Celery's broker, as those see it who tell workers of tasks: what a message says, and how much waits there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

from celery import Celery
from kombu.connection import Connection
from kombu.exceptions import ChannelError, OperationalError

from penstock.errors import BROKER, Unavailable
from penstock.net.per_process import PerProcess
from penstock.work.task import Task
from penstock.work.told_task import ToldTask
from penstock.workers.pool_process import STUCK

RUN, RUN_SEVERAL, LOOK = "penstock.run", "penstock.run_several", "penstock.schedule"
_SHOWN = 1000
"Characters of a message's arguments in Celery's log."


class CeleryBroker:
    """The broker, as the dispatcher sees it."""

    def __init__(self, app: Celery, *, killed_after: timedelta = timedelta(seconds=30)) -> None:
        self._app, self._queue, self._killed_after = app, app.conf.task_default_queue, killed_after
        self._connections: PerProcess[Any] = PerProcess(self._connect)

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

    def _publish(self, name: str, arguments: tuple[Any, ...], **options: Any) -> None:
        """Send what Celery's own ``send_task`` would, on a channel that is kept: that takes half the time.

        There is no route to be found for it: all goes to one queue, which is declared once.
        """
        shown = {"argsrepr": repr(arguments)[:_SHOWN], "kwargsrepr": "{}"}
        told = self._app.amqp.as_task_v2(str(uuid4()), name, arguments, {}, **shown, **options)
        properties = {"delivery_mode": 2, **told.properties}
        with self._reaching(), self._channel() as channel:
            message = channel.prepare_message(
                json.dumps(told.body), 0, "application/json", "utf-8", told.headers, properties
            )
            channel.basic_publish(message, exchange="", routing_key=self._queue)

    @contextmanager
    def _channel(self) -> Iterator[Any]:
        """The channel that this process keeps; a new one after one has failed."""
        try:
            yield self._connections.get().default_channel
        except BaseException:
            if (failed := self._connections.drop()) is not None:
                with suppress(Exception):  # it is gone either way
                    failed.close()
            raise

    def _connect(self) -> Connection:
        connection: Connection = self._app.connection_for_write()
        self._app.amqp.queues[self._queue](connection.default_channel).declare()
        return connection

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """What each of Celery's transports says of a broker that is away, in our own words."""
        try:
            yield
        except Exception as error:
            if not isinstance(error, (OperationalError, OSError, *self._app.connection_for_write().connection_errors)):
                raise
            raise Unavailable(f"the broker cannot be reached: {error}", part=BROKER) from error
