"""The OpenAPI document tells the truth: requests made from it have no answer that it does not describe."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis.checks import (
    CheckFunction,
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.failures import FailureGroup

from penstock import Store
from penstock.domains import INSTALLED
from penstock.plugin import DomainPlugin
from tests.web.films import DOMAIN as FILMS
from tests.web.films import Film
from tests.web.service import HERE, Service, film

CHECKS: list[CheckFunction] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
QUICK = {"max_examples": 2, "stateful_step_count": 5}
DEEP = {"max_examples": 25, "stateful_step_count": 15}


def settings(*, max_examples: int, stateful_step_count: int) -> hypothesis.settings:
    return hypothesis.settings(
        max_examples=max_examples,
        stateful_step_count=stateful_step_count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def from_here(app: Any) -> Any:
    """The application, with requests that come from this machine: Schemathesis says nothing of where it is."""

    async def here(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "client": HERE}, receive, send)

    return here


class Described:
    """The document of a service, which anybody may use; streams never end, so they are left out."""

    def __init__(self, folder: Path, installed: Sequence[DomainPlugin] = (DomainPlugin(FILMS),)) -> None:
        self._service = Service(folder, installed=installed, authentication=False, hosts=("testserver",))
        self._file = folder / "web.db"
        self.schema: Any = schemathesis.openapi.from_asgi("/openapi.json", from_here(self._service.app)).exclude(
            path_regex="/events$"
        )
        self.reset()

    def reset(self) -> None:
        """Begin anew with one film: a history must not depend on the one before."""
        with closing(sqlite3.connect(self._file)) as connection, connection:
            for (table,) in connection.execute("select name from sqlite_master where type = 'table'").fetchall():
                connection.execute(f'delete from "{table}"')
        self._service.store.create(Film.model_validate(film()))


def check_each_operation(schema: Any, chosen: hypothesis.settings) -> int:
    checked = 0
    for result in schema.get_all_operations():
        operation = result.ok()

        @chosen
        @hypothesis.given(case=operation.as_strategy())
        def check(case: Any) -> None:
            case.call_and_validate(checks=CHECKS)

        check()
        checked += 1
    return checked


def run_histories(described: Described, schema: Any, chosen: hypothesis.settings) -> list[str]:
    """Requests that follow from each other, by the document's links; the statuses that were seen."""
    seen: list[str] = []
    # By the document's links alone: what would be guessed from names takes a film's project for a record of its own.
    schema.config.phases.stateful.inference.algorithms = []

    class Histories(schema.as_state_machine()):  # type: ignore[misc]
        def setup(self) -> None:
            described.reset()

        def before_call(self, case: Any) -> None:
            # A history that ends at the door tells nothing; what wrong keys are answered is tried of each operation.
            for name in ("Authorization", "X-API-Key"):
                case.headers.pop(name, None)

        def validate_response(self, response: Any, case: Any, **kwargs: Any) -> None:
            seen.append(f"{case.operation.label} {response.status_code}")
            case.validate_response(response, checks=CHECKS)

    Histories.run(settings=chosen)
    return seen


def test_a_small_service_answers_as_it_is_described(tmp_path: Path) -> None:
    assert check_each_operation(Described(tmp_path).schema, settings(**QUICK)) > 30


def test_histories_have_no_undescribed_answer(tmp_path: Path) -> None:
    described = Described(tmp_path)
    chosen = described.schema.include(path_regex="^/api/films/films")
    # Hypothesis takes constants from all modules that are loaded, so what one run reaches depends on which are.
    for steps in (10, 16, 18, 20, 22):
        seen = run_histories(described, chosen, settings(max_examples=40, stateful_step_count=steps))
        assert any(s.endswith(" 201") for s in seen), "something was created on the way"
        if any("/moves/" in s and s.endswith(" 200") for s in seen):
            return
    raise AssertionError("nothing was moved")


def test_a_lie_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("broken")

    # Not a list: what is tried of its many parameters seldom fits together, and is refused before anything is read.
    schema = Described(tmp_path).schema.include(path="/api/films/films/{project_id}/{title}", method="GET")
    monkeypatch.setattr(Store, "get", broken)
    with pytest.raises(FailureGroup) as found:
        check_each_operation(schema, settings(max_examples=20, stateful_step_count=1))
    assert "Server error" in repr(found.value.exceptions)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_everything_that_ships_answers_as_it_is_described(tmp_path: Path) -> None:
    described = Described(tmp_path, (*INSTALLED, DomainPlugin(FILMS)))
    assert check_each_operation(described.schema, settings(**DEEP)) > 100
    run_histories(described, described.schema, settings(max_examples=200, stateful_step_count=15))
