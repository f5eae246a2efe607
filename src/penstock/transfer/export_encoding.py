"""How the lines of a part are kept in a file, and read back exactly."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Protocol

import msgspec

from penstock.errors import InvalidValue, Misconfigured
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape
from penstock.transfer.export_manifest import DamagedExport

_LEVEL = 1
"The quickest: an export is read and written by machines, and its disk is cheap."


class ExportEncoding(Protocol):
    """Lines as a file, and back."""

    ending: str

    def encode(self, lines: Sequence[bytes], shape: EntityShape) -> bytes: ...

    def decode(self, content: bytes, shape: EntityShape) -> Sequence[bytes]:
        """The lines; DamagedExport for what is no such file."""
        ...


class CompressedLines:
    """One line of JSON for each record, compressed."""

    ending = ".jsonl.gz"

    def encode(self, lines: Sequence[bytes], shape: EntityShape) -> bytes:
        return gzip.compress(b"".join(lines), _LEVEL, mtime=0)

    def decode(self, content: bytes, shape: EntityShape) -> Sequence[bytes]:
        try:
            return gzip.decompress(content).splitlines(keepends=True)
        except (OSError, EOFError, zlib.error) as error:
            raise DamagedExport(f"cannot be decompressed: {error}") from error


class ParquetTable:
    """A typed column for each field; what has no such type, documents and exact numbers, is text."""

    ending = ".parquet"

    def __init__(self) -> None:
        if find_spec("pyarrow") is None:
            raise Misconfigured("pyarrow is not installed; run: pip install 'penstock[parquet]'")

    def encode(self, lines: Sequence[bytes], shape: EntityShape) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        records = [msgspec.json.decode(line)["record"] for line in lines]
        fields = list(shape.fields.values())
        schema = pa.schema([(f.attribute, _type(pa, f)) for f in fields])
        columns = [pa.array([_cell(f, r.get(f.attribute)) for r in records], _type(pa, f)) for f in fields]
        out = io.BytesIO()
        pq.write_table(pa.Table.from_arrays(columns, schema=schema), out, compression="zstd")
        return out.getvalue()

    def decode(self, content: bytes, shape: EntityShape) -> Sequence[bytes]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            rows = pq.read_table(io.BytesIO(content)).to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise DamagedExport(f"is no Parquet file: {error}") from error
        return [_line(shape, row) for row in rows]


def encoding_of(name: str) -> ExportEncoding:
    """The encoding of this name."""
    if name == "jsonl":
        return CompressedLines()
    if name == "parquet":
        return ParquetTable()
    raise InvalidValue(f"records are exported as jsonl or parquet, not {name!r}")


def _type(pa: Any, field: FieldShape) -> Any:
    kinds = {
        Kind.INTEGER: pa.int64(),
        Kind.FLOAT: pa.float64(),
        Kind.FLAG: pa.bool_(),
        Kind.TEXTS: pa.list_(pa.string()),
    }
    return kinds.get(field.kind, pa.string())


def _cell(field: FieldShape, value: Any) -> Any:
    if value is None:
        return None
    if field.kind is Kind.DOCUMENT:
        return msgspec.json.encode(value).decode()
    return float(value) if field.kind is Kind.FLOAT else value


def _line(shape: EntityShape, row: Mapping[str, Any]) -> bytes:
    """The line that a row was made of; its key is told by the fields."""
    by_attribute = {f.attribute: f for f in shape.fields.values()}
    record = {n: _uncelled(by_attribute.get(n), v) for n, v in row.items() if v is not None}
    return msgspec.json.encode({"entity": shape.label, "record": record}) + b"\n"


def _uncelled(field: FieldShape | None, value: Any) -> Any:
    if field is not None and field.kind is Kind.DOCUMENT:
        return msgspec.json.decode(value)
    return value
