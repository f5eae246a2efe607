"""Tables and their indexes, with the key names the documents give them."""

from __future__ import annotations

from collections.abc import Callable

from penstock.declare.checks import check_tags
from penstock.declare.stored_names import check_attribute_name, check_index_name, check_table_name
from penstock.errors import DeclarationError
from penstock.schema.shape import EntityShape, IndexPlace, KeyAttribute, TablePlace


def number(name: str) -> KeyAttribute:
    """A key attribute that is a number, not a string."""
    return KeyAttribute(name, number=True)


class Table:
    """A single table that several entities may live in.

    ``tag`` is the attribute that names an item's entity, ``expiry`` the one that holds its last second, ``setting``
    the name under which the environment may rename the table.
    """

    def __init__(
        self,
        name: str,
        *,
        partition: str | KeyAttribute = "PK",
        sort: str | KeyAttribute | None = None,
        tag: str | None = None,
        expiry: str | None = None,
        feed: bool = False,
        setting: str | None = None,
        naming: Callable[[str], str] = str,
    ) -> None:
        check_table_name(name)
        self.place = TablePlace(name, _attribute(partition), _attribute(sort) if sort else None, tag, expiry, feed)
        self._check_distinct(self.place.partition, self.place.sort, tag, expiry)
        self.setting = setting
        self.naming = naming
        self.entities: list[EntityShape] = []

    def index(self, name: str, *, partition: str | KeyAttribute, sort: str | KeyAttribute | None = None) -> TableIndex:
        """Declare an index of the table; entities take part in it through an `IndexKey`."""
        check_index_name(self.place.name, name, list(self.place.indexes))
        place = IndexPlace(name, _attribute(partition), _attribute(sort) if sort else None)
        self._check_distinct(place.partition, place.sort)
        self._check_types(place)
        self.place.indexes[name] = place
        return TableIndex(self, place)

    def _check_distinct(self, *attributes: KeyAttribute | str | None) -> None:
        names = [a.name if isinstance(a, KeyAttribute) else a for a in attributes if a is not None]
        for name in names:
            check_attribute_name(f"table {self.place.name}", name)
            if names.count(name) > 1:
                raise DeclarationError(f"table {self.place.name}: the attribute {name!r} is used twice; rename one")

    def _check_types(self, place: IndexPlace) -> None:
        """An attribute is a number or a string, in whichever keys it is."""
        places: list[TablePlace | IndexPlace] = [self.place, *self.place.indexes.values()]
        known = {a.name: a for p in places for a in (p.partition, p.sort) if a is not None}
        for attribute in (place.partition, place.sort):
            if attribute is not None and known.get(attribute.name, attribute) != attribute:
                raise DeclarationError(
                    f"table {self.place.name}: {attribute.name} is a number in one key and a string in another; "
                    f"rename one"
                )

    def admit(self, shape: EntityShape) -> None:
        """Take in an entity, unless one of its keys could also be a key of another."""
        for other in self.entities:
            if _may_share_a_key(shape, other):
                raise DeclarationError(
                    f"{shape.name} and {other.name} could share a key in table {self.place.name}: "
                    f"{_key_text(shape)} and {_key_text(other)}. Give one of them a prefix of its own"
                )
        check_tags(self.place.name, shape, self.entities)
        self.entities.append(shape)


class TableIndex:
    """An index of a table, for `IndexKey` to refer to."""

    def __init__(self, table: Table, place: IndexPlace) -> None:
        self.table = table
        self.place = place


def _attribute(given: str | KeyAttribute) -> KeyAttribute:
    return given if isinstance(given, KeyAttribute) else KeyAttribute(given)


def _may_share_a_key(one: EntityShape, other: EntityShape) -> bool:
    if not one.key.partition.may_equal(other.key.partition):
        return False
    if one.key.sort is None or other.key.sort is None:
        return True
    return one.key.sort.may_equal(other.key.sort)


def _key_text(shape: EntityShape) -> str:
    sort = shape.key.sort
    return f"{shape.key.partition.text!r}" + (f" / {sort.text!r}" if sort else "")


def camel_case(name: str) -> str:
    """character_image_s3_key → characterImageS3Key"""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
