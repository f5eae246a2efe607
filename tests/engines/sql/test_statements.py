"""The SQL of each kind of question and write, as it is sent: compiling is pure, so it can be looked at."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from penstock import Query, select, since, the, together
from penstock.domains.assetcreator.bookkeeping import Outbox
from penstock.domains.musicvideo.model import Project, ProjectStatus, Scene
from penstock.engines.sql.dialect import Dialect
from penstock.engines.sql.dialects import POSTGRES, SQLITE
from penstock.engines.sql.explain import explain_sql
from penstock.engines.sql.statements import Statements
from penstock.kernel.handle import patch, put
from penstock.kernel.outbox import MessageStatus
from penstock.operations.conditions import Missing, Present
from penstock.operations.writes import Delete
from penstock.testing.crates import Crate, Parcel

PROJECT = UUID(int=1)
MOMENT = datetime(2025, 1, 1, tzinfo=UTC)
RECENT: Query[Project] = Project.by_status(status=ProjectStatus.PENDING, created_at=since(MOMENT)).reversed()
SCENE = Scene(project_id=PROJECT, sequence=1, prompt="p", duration=8.0, created_at=MOMENT, updated_at=MOMENT)


def behind_the_columns(text: str) -> str:
    """A select without its long list of columns."""
    return text.partition(" from ")[2]


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        (
            POSTGRES,
            '"musicvideo"."projects" as r where r."status" = %s and r."created_at" >= %s and '
            '(r."created_at", r."project_id") < (%s, %s) order by r."created_at" desc, r."project_id" desc limit %s',
        ),
        (
            SQLITE,
            '"musicvideo_projects" as r where r."status" = ? and r."created_at" >= ? and '
            '(r."created_at", r."project_id") < (?, ?) order by r."created_at" desc, r."project_id" desc limit ?',
        ),
    ],
)
def test_a_page_of_an_index_backwards_behind_a_place(dialect: Dialect, expected: str) -> None:
    """MV-40, MV-41: the order is made total by the record's own key, so that a page continues exactly."""
    place = {"created_at": MOMENT, "project_id": PROJECT}
    statement = Statements(Project.__shape__, dialect).find(RECENT, 51, place, 0)
    assert behind_the_columns(statement.text) == expected
    assert len(statement.parameters) == 5


def test_the_text_depends_on_the_form_of_a_question_and_not_on_its_values() -> None:
    statements = Statements(Project.__shape__, POSTGRES)
    other = Project.by_status(status=ProjectStatus.FAILED, created_at=since(MOMENT)).reversed()
    assert statements.find(RECENT, 51, None, 0).text is statements.find(other, 11, None, 9).text


def test_a_partition_in_the_order_of_its_sort_key() -> None:
    """MV-39."""
    statement = Statements(Scene.__shape__, SQLITE).find(Scene.of_project(project_id=PROJECT), 51, None, 0)
    assert behind_the_columns(statement.text) == (
        '"musicvideo_scenes" as r where r."project_id" = ? order by r."sequence" limit ?'
    )
    assert statement.parameters == (str(PROJECT), 51)


def test_a_sparse_index_is_named_so_that_a_planner_recognises_it_and_the_expired_are_left_out() -> None:
    """F-AC-2, F-X-2."""
    query = Outbox.by_status(status=MessageStatus.PENDING)
    statement = Statements(Outbox.__shape__, POSTGRES).find(query, 2, None, 99)
    assert behind_the_columns(statement.text) == (
        '"assetcreator"."outbox" as r where r."status" = %s and r."status" in (\'dead\', \'pending\') '
        'and (r."ttl" is null or r."ttl" > %s) order by r."created_at", r."id" limit %s'
    )
    assert statement.parameters == ("pending", 99, 2)


def test_a_patch_is_one_conditional_update() -> None:
    """A comparison with a missing column is false, never null."""
    write = patch(SCENE.ref, the(Scene.retry_count).add(1), when=the(Scene.prompt).equals("x"))
    statement = Statements(Scene.__shape__, POSTGRES).patch(write, 0)
    assert statement.text == (
        'update "musicvideo"."scenes" as r set "retry_count" = coalesce(r."retry_count", 0) + %s '
        'where r."project_id" = %s and r."sequence" = %s and coalesce(r."prompt" = %s, false)'
    )
    assert statement.parameters == (1, PROJECT, 1, "x")
    assert statement.must_touch


def test_a_create_inserts_and_a_conditional_put_updates() -> None:
    statements = Statements(Scene.__shape__, POSTGRES)
    create = statements.write(put(SCENE, when=Missing()), 0)
    assert create.text.startswith('insert into "musicvideo"."scenes" as r (')
    assert create.text.endswith(" where false")
    assert create.must_touch
    replace = statements.write(put(SCENE, when=Present()), 0)
    assert replace.text.startswith('update "musicvideo"."scenes" as r set ')


def test_a_delete_whose_condition_allows_absence_says_so() -> None:
    statements = Statements(Scene.__shape__, SQLITE)
    tolerant = statements.write(Delete(Scene.__shape__, SCENE.ref.key, the(Scene.prompt).differs("x")), 0)
    strict = statements.write(Delete(Scene.__shape__, SCENE.ref.key, the(Scene.prompt).equals("x")), 0)
    assert tolerant.stands is not None
    assert strict.stands is None
    assert tolerant.text.endswith('(r."prompt" is null or r."prompt" <> ?)')


def test_what_is_shown_of_a_question_tells_what_is_asked_and_how_much_is_read_of_it() -> None:
    parcels = Parcel.of_crate(crate="c")
    heavy = parcels.where(the(Parcel.weight).since(7))
    for asked, expected in (
        (parcels, ["c", "0", "11"]),
        (heavy, ["7", "c", "0", "101", "100", "13"]),
        (select(parcels, Parcel.weight), ["c", "0", "11"]),
        (replace(parcels, fields=()), ["c", "0", "11"]),
        (replace(heavy, fields=()), ["7", "c", "0", "101"]),
    ):
        shown: Any = explain_sql(asked, limit=10, examine=100)
        assert shown["sqlite"]["parameters"] == shown["postgresql"]["parameters"] == expected
    several: Any = explain_sql(together(Crate.at(crate="c"), heavy), limit=10)
    assert [each["parameters"] for each in several["sqlite"]] == [["c", "11"], ["c", "0", "7", "11"]]
