"""What a change keeps to itself: attempts in vain, what is personal, and the one claim that it ends."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock import Store
from penstock.domains import DOMAINS
from penstock.errors import InvalidValue
from penstock.kernel.audit import SystemAudit
from penstock.kernel.idempotency import Claim, OnceStatus, SystemOnce, begin
from penstock.kernel.outbox import MessageStatus, SystemMessage
from tests.kernel.test_outbox import project
from tests.web.guests import Guest


def claimed(store: Store, key: str) -> Claim:
    now = store.clock.now()
    mark = SystemOnce(idempotency_key=key, created_at=now, ttl=int(now.timestamp()) + 9999)
    claim = begin(store, mark, owner="w", period=timedelta(minutes=1))
    assert isinstance(claim, Claim)
    return claim


def test_a_line_of_the_trail_is_about_what_was_done_and_not_about_an_attempt_in_vain(store: Store) -> None:
    store.ensure(*DOMAINS)
    failed, made = project(store), project(store)
    with store.change(by="ann") as change:
        with pytest.raises(ValueError, match="in vain"), change.attempt():
            change.emit("project.failed", failed)
            raise ValueError("in vain")
        change.emit("project.made", made)
    (line,) = store.find(SystemAudit.of_project(project_id=str(made.project_id)))
    assert line.action == "project.made"
    assert str(failed.project_id) not in str(line.details)
    (message,) = store.find(SystemMessage.by_status(status=MessageStatus.PENDING))
    assert message.aggregate == repr(made.ref)


def test_a_message_quotes_nothing_that_is_personal(store: Store) -> None:
    """Whoever gets messages gets the key, by which those who may can read the record."""
    guest = Guest(project_id="p1", guest_id="g1", words="in confidence", said_at=store.clock.now())
    change = store.change()
    with pytest.raises(InvalidValue, match=r"words of .*Guest is personal") as refused:
        change.emit("guest.said", guest, words=guest.words)
    assert "in confidence" not in str(refused.value)
    change.emit("guest.said", guest)


def test_a_change_ends_one_claim(store: Store) -> None:
    store.ensure()
    first, second = claimed(store, "first"), claimed(store, "second")
    with pytest.raises(InvalidValue, match="it can end one"), store.change(once=first) as change:
        change.end_claim(second, None)
    statuses = [store.get(SystemOnce.at(idempotency_key=key)).status for key in ("first", "second")]
    assert statuses == [OnceStatus.IN_PROGRESS] * 2
