"""What a running system gives to its domains."""

from __future__ import annotations

from pathlib import Path

from penstock import Store, open_objects
from penstock.work.domain_context import DomainContext


def test_what_is_made_of_a_context_is_made_once_and_kept(store: Store, tmp_path: Path) -> None:
    context = DomainContext(store, open_objects(f"files:///{tmp_path}"), lambda name: None)
    made: list[DomainContext] = []

    def make(given: DomainContext) -> list[DomainContext]:
        made.append(given)
        return made

    assert context.made_once(make) is context.made_once(make) is made
    assert made == [context]
