"""Choices that are declared no longer, and records that have them: counted, and brought to what stands instead."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest

from penstock import Instead, Store
from penstock.cli.migrate import show_pending
from penstock.errors import Conflict, DamagedRecord, DeclarationError, IndexIncomplete, LayoutMismatch
from penstock.evolution.migration import Migration, MigrationProgress
from penstock.evolution.pending import PendingMigration, pending_migrations
from penstock.operations.conditions import Compare, OneOf
from penstock.operations.updates import Set
from tests.evolution.dying import Killed, dying
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import Declared, cinema, film


class Many(StrEnum):
    """What older declarations have."""

    DRAMA = "drama"
    WESTERN = "western"
    NOIR = "noir"


class Few(StrEnum):
    """What a newer one has."""

    DRAMA = "drama"
    SPACE = "space"


INSTEAD = Instead({"western": Few.SPACE, "noir": Few.DRAMA})
SHELF = ("GENRE#{genre}", "{film_id}")


def _old(**options: Any) -> Declared:
    return film({"title": str, "genre": Many}, **options)


def _new(rule: Instead | None = INSTEAD, **options: Any) -> Declared:
    return film({"title": str, "genre": Few if rule is None else Annotated[Few, rule]}, **options)


def _stand(store: Store, declared: Declared, number: int = 9) -> None:
    kinds = list(Many)
    store.put_many([declared(film_id=f"{n}", title="t", genre=kinds[n % 3]) for n in range(number)])


def _pending(store: Store, declared: Declared) -> PendingMigration:
    (found,) = pending_migrations(store, [cinema(declared)], counted=True)
    return found


def _run(store: Store, declared: Declared, **options: Any) -> MigrationProgress:
    return Migration(store, declared.__shape__, **{"segments": 1, "page": 4, "shut_out": True, **options}).run()


def test_a_dry_run_tells_how_many_records_have_what_is_declared_no_longer(
    store: Store, another: OpenStore, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = _old(), _new(Instead({"western": Few.SPACE}))
    _stand(ensured(another, old), old)
    after = another()
    step = after.ensure(cinema(new))[-1]
    assert (step.kind, step.name) == ("needs a migration", "cinema.Film.genre")
    assert "noir, western" in step.detail
    assert "--dry-run" in step.detail
    pending = _pending(after, new)
    assert pending.refused is None
    assert [(lost.value, lost.records, lost.instead) for lost in pending.lost] == [
        ("noir", 3, None),
        ("western", 3, "space"),
    ]
    assert sorted(pending.lost[0].examples) == ["Film(film_id=2)", "Film(film_id=5)", "Film(film_id=8)"]
    show_pending([pending], as_json=False)
    said = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "nothing stands instead" in said
    assert _pending(after, new).stage is None


def test_it_does_not_end_while_a_record_has_a_value_for_which_nothing_stands(store: Store, another: OpenStore) -> None:
    old, new = _old(), _new(Instead({"western": Few.SPACE}))
    before = ensured(another, old)
    _stand(before, old)
    after = ensured(another, new)
    with pytest.raises(LayoutMismatch, match=r"3 records have the value noir .*Instead \(Film\(film_id=\d\)"):
        _run(after, new)
    assert _pending(after, new).stage is None  # so that it can still be declared again
    assert before.get(old.at(film_id="2")).genre is Many.NOIR  # nobody is shut out, and whatever is said holds
    before.put(old(film_id="1", title="t", genre=Many.WESTERN))
    with pytest.raises(DamagedRecord, match="declared no longer"):
        after.get(new.at(film_id="2"))
    for name in "258":
        before.patch(old.at(film_id=name), Set("genre", Many.DRAMA))
    assert _run(after, new).stage == "complete"
    assert [after.get(new.at(film_id=name)).genre for name in "128"] == [Few.SPACE, Few.DRAMA, Few.DRAMA]
    assert after.ensure(cinema(new), dry_run=True) == []


def test_one_that_is_written_meanwhile_keeps_it_from_its_end(store: Store, another: OpenStore) -> None:
    old, new = _old(), _new(None)
    before, after = ensured(another, old), ensured(another, new)
    before.put(old(film_id="a", title="t", genre=Many.DRAMA))

    def write(told: MigrationProgress) -> None:
        before.put(old(film_id="b", title="t", genre=Many.NOIR))

    with pytest.raises(LayoutMismatch, match=r"Film\(film_id=b\).*'noir'.*Instead"):
        _run(after, new, tell=write)
    before.put(old(film_id="b", title="t", genre=Many.DRAMA))
    assert _run(after, new).stage == "complete"


def test_without_a_rule_it_ends_where_no_record_has_any(store: Store, another: OpenStore) -> None:
    """It was refused for ever, whether a record had one or not."""
    old, new = _old(), _new(None)
    before = ensured(another, old)
    before.put(old(film_id="a", title="t", genre=Many.DRAMA))
    before.close()
    after = ensured(another, new)
    assert _pending(after, new).lost == ()
    assert _run(after, new).stage == "complete"
    assert after.ensure(cinema(new), dry_run=True) == []
    after.put(new(film_id="a", title="t", genre=Few.SPACE))


def test_both_declarations_go_on_and_each_reads_what_the_other_writes(store: Store, another: OpenStore) -> None:
    old, new = _old(), _new()
    before = ensured(another, old)
    _stand(before, old)
    after = ensured(another, new)
    stages = []

    def write(told: MigrationProgress) -> None:
        stages.append(told.stage)
        after.put(new(film_id="a", title="t", genre=Few.DRAMA))
        assert before.get(old.at(film_id="a")).genre is Many.DRAMA
        before.put(old(film_id="b", title="t", genre=Many.WESTERN))
        assert after.get(new.at(film_id="b")).genre is Few.SPACE
        after.patch(new.at(film_id="b"), Set("genre", Few.DRAMA), when=Compare("genre", "=", Few.SPACE))
        assert before.get(old.at(film_id="b")).genre is Many.DRAMA

    _run(after, new, tell=write)
    assert "filling" in stages
    assert before.get(old.at(film_id="a")).genre is Many.DRAMA
    with pytest.raises(LayoutMismatch, match="'western' is no value"):
        before.put(old(film_id="b", title="t", genre=Many.WESTERN))
    with pytest.raises(LayoutMismatch, match="'noir' is no value"):
        before.patch(old.at(film_id="b"), Set("genre", Many.NOIR))
    before.put(old(film_id="b", title="u", genre=Many.DRAMA))
    assert {n: after.get(new.at(film_id=f"{n}")).genre for n in range(3)} == {
        0: Few.DRAMA,
        1: Few.SPACE,
        2: Few.DRAMA,
    }


def test_questions_are_answered_by_what_records_read_as_or_not_at_all(store: Store, another: OpenStore) -> None:
    old, new = _old(index=SHELF), _new(index=SHELF)
    before = ensured(another, old)
    _stand(before, old)
    after = ensured(another, new)
    everything = list("012345678")

    def asked(*conditions: Any) -> list[str]:
        return [
            n for n in everything for c in conditions if after.lookup(new.at(film_id=n)) and _holds(after, new, n, c)
        ]

    assert asked(Compare("genre", "=", Few.SPACE)) == list("147")
    assert asked(Compare("genre", "<>", Few.SPACE)) == list("023568")
    assert asked(OneOf("genre", (Few.DRAMA,))) == list("023568")
    with pytest.raises(IndexIncomplete, match="declared no longer"):
        list(after.find(new.by_shelf(genre=Few.DRAMA)))
    assert [f.film_id for f in before.find(old.by_shelf(genre=Many.NOIR))] == list("258")
    _run(after, new)
    assert [f.film_id for f in after.find(new.by_shelf(genre=Few.DRAMA))] == list("023568")
    assert [f.film_id for f in after.find(new.by_shelf(genre=Few.SPACE))] == list("147")
    assert list(before.find(old.by_shelf(genre=Many.NOIR))) == []


def _holds(store: Store, declared: Declared, name: str, condition: Any) -> bool:
    """Does a condition hold of a record, by the store's own word?"""
    try:
        store.patch(declared.at(film_id=name), Set("title", "t"), when=condition)
    except Conflict:
        return False
    return True


