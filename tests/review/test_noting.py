"""Notes on every engine: threads, versions, counts, and that they go with their record."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Conflict, IllegalMove, InvalidValue, NotFound
from penstock.kernel.audit import SystemAudit
from penstock.review import noting
from penstock.review.errors import NotYours, StaleNote, TooManyNotes
from penstock.review.note import Note, NoteNews, NoteStatus, ReviewedRecord
from penstock.review.noting import NewNote, NoteAuthor, find_note
from penstock.review.past_reviews import PastReviews
from penstock.review.pin import Pin, PinnedRegion
from penstock.review.review_subject import ReviewSubject
from tests.review.shots import DOMAIN, Shot, subject

ANN, BOB = NoteAuthor("ann#1", "ann"), NoteAuthor("bob#2", "bob")
ADMIN = NoteAuthor("root#3", "root", is_admin=True)
REGION = PinnedRegion(x=0.1, y=0.2, width=0.3, height=0.4)


@pytest.fixture
def store(anywhere: Store) -> Store:
    anywhere.ensure(DOMAIN)
    return anywhere


@pytest.fixture
def shot(store: Store) -> ReviewSubject:
    return subject(store)


def write(store: Store, shot: ReviewSubject, text: str = "too dark", by: NoteAuthor = ANN, **more: Any) -> Note:
    with store.change(by=by.id) as change:
        return noting.write(change, shot, by, NewNote(text, **more))


def reply(store: Store, shot: ReviewSubject, first: Note, text: str = "no", by: NoteAuthor = BOB) -> Note:
    with store.change(by=by.id) as change:
        return noting.reply(change, shot, by, first.thread_id, text)


def delete(store: Store, shot: ReviewSubject, note: Note, by: NoteAuthor = ANN) -> None:
    with store.change(by=by.id) as change:
        noting.delete(change, shot, by, find_note(store, shot, note.note_id, thread_id=note.thread_id))


def texts(store: Store, query: Any) -> list[str]:
    return [note.text for note in store.find(query)]


def counts(store: Store, shot: ReviewSubject) -> tuple[int, int]:
    known = store.get(ReviewedRecord.at(about=shot.about))
    return known.notes, known.open_threads


def test_threads_are_listed_by_age_and_by_place_and_replies_in_order(store: Store, shot: ReviewSubject) -> None:
    late = write(store, shot, "late", pin=Pin(time_ms=9000))
    write(store, shot, "early", pin=Pin(time_ms=1000, region=REGION))
    write(store, shot, "on the whole")
    for text in ("one", "two", "three"):
        reply(store, shot, late, text)
    assert texts(store, Note.oldest_threads(begins=shot.about)) == ["late", "early", "on the whole"]
    assert texts(store, Note.newest_threads(begins=shot.about)) == ["on the whole", "early", "late"]
    assert texts(store, Note.threads_in_place(begins=shot.about)) == ["on the whole", "early", "late"]
    assert texts(store, Note.of_record(about=shot.about, thread_id=late.thread_id)) == ["late", "one", "two", "three"]
    assert find_note(store, shot, late.note_id).replies == 3
    assert counts(store, shot) == (6, 3)
    (early,) = [n for n in store.find(Note.oldest_threads(begins=shot.about)) if n.text == "early"]
    assert early.pinned == Pin(time_ms=1000, region=REGION)


def test_a_note_is_edited_by_its_author_and_under_the_version_they_have_seen(store: Store, shot: ReviewSubject) -> None:
    note = write(store, shot)
    with store.change(by="ann") as change:
        noting.edit(change, shot, ANN, find_note(store, shot, note.note_id), version=1, text="too bright")
    stands = find_note(store, shot, note.note_id)
    assert (stands.text, stands.version, stands.edited_at) == ("too bright", 2, store.clock.now())
    with pytest.raises(StaleNote), store.change(by="ann") as change:
        noting.edit(change, shot, ANN, stands, version=1, text="lost")
    with pytest.raises(NotYours, match="by ann"), store.change(by="bob") as change:
        noting.edit(change, shot, BOB, stands, version=2, text="mine")
    assert find_note(store, shot, note.note_id).text == "too bright"


def test_of_two_edits_at_once_one_is_refused(store: Store, shot: ReviewSubject) -> None:
    note = write(store, shot)
    mine, theirs = (find_note(store, shot, note.note_id) for _ in range(2))
    with store.change(by="ann") as change:
        noting.edit(change, shot, ANN, mine, version=1, text="first")
    with pytest.raises(Conflict), store.change(by="ann") as change:
        noting.edit(change, shot, ANN, theirs, version=1, text="second")
    assert find_note(store, shot, note.note_id).text == "first"


def test_a_reply_does_not_get_in_the_way_of_an_edit(store: Store, shot: ReviewSubject) -> None:
    note = write(store, shot)
    seen = find_note(store, shot, note.note_id)
    reply(store, shot, note)
    with store.change(by="ann") as change:
        noting.edit(change, shot, ANN, seen, version=1, text="edited")
    assert (find_note(store, shot, note.note_id).text, find_note(store, shot, note.note_id).replies) == ("edited", 1)


def test_a_thread_is_resolved_and_opened_again_as_a_whole(store: Store, shot: ReviewSubject) -> None:
    note = write(store, shot)
    answer = reply(store, shot, note)
    with store.change(by="bob") as change:
        noting.resolve(change, shot, BOB, find_note(store, shot, note.note_id), version=1)
    stands = find_note(store, shot, note.note_id)
    assert (stands.status, stands.resolved_by, stands.resolved_at) == (NoteStatus.RESOLVED, "bob", store.clock.now())
    assert counts(store, shot) == (2, 0)
    with pytest.raises(IllegalMove), store.change(by="bob") as change:
        noting.resolve(change, shot, BOB, stands, version=2)
    with store.change(by="ann") as change:
        noting.reopen(change, shot, ANN, find_note(store, shot, note.note_id), version=2)
    assert counts(store, shot) == (2, 1)
    with pytest.raises(InvalidValue, match="as a whole"), store.change(by="bob") as change:
        noting.resolve(change, shot, BOB, answer, version=1)


def test_what_is_deleted_is_gone_unless_others_have_replied(store: Store, shot: ReviewSubject) -> None:
    alone, asked = write(store, shot, "alone"), write(store, shot, "asked")
    answer = reply(store, shot, asked)
    with pytest.raises(NotYours):
        delete(store, shot, alone, by=BOB)
    delete(store, shot, alone)
    delete(store, shot, asked, by=ADMIN)
    (left,) = store.find(Note.newest_threads(begins=shot.about))
    assert (left.note_id, left.text, left.deleted_at is not None) == (asked.note_id, "", True)
    assert counts(store, shot) == (1, 0)
    with pytest.raises(NotFound):
        delete(store, shot, asked)
    delete(store, shot, answer, by=BOB)
    assert list(store.find(Note.of_record(about=shot.about))) == [], "an empty place goes with the last reply"
    assert counts(store, shot) == (0, 0)
    deeds = [line.action for line in store.find(SystemAudit.of_project(project_id="p1"))]
    assert deeds.count("note.deleted") == 3
    assert "asked" not in str([line.details for line in store.find(SystemAudit.of_project(project_id="p1"))])


def test_replies_and_notes_are_bounded(store: Store, shot: ReviewSubject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noting, "MOST_REPLIES", 2)
    monkeypatch.setattr(noting, "MOST_NOTES", 4)
    note = write(store, shot)
    for _ in range(2):
        reply(store, shot, note)
    with pytest.raises(TooManyNotes, match="2 replies"):
        reply(store, shot, note)
    write(store, shot)
    with pytest.raises(TooManyNotes, match="4 notes"):
        write(store, shot)
    assert counts(store, shot) == (4, 2)


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 5001, "a\x00b", "a\x1bb", "\u202e", "\ud800"])
def test_a_text_that_is_not_plain_is_refused(store: Store, shot: ReviewSubject, text: str) -> None:
    with pytest.raises(InvalidValue):
        write(store, shot, text)
    assert store.lookup(ReviewedRecord.at(about=shot.about)) is None


def test_the_news_tell_that_something_was_said_and_not_what(store: Store, shot: ReviewSubject) -> None:
    note = write(store, shot)
    news = store.get(NoteNews.at(topic=shot.topic))
    assert (news.event, news.note_id, news.project_id) == ("note.written", note.note_id, "p1")
    assert "dark" not in str(news) + str(store.history(shot.ref).entries)
    assert store.history(shot.ref).entries[0].action == "note.written"


def test_a_store_of_another_project_sees_none_of_it(store: Store, shot: ReviewSubject) -> None:
    note = write(store, shot)
    mine, other = store.scoped("p1", enforce=False), store.scoped("p2", enforce=False)
    assert find_note(mine, shot, note.note_id).text == "too dark"
    with pytest.raises(NotFound):
        find_note(other, shot, note.note_id)
    assert texts(other, Note.newest_threads(begins=shot.about)) == []
    reply(mine, shot, note)
    assert counts(store, shot) == (2, 1)


def test_what_was_said_goes_when_the_record_is_gone_for_good(
    store: Store, shot: ReviewSubject, clock: FrozenClock
) -> None:
    other = subject(store, "Other")
    for each in (shot, other):
        first = write(store, each)
        for number in range(60):
            reply(store, each, first, f"reply {number}")
    store.delete(shot.ref)
    past = PastReviews(store, [DOMAIN], owner="tests")
    assert past.run() == 0, "it is looked for once a day"
    clock.advance(timedelta(days=1, minutes=1))
    assert past.run() == 1
    assert list(store.find(Note.of_record(about=shot.about))) == []
    assert store.lookup(ReviewedRecord.at(about=shot.about)) is None
    assert len(list(store.find(Note.of_record(about=other.about)))) == 61
    assert past.run() == 0
    assert store.get(ReviewedRecord.at(about=other.about)).look_at > clock.now()


def test_a_record_whose_domain_is_not_served_is_not_gone(store: Store, shot: ReviewSubject, clock: FrozenClock) -> None:
    write(store, shot)
    store.delete(Shot.at(project_id="p1", title="Robot", take=1))
    clock.advance(timedelta(days=2))
    assert PastReviews(store, [], owner="tests").run() == 0
    assert len(list(store.find(Note.of_record(about=shot.about)))) == 1
