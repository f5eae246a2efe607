"""The kernel's properties, each on every engine, over the same random histories; and twins that break them.

A history is lived once for each engine, and every property is judged in it. The history in which one fails is lived
again up to that point, so that its steps are shown; the long test also looks for the shortest one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from penstock import Store
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.sqlite import SqliteConnector
from penstock.ports.engine import Engine
from tests.kernel import twins
from tests.kernel.workdays import SAME_EVERY_TIME, Place, Property, Verdicts, live

DAYS = {"sqlite": 8, "postgres": 5, "dynoxide": 4, "dynamodb-local": 2}
"How many histories are lived: as many as are affordable."


class Lived:
    """What was found on one engine."""

    def __init__(self, open_engine: Callable[[], Engine], **options: Any) -> None:
        self._open_engine, self._options = open_engine, options
        self._verdicts = live(Place(open_engine), **options)

    def shows(self, about: Property) -> None:
        """Nothing was found against a property, and it was looked for."""
        if self._verdicts.wrong[about]:
            live(Place(self._open_engine, strict=about), **self._options)
        assert self._verdicts.wrong[about] == []
        assert self._verdicts.looked[about] > 0


@pytest.fixture(scope="module")
def lived(shared_engine: Callable[[], Engine], engine_name: str) -> Lived:
    return Lived(shared_engine, days=DAYS[engine_name], **SAME_EVERY_TIME)


def test_an_index_is_a_function_of_its_base(lived: Lived) -> None:
    """AC-12, F-MV-4, F-AC-14, F-NC-6: also after crashes, races and refusals."""
    lived.shows("an index is a function of its base")


def test_only_declared_transitions_happen(lived: Lived) -> None:
    """F-MV-4, F-NC-7: whoever lost a race has not moved anything from where it no longer was."""
    lived.shows("only declared transitions happen")


def test_counters_equal_a_recount(lived: Lived) -> None:
    """MV-74, F-MV-5, F-VM-4: state and counter change together or not at all."""
    lived.shows("counters equal a recount")


def test_of_k_racers_one_wins(lived: Lived) -> None:
    """NC-23, NC-36, F-NC-3, F-AC-4, F-MV-10: for a move, for a lease, for a turn."""
    lived.shows("of k racers one wins")


def test_a_fenced_out_owner_changes_nothing(lived: Lived) -> None:
    """F-NC-4, F-MV-10: whichever lease it once had."""
    lived.shows("a fenced-out owner changes nothing")


def test_a_change_and_its_event_are_both_there_or_neither(lived: Lived) -> None:
    """AC-36, AC-47, F-AC-2, F-AC-6: wherever the process dies; the audit line as well."""
    lived.shows("a change and its event are both there or neither")


def test_every_event_is_delivered(lived: Lived) -> None:
    """AC-37, AC-38, F-AC-2: by relays that fail and die, in whatever order messages become visible."""
    lived.shows("every event is delivered")


def test_what_has_expired_is_invisible(lived: Lived) -> None:
    """VM-22, AC-44, F-X-2, F-VM-5: by the reader's clock, in reads, in lists and in conditions."""
    lived.shows("what has expired is invisible")


def test_no_project_reads_another(lived: Lived) -> None:
    """AC-45, F-AC-7: through keys, lists and shared indexes."""
    lived.shows("no project reads another")


def test_a_list_does_not_depend_on_the_size_of_its_pages(lived: Lived) -> None:
    """F-X-8, F-AC-14: also where many have the same place in the order."""
    lived.shows("a list does not depend on the size of its pages")


def test_an_index_that_lags_spoils_nothing_that_is_decided(tmp_path: Path) -> None:
    """F-X-3: it only finds; what is read by key, and the condition of the write, decides."""
    verdicts = lived_by_twins(tmp_path, twin=twins.LagsBehind)
    lists: set[Property] = {
        "an index is a function of its base",
        "a list does not depend on the size of its pages",
        "no project reads another",
    }
    assert {about for about, wrong in verdicts.wrong.items() if wrong} <= lists
    assert verdicts.wrong["an index is a function of its base"], "it did lag"


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_all_properties_hold_over_many_histories(shared_engine: Callable[[], Engine]) -> None:
    lived = Lived(shared_engine, days=100)
    for about in get_args(Property):
        lived.shows(about)


# Twins


def leaks(store: Store, project: str) -> Store:
    """A handle that forgets to which project it is bound."""
    return store


TWINS: dict[str, tuple[Property, dict[str, Any]]] = {
    "an index that lags": ("an index is a function of its base", {"twin": twins.LagsBehind}),
    "no condition on the old state": ("only declared transitions happen", {"twin": twins.NoOldState}),
    "counts twice": ("counters equal a recount", {"twin": twins.CountsTwice}),
    "no condition on the old state, in a race": ("of k racers one wins", {"twin": twins.NoOldState}),
    "no fence": ("a fenced-out owner changes nothing", {"twin": twins.NoFence}),
    "messages in a commit of their own": (
        "a change and its event are both there or neither",
        {"twin": twins.TellsLater},
    ),
    "messages after the last one seen": ("every event is delivered", {"twin": twins.ReadsTheOutboxOn}),
    "expired records are seen": ("what has expired is invisible", {"twin": twins.NeverExpires}),
    "a handle that is not bound": ("no project reads another", {"scoped": leaks}),
    "pages after the last one's place": (
        "a list does not depend on the size of its pages",
        {"twin": twins.PagesBehindTheLast},
    ),
}


def test_there_is_a_twin_for_every_property() -> None:
    assert {about for about, _ in TWINS.values()} == set(get_args(Property))


@pytest.mark.parametrize("name", TWINS)
def test_a_broken_twin_is_found_out(name: str, tmp_path: Path) -> None:
    """The tests above can fail. A twin breaks the kernel, not an engine, so that one engine is enough."""
    about, parts = TWINS[name]
    assert lived_by_twins(tmp_path, **parts).wrong[about], f"{name}: nothing was noticed"


def lived_by_twins(folder: Path, **parts: Any) -> Verdicts:
    place = Place(lambda: SqlEngine(SqliteConnector(str(folder / "twins.db"))), **parts)
    return live(place, days=5, **SAME_EVERY_TIME)