def test_texts_that_are_listed_are_choices_as_well(store: Store, another: OpenStore) -> None:
    old = film({"title": str, "genre": Literal["drama", "western"]})
    new = film({"title": str, "genre": Annotated[Literal["drama", "space"], Instead({"western": "space"})]})
    before = ensured(another, old)
    before.put_many([old(film_id=n, title="t", genre=g) for n, g in (("a", "drama"), ("b", "western"))])
    before.close()
    after = ensured(another, new)
    assert [(lost.value, lost.records) for lost in _pending(after, new).lost] == [("western", 1)]
    assert after.get(new.at(film_id="b")).genre == "space"
    _run(after, new)
    assert [after.get(new.at(film_id=n)).genre for n in "ab"] == ["drama", "space"]
    assert after.ensure(cinema(new), dry_run=True) == []


def test_a_choice_that_keys_are_made_of_stays(store: Store, another: OpenStore) -> None:
    keys = ("FILM#{film_id}", "{genre}")
    old, new = _old(keys=keys), _new(keys=keys)
    before = ensured(another, old)
    before.put(old(film_id="a", title="t", genre=Many.NOIR))
    after = ensured(another, new)
    assert "keep them declared" in str(_pending(after, new).refused)


@pytest.mark.parametrize("commits", [pytest.param(4, marks=pytest.mark.long), 5])
def test_killed_again_and_again_it_comes_to_its_end(store: Store, another: OpenStore, commits: int) -> None:
    old, new = _old(index=SHELF), _new(index=SHELF)
    before = ensured(another, old)
    _stand(before, old)
    after = ensured(another, new)
    deaths = 0
    while deaths < 40:
        try:
            _run(dying(another(), commits), new)
            break
        except Killed:
            deaths += 1
            assert after.get(new.at(film_id="1")).genre is Few.SPACE
    assert deaths > 1
    assert [f.film_id for f in after.find(new.by_shelf(genre=Few.SPACE))] == list("147")


@pytest.mark.parametrize("rule", [{"drama": Few.SPACE}, {"noir": "comedy"}])
def test_what_stands_instead_is_declared(rule: dict[str, Any]) -> None:
    with pytest.raises(DeclarationError, match="stands for"):
        _new(Instead(rule))
