"""A connection to PostgreSQL on which several statements make one round trip and one transaction.

psycopg's cursors are made for every case, and cost more than the statements sent here; so libpq is asked itself, in its
pipeline mode. Statements that are sent together are one transaction, which a proxy that hands out sessions by
transaction does not tear apart, and which is over before its answer is believed.
"""

from __future__ import annotations

import hashlib
import select
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg import abc as psycopg_abc
from psycopg import pq
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result

from penstock.engines.sql.parameters import numbered, written

_MOST = 200
"So many texts are known to a session; the one not used for longest is forgotten."
_DONE = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)
_SEEN = b""
"Stands for the name of a text that came once; it is prepared when it comes again."

_Kind = tuple[str, tuple[int, ...]]
"A text and the types of its parameters."
_FORGOTTEN: _Kind = ("", ())


class Call(NamedTuple):
    """One statement to be sent, its parameters as libpq takes them."""

    text: str
    values: Sequence[psycopg_abc.Buffer | None] = ()
    types: tuple[int, ...] = ()
    "Empty: the server finds them by itself."
    formats: Sequence[pq.Format] | None = None
    binary: bool = False
    "Are its rows wanted in the form that is quickest to read?"


def plain_call(text: str, parameters: Sequence[Any] = ()) -> Call:
    """A statement whose parameters travel as text, to be of whatever type the server expects there."""
    return Call(text, written(parameters))


