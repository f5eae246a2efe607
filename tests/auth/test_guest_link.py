"""Guest links by themselves: that one is used is written down once, however many ask at the same moment."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock import Store
from penstock.auth.guest_link import GuestLink, LinkTarget, NewLink, create_link, new_link_token, note_visit
from penstock.schema.role import Role

TARGET = LinkTarget(about="films.Film at f1", domain="films", collection="films", parts={"film_id": "f1"}, project=None)


@pytest.fixture
def link(anywhere: Store) -> NewLink:
    anywhere.ensure()
    with anywhere.change(by="ann") as change:
        return create_link(
            change,
            TARGET,
            label="the band",
            rights=frozenset(),
            role=Role.EDITOR,
            lasts=timedelta(days=1),
            by="ann",
            token=new_link_token(),
        )


def test_of_those_who_come_at_the_same_moment_one_is_counted(anywhere: Store, link: NewLink) -> None:
    """Each of them has read the link before any visit was written down."""
    first = anywhere.get(link.record.ref)
    assert [note_visit(anywhere, first) for _ in range(3)] == [True, False, False]
    found = anywhere.get(link.record.ref)
    assert (found.visits, found.last_visit_at) == (1, anywhere.clock.now())
    anywhere.clock.advance(timedelta(minutes=10))  # type: ignore[attr-defined]
    assert [note_visit(anywhere, found) for _ in range(2)] == [True, False]
    assert anywhere.get(GuestLink.at(link_id=link.record.link_id)).visits == 2
