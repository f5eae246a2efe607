"""The way to a PostgreSQL database: straight, or through a proxy that keeps sessions, or through one that shares them.

A proxy that hands out a server session for each transaction forgets what belongs to a session: settings it was started
with, prepared statements, notifications. Through such a one, every transaction says itself what it relies on, nothing
is prepared under a name, and whoever waits looks again and again. ``?pool=transaction`` in the URL says that there is
one, ``?pool=session`` that there is one which keeps sessions. Without either, it is found out at each connection: the
proxy refuses or swallows the settings, or speaks of another server process than the one that answers.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping
from enum import StrEnum

import msgspec
import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.json import set_json_loads

from penstock.engines.sql.dialect import literal
from penstock.engines.sql.session import Call, Session
from penstock.errors import Misconfigured

log = logging.getLogger("penstock.postgres")

# Every statement walks a known index, so planning it once is enough; planning costs more than running it.
_RELIED_ON = {"timezone": "UTC", "plan_cache_mode": "force_generic_plan", "enable_seqscan": "off"}
_REFUSED = "unsupported startup parameter"
"How pgbouncer says that it does not take settings."


class Pooling(StrEnum):
    """What a proxy between the engine and the database keeps together."""

    SESSION = "session"
    TRANSACTION = "transaction"


class Connections:
    """One database's URL, and what is known of the way there."""

    def __init__(self, url: str) -> None:
        self.url, self._said = _without_pool(url)
        _check_url(self.url)
        self._options = _settings_of(str(conninfo_to_dict(self.url).get("options") or ""))
        self.shared = self._said is Pooling.TRANSACTION
        "May each transaction be on another server session?"

    def connect(self, *, role: str | None = None) -> Session:
        """A session that has what the engine relies on, or one that is known to keep nothing."""
        if self.shared:
            return self._open()
        settings = self._settings | ({} if role is None else {"role": role})
        if self._said is Pooling.SESSION:
            session = self._open()
            session.exchange([_setting(settings, local=False)])
        else:
            found = self._find(settings)
            if found is None:
                return self._open()
            session = found
        session.names = OrderedDict()
        return session

    def share(self, why: str) -> None:
        """From now on, rely on no session; Misconfigured where the URL says that sessions are kept."""
        if self._said is Pooling.SESSION:
            raise Misconfigured(
                f"the store's URL says pool=session, but a proxy changes sessions ({why}); write pool=transaction"
            )
        if not self.shared:
            log.warning("PostgreSQL is behind a proxy that shares sessions (%s); nothing is left in one", why)
        self.shared = True

    def binding(self, *, role: str | None = None, project: str | None = None) -> Call:
        """What a transaction says first: as whom it works, for which project, and what it relies on."""
        settings = dict(self._settings) if self.shared else {}
        if project is not None:
            settings["penstock.project"] = project
        # Last, as another role might not be allowed to make the other settings.
        role = role or settings.pop("role", "none")
        return _setting({n: v for n, v in settings.items() if n != "role"} | {"role": role}, local=True)

    @property
    def _settings(self) -> dict[str, str]:
        # What the URL sets is set as well, where it is not what the engine itself relies on.
        return self._options | _RELIED_ON

    def _open(self, *, options: str = "") -> Session:
        session = Session.connect(
            self.url, autocommit=True, prepare_threshold=None, client_encoding="utf8", options=options
        )
        set_json_loads(msgspec.json.decode, session)
        if session.info.parameter_status("standard_conforming_strings") == "off":
            session.close()
            raise Misconfigured("PostgreSQL has standard_conforming_strings off; set it on, for this user at least")
        return session

    def _find(self, settings: Mapping[str, str]) -> Session | None:
        """A session that was started with the settings; None when something in between does not allow for one."""
        try:
            session = self._open(options=_options(settings))
        except psycopg.OperationalError as error:
            if _REFUSED not in str(error):
                raise
            self.share("it takes no settings")
            return None
        wanted = [settings[name] for name in _RELIED_ON]
        asked = ", ".join(f"current_setting({literal(name)})" for name in _RELIED_ON)
        answer = session.exchange([Call(f"select pg_backend_pid(), {asked}")])[0]
        found = [(answer.get_value(0, n) or b"").decode() for n in range(answer.nfields)]
        why = "" if found[1:] == wanted else "settings do not arrive"
        if found[0] != str(session.info.backend_pid):
            why = "another server process answers"
        if not why:
            return session
        session.close()
        self.share(why)
        return None


def _setting(settings: Mapping[str, str], *, local: bool) -> Call:
    """The statement that sets all of these, for a transaction or for a session."""
    end = "true" if local else "false"
    marks = ", ".join(f"set_config({literal(name)}, %s, {end})" for name in settings)
    return Call(f"select {marks}", [value.encode() for value in settings.values()])


def _options(settings: Mapping[str, str]) -> str:
    escaped = {name: value.replace("\\", "\\\\").replace(" ", "\\ ") for name, value in settings.items()}
    return " ".join(f"-c {name}={value}" for name, value in escaped.items())


def _settings_of(options: str) -> dict[str, str]:
    """The settings that a URL's options make."""
    words = [w.replace("\0", " ") for w in options.replace("\\\\", "\1").replace("\\ ", "\0").split()]
    found: dict[str, str] = {}
    rest = iter(w.replace("\1", "\\") for w in words)
    for word in rest:
        said = next(rest, "") if word == "-c" else word.removeprefix("--" if word.startswith("--") else "-c")
        name, is_setting, value = said.partition("=")
        if not is_setting or not word.startswith(("-c", "--")):
            raise Misconfigured(f"the store's URL has options with {word[:40]!r}; write settings as -c name=value")
        found[name.replace("-", "_").lower()] = value
    return found


def _without_pool(url: str) -> tuple[str, Pooling | None]:
    """The URL as libpq takes it, and what it says of a proxy."""
    address, _, query = url.partition("?")
    pieces = query.split("&")
    said = [piece.removeprefix("pool=") for piece in pieces if piece.startswith("pool=")]
    if not said:
        return url, None
    if len(said) != 1 or said[0] not in list(Pooling):
        raise Misconfigured("the pool of the store's URL is session or transaction, whichever the proxy keeps together")
    rest = "&".join(piece for piece in pieces if not piece.startswith("pool="))
    return f"{address}?{rest}" if rest else address, Pooling(said[0])


def _check_url(url: str) -> None:
    """Refuse what may be read otherwise than it was meant, before anybody quotes a piece of the password."""
    try:
        said = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        said = {"port": "unreadable"}
    authority, _, path = url.partition("://")[2].partition("/")
    ports = str(said.get("port") or "").replace(",", "") or "0"
    user = authority.rpartition("@")[0]
    if "?" in user or "@" in user or "@" in path.partition("?")[0] or not ports.isdecimal():
        raise Misconfigured(
            "PENSTOCK_STORE is no PostgreSQL URL; write signs of a password by their codes: "
            "% as %25, @ as %40, / as %2F, ? as %3F"
        )