class Session(psycopg.Connection[tuple[Any, ...]]):
    """A connection, known to stay with one server session or else to be given another for each transaction."""

    names: OrderedDict[_Kind, bytes] | None = None
    "What the server session has prepared; None when nobody knows which session it will be next."
    role: str | None = None
    "As whom it was started, where that is not the user of the URL."
    rests_since: float = 0.0
    "When it was given back, by the clock of its pool."
    _adapting: psycopg_abc.Transformer | None = None
    _readable: select.poll | None = None

    def call(self, text: str, parameters: Sequence[Any]) -> Call:
        """A statement with parameters of the types that Python's values have, whose rows are to be read."""
        adapting = self._adapting or self._adapter()
        values = adapting.dump_sequence(parameters, [PyFormat.AUTO] * len(parameters))
        return Call(text, values, tuple(adapting.types or ()), adapting.formats, True)

    def read(self, result: pq.abc.PGresult) -> list[tuple[Any, ...]]:
        """The rows of a result, as Python's values."""
        adapting = self._adapting or self._adapter()
        adapting.set_pgresult(result)
        return adapting.load_rows(0, result.ntuples, tuple)

    def _adapter(self) -> psycopg_abc.Transformer:
        made = self._adapting = Transformer(self)
        return made

    def exchange(self, calls: Sequence[Call]) -> list[pq.abc.PGresult]:
        """All of the statements in one round trip and one transaction; their results, or psycopg's error."""
        if len(calls) == 1 and self.names is not None and not calls[0].binary:
            name = self.names.get((calls[0].text, calls[0].types))
            if name:
                return [self._run(name, calls[0])]
        kinds: list[_Kind | None] = []
        results = self._round_trip(lambda: self._send(calls, kinds))
        if self.names is not None and len(kinds) > len(calls):
            self._learn(results, kinds)
        for result in results:
            if result.status not in _DONE:
                raise self._error(result)
        return [result for result, kind in zip(results, kinds, strict=True) if kind is None]

    def _run(self, name: bytes, call: Call) -> pq.abc.PGresult:
        """One statement that the session knows, alone: the quickest that libpq has."""
        assert self.names is not None
        self.names.move_to_end((call.text, call.types))
        # None is NULL to libpq, as the sending of several relies on too.
        result = self.pgconn.exec_prepared(name, call.values, call.formats)  # type: ignore[arg-type]
        if result.status not in _DONE:
            raise self._error(result)
        return result

    def parameter_types(self, text: str) -> tuple[str, ...]:
        """The types that PostgreSQL finds for a text's parameters."""

        def send() -> None:
            self.pgconn.send_prepare(b"", numbered(text).encode())
            self.pgconn.send_describe_prepared(b"")

        results = self._round_trip(send)
        for result in results:
            if result.status not in _DONE:
                raise self._error(result)
        described = results[-1]
        known = [self.adapters.types.get(described.param_type(n)) for n in range(described.nparams)]
        return tuple(kind.regtype if kind is not None else "text" for kind in known)

    # Sending

    def _round_trip(self, send: Callable[[], None]) -> list[pq.abc.PGresult]:
        pgconn = self.pgconn
        try:
            pgconn.enter_pipeline_mode()
            send()
            pgconn.pipeline_sync()
            results = self._results()
        except BaseException:
            # An answer that was not read would be taken for that of the next question.
            if pgconn.status == pq.ConnStatus.OK:
                self.close()
            raise
        if pgconn.status == pq.ConnStatus.OK:
            pgconn.exit_pipeline_mode()
        return results

    def _send(self, calls: Sequence[Call], kinds: list[_Kind | None]) -> None:
        """Send statements, noting of each answer to come what it will be about; None: a statement itself."""
        unnamed: _Kind | None = None
        for call in calls:
            kind = (call.text, call.types)
            name = self._name(kind, kinds)
            if name == _SEEN and unnamed != kind:
                self._prepare(name, kind, kinds)
                unnamed = kind
            self.pgconn.send_query_prepared(
                name,
                call.values,
                call.formats,
                result_format=pq.Format.BINARY if call.binary else pq.Format.TEXT,
            )
            kinds.append(None)

    def _name(self, kind: _Kind, kinds: list[_Kind | None]) -> bytes:
        """The name by which the session knows a statement; none for what is sent only once, or to any session."""
        names = self.names
        if names is None:
            return _SEEN
        name = names.get(kind)
        if name is None:
            names[kind] = _SEEN
            if len(names) > _MOST:
                self._forget(names, kinds)
            return _SEEN
        names.move_to_end(kind)
        if name == _SEEN:
            name = names[kind] = _name_of(kind)
            self._prepare(name, kind, kinds)
        return name

    def _prepare(self, name: bytes, kind: _Kind, kinds: list[_Kind | None]) -> None:
        self.pgconn.send_prepare(name, numbered(kind[0]).encode(), kind[1] or None)
        kinds.append(kind)

    def _forget(self, names: OrderedDict[_Kind, bytes], kinds: list[_Kind | None]) -> None:
        _, name = names.popitem(last=False)
        if name != _SEEN:
            self.pgconn.send_query_params(b"deallocate " + name, None)
            kinds.append(_FORGOTTEN)

    # Receiving

    def _results(self) -> list[pq.abc.PGresult]:
        """All answers up to the end of the transaction, or of the connection."""
        pgconn = self.pgconn
        while pgconn.flush():  # more than the network takes at once, which may have an answer to give in between
            self._wait(select.POLLIN | select.POLLOUT)
            pgconn.consume_input()
        results: list[pq.abc.PGresult] = []
        while True:
            while pgconn.is_busy():
                self._wait(select.POLLIN)
                pgconn.consume_input()
            result = pgconn.get_result()
            if result is None:
                if pgconn.status == pq.ConnStatus.BAD:
                    break
            elif result.status == pq.ExecStatus.PIPELINE_SYNC:
                return results
            else:
                results.append(result)
        if not any(r.status == pq.ExecStatus.FATAL_ERROR for r in results):
            raise psycopg.OperationalError("the connection was lost before the answer was complete")
        return results

    def _wait(self, events: int) -> None:
        if self._readable is None:
            self._readable = select.poll()
        self._readable.register(self.pgconn.socket, events)
        self._readable.poll()

    def _error(self, result: pq.abc.PGresult) -> psycopg.Error:
        error = error_from_result(result, encoding=self.info.encoding)
        # A connection that broke has no code by which psycopg could tell what went wrong.
        return psycopg.OperationalError(str(error)) if self.broken else error

    def _learn(self, results: Sequence[pq.abc.PGresult], kinds: Sequence[_Kind | None]) -> None:
        """What could not be prepared has no name."""
        assert self.names is not None
        for result, kind in zip(results, kinds, strict=False):
            if kind is not None and result.status not in _DONE and kind in self.names:
                self.names[kind] = _SEEN


def _name_of(kind: _Kind) -> bytes:
    """A name that no other statement has: whoever meets it in a session meets the very same statement."""
    return b"penstock_" + hashlib.sha256(repr(kind).encode()).hexdigest()[:32].encode()
