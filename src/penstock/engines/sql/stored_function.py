"""Functions that PostgreSQL keeps for us: they work with their owner's rights, whoever calls them."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from penstock.operations.plan import PlanStep

_SETTINGS = ("search_path=pg_catalog, pg_temp",)
"So that no name in a body means something of the caller's."


@dataclass(frozen=True, slots=True)
class StoredFunction:
    """One function as it should be."""

    name: str
    parameters: str
    returns: str
    body: str

    @property
    def signature(self) -> str:
        """What tells it from others of its name."""
        kinds = (parameter.rpartition(" ")[2] for parameter in self.parameters.split(", "))
        return f"{self.name}({', '.join(kinds)})"

    def steps(self, connection: sa.Connection) -> list[PlanStep]:
        """What makes it stand as it should; nothing where it does."""
        found = connection.exec_driver_sql(_FOUND, (self.signature,)).one_or_none()
        if found is not None and tuple(found) == (self.body, True, list(_SETTINGS)):
            return []
        return [PlanStep("create function", self.name, self._created)]

    def is_open(self, connection: sa.Connection) -> bool:
        """May anybody call it? So may everybody call a new one, until that is taken back."""
        asked = "select has_function_privilege('public', to_regprocedure(%s), 'execute')"
        return connection.exec_driver_sql(asked, (self.signature,)).scalar() is not False

    @property
    def _created(self) -> str:
        settings = ", ".join(f"set {setting.replace('=', ' = ', 1)}" for setting in _SETTINGS)
        return (
            f"create or replace function {self.name}({self.parameters}) returns {self.returns} language plpgsql "
            f"security definer {settings} as $body${self.body}$body$"
        )


_FOUND = "select prosrc, prosecdef, proconfig from pg_proc where oid = to_regprocedure(%s)"
