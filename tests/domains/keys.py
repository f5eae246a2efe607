"""What a record is called in its table and its indexes, and which moves an entity knows, without any store."""

from __future__ import annotations

from penstock import Domain, Entity
from penstock.schema.shape import KeyShape
from penstock.schema.size import record_size


def key_of(record: Entity) -> tuple[str, str | None]:
    """Partition and sort key of a record, having seen that both parse back."""
    return _texts(record.__shape__.key, record)


def index_key_of(record: Entity, index: str) -> tuple[str, str | None] | None:
    """Partition and sort key of a record in an index; None while it takes no part in it."""
    shape = record.__shape__.indexes.get(index)
    return _texts(shape.key, record) if shape is not None and shape.holds(record.__dict__) else None


def _texts(key: KeyShape, record: Entity) -> tuple[str, str | None]:
    values = record.__dict__
    for template in (key.partition, key.sort):
        if template is not None:
            assert template.parse(template.encode(values)) == {n: values[n] for n in template.names}
    return key.partition.encode(values), key.sort.encode(values) if key.sort else None


def transitions(entity: type[Entity]) -> set[tuple[str, str]]:
    """Every legal change of state, as (from, to)."""
    return {(origin.value, m.to.value) for m in entity.__moves__.values() for origin in m.origins}


def size_of(record: Entity) -> int:
    return record_size(record.__shape__, record.__dict__)


def assert_every_pattern_is_a_query(domain: Domain) -> None:
    """Each pattern settles the partition it reads, and says in one sentence what it answers."""
    assert domain.patterns
    for pattern in domain.patterns:
        assert set(pattern.key.partition.names) <= set(pattern.parameters) - pattern.optional, pattern.label
        assert pattern.summary.endswith("."), pattern.label
