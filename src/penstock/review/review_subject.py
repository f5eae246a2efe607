"""Every kind of record that can be reviewed, and how one is named: by its domain, its collection and its key."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.errors import InvalidKey
from penstock.kernel.record_name import name_of
from penstock.kernel.store import Store
from penstock.kernel.tracked import project_of
from penstock.operations.reads import Ref
from penstock.review.errors import NotAnItem
from penstock.schema.kinds import from_key_text


@dataclass(frozen=True, slots=True)
class ReviewSubject:
    """A record that somebody looks at."""

    ref: Ref[Any]
    record: Entity

    @property
    def about(self) -> str:
        """Its name, as in the audit trail."""
        return name_of(self.ref)

    @property
    def topic(self) -> str:
        """What its news are found under by those who may see it, and which tells others nothing."""
        return topic_of(self.about)

    @property
    def project(self) -> str | None:
        return project_of(self.record)

    @property
    def entity(self) -> type[Entity]:
        return type(self.record)

    @classmethod
    def read(cls, store: Store, ref: Ref[Any]) -> ReviewSubject:
        """A record as it stands; NotFound if it does not."""
        return cls(ref, store.get(ref))


def topic_of(about: str) -> str:
    """What stands for the name of a record."""
    return hashlib.sha256(f"topic:{about}".encode()).hexdigest()[:40]


class KindsByPath:
    """The kinds of records of some domains."""

    def __init__(self, domains: Iterable[Domain]) -> None:
        self._kinds = {(d.name, e.__shape__.collection): e for d in domains for e in d.entities}

    def kinds(self) -> Iterable[type[Entity]]:
        """All of them."""
        return self._kinds.values()

    def kind(self, domain: str, collection: str) -> type[Entity]:
        """The kind that lies at a path; NotAnItem where there is none."""
        found = self._kinds.get((domain, collection))
        if found is None:
            raise NotAnItem(f"there are no records at /api/{domain[:100]}/{collection[:100]}")
        return found

    def lookup_kind(self, domain: str, collection: str) -> type[Entity] | None:
        """The same; None where there is none, as of a domain that is not served any more."""
        return self._kinds.get((domain, collection))

    def ref(self, kind: type[Entity], parts: Mapping[str, str]) -> Ref[Any]:
        """The record whose key has these texts."""
        fields = kind.__shape__.fields
        try:
            return kind.__key__.of({n: from_key_text(fields[n], parts[n]) for n in kind.__shape__.key.fields})
        except (KeyError, ValueError, InvalidKey):
            raise NotAnItem(f"{kind.__shape__.label} has no record with such a key") from None
