"""Objects as files in a folder: complete and on the disk, or not there at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from penstock.errors import (
    OBJECTS,
    Conflict,
    InvalidKey,
    InvalidValue,
    Misconfigured,
    NotFound,
    Unavailable,
    WrongRange,
    telling,
)
from penstock.media.content_type import SNIFFED_BYTES, sniff
from penstock.objects.file import (
    Unfinished,
    Written,
    closed,
    exists,
    identity,
    moment,
    read,
    remove,
    unfinished,
    written,
)
from penstock.objects.filename import BREAK, part_of, path_of
from penstock.objects.folder import Linked, entries, locked, open_file, opened, within
from penstock.objects.grant import RouteSigner
from penstock.objects.local_parts import PartsFolder
from penstock.ports.private import make_private
from penstock.ports.stored_object import (
    DEFAULT_EXPIRY,
    Body,
    Download,
    ListedObject,
    ObjectListing,
    SignedUrl,
    StoredObject,
    UploadedPart,
    checked_key,
    checked_range,
    pieces_of,
)

_OBJECTS, _UNFINISHED, _PARTS, _LOCK = "objects", "unfinished", "parts", "lock"


@dataclass(frozen=True, slots=True)
class Arrival:
    """An object on its way in."""

    write: Callable[[bytes], None]
    keep: Callable[[], str]
    "Once all of it is written; its etag."


class LocalObjects:
    """Objects under one folder, which is made when the first of them is written.

    Any number of threads and processes of one machine may use the same folder. Links in it are not followed. A
    ``signer`` makes URLs of the route in `penstock.objects.objects_route`; without one there are none.
    """

    def __init__(self, folder: str | Path, *, signer: RouteSigner | None = None) -> None:
        self.folder = Path(folder).absolute()
        self.signer = signer

    def probe(self) -> None:
        """Write a file and remove it, as any other is written; Unavailable if that cannot be done."""
        with self._root(make=True) as root, self._written(root, b"can anything be written?"):
            pass

    def room(self) -> int:
        """How many bytes there is room for."""
        with self._root(make=True) as root:
            found = os.fstatvfs(root)
        return found.f_bavail * found.f_frsize

    # Objects

    def put(self, key: str, body: Body, *, absent: bool = False) -> StoredObject:
        checked_key(key)
        with self._root(make=True) as root, self._written(root, body) as new:
            self._name(root, new, key, absent=absent)
            return _stored(key, new.descriptor, new.sha256)

    @contextmanager
    def receiving(self, key: str) -> Iterator[Arrival]:
        """An object whose pieces come when they come, in any thread; it is there once it is kept, else it never was."""
        checked_key(key)
        with self._root(make=True) as root, self._unfinished(root) as new:

            def keep() -> str:
                complete = new.complete()
                self._name(root, complete, key, absent=False)
                return _stored(key, complete.descriptor).etag

            yield Arrival(new.write, keep)

    def get(self, key: str, *, start: int = 0, stop: int | None = None) -> Download:
        checked_range(start, stop)
        with ExitStack() as stack:
            descriptor = stack.enter_context(self._file(key))
            stored = _stored(key, descriptor)
            if start > max(stored.size - 1, 0):
                raise WrongRange(f"{key} has {stored.size} bytes, so none from {start}")
            end = stored.size if stop is None else min(stop, stored.size)
            close = stack.pop_all().close
        return Download(stored, start=start, stop=end, pieces=read(descriptor, start, end), close=close)

    def head(self, key: str) -> StoredObject:
        with self._file(key) as descriptor:
            return _stored(key, descriptor)

    def list(self, prefix: str = "", *, limit: int = 1000, cursor: str | None = None) -> ObjectListing:
        if limit < 1:
            raise InvalidValue(f"a listing shows at least one object, not {limit}")
        found: list[ListedObject] = []
        with suppress(FileNotFoundError), self._root() as root, within(root, [_OBJECTS]) as objects:
            for key, status in _walk(objects, "", prefix, cursor or ""):
                if len(found) == limit:
                    return ObjectListing(found, found[-1].key)
                found.append(ListedObject(key, status.st_size, identity(status), moment(status)))
        return ObjectListing(found, None)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._remove(key, None)

    def delete_unchanged(self, found: ListedObject) -> bool:
        return self._remove(found.key, found.etag)

    def copy(self, source: str, target: str, *, etag: str | None = None, absent: bool = False) -> StoredObject:
        with self._file(source) as descriptor:
            status = os.fstat(descriptor)
            if etag not in (None, identity(status)):
                raise Conflict(f"{source} has been replaced by other bytes")
            return self.put(target, read(descriptor, 0, status.st_size), absent=absent)

    def local_file(self, key: str) -> Path | None:
        with self._file(key):  # NotFound where there is none
            return self.folder.joinpath(_OBJECTS, *path_of(key))

    # Uploads in parts

    def begin_parts(self, key: str, *, content_type: str) -> str:
        told = checked_key(key).encode()
        with (
            self._root(make=True) as root,
            self._written(root, told) as new,
            within(root, [_PARTS], make=True) as folder,
        ):
            return PartsFolder(folder).begin(new)

    def put_part(self, key: str, upload: str, number: int, body: Body) -> UploadedPart:
        with self._uploads(key) as (root, uploads), self._written(root, body) as new:
            return uploads.add(key, upload, number, new)

    @contextmanager
    def receiving_part(self, key: str, upload: str, number: int) -> Iterator[Arrival]:
        """As `receiving`, for one part."""
        with self._uploads(key) as (root, uploads), self._unfinished(root) as new:
            yield Arrival(new.write, lambda: uploads.add(key, upload, number, new.complete()).etag)

    def parts(self, key: str, upload: str) -> Sequence[UploadedPart]:
        with self._uploads(key) as (_, uploads):
            return uploads.arrived(key, upload)

    def finish_parts(self, key: str, upload: str, parts: Sequence[UploadedPart]) -> StoredObject:
        with self._uploads(key) as (_, uploads):
            stored = self.put(key, uploads.joined(key, upload, parts))
            uploads.drop(key, upload)
            return stored

    def drop_parts(self, key: str, upload: str) -> None:
        with suppress(NotFound), self._uploads(key) as (_, uploads):
            uploads.drop(key, upload)

    def drop_unfinished(self, *, before: datetime) -> int:
        dropped = 0
        with suppress(FileNotFoundError), self._root() as root:
            with suppress(FileNotFoundError), within(root, [_UNFINISHED]) as folder:
                for entry in entries(folder):
                    if moment(entry.stat(follow_symlinks=False)) < before:
                        remove(folder, entry.name)
                        dropped += 1
            with suppress(FileNotFoundError), within(root, [_PARTS]) as folder:
                dropped += PartsFolder(folder).drop_old(before=before)
        return dropped

    def close(self) -> None:
        """Nothing: no file stays open between calls."""

    # Signed URLs

    def download_url(
        self,
        key: str,
        *,
        expires: timedelta = DEFAULT_EXPIRY,
        filename: str | None = None,
        show_as: str | None = None,
    ) -> SignedUrl:
        return self._signing().download_url(key, expires=expires, filename=filename, show_as=show_as)

    def upload_url(self, key: str, *, size: int, content_type: str, expires: timedelta = DEFAULT_EXPIRY) -> SignedUrl:
        return self._signing().upload_url(key, size=size, content_type=content_type, expires=expires)

    def part_url(
        self, key: str, upload: str, number: int, *, size: int, expires: timedelta = DEFAULT_EXPIRY
    ) -> SignedUrl:
        return self._signing().part_url(key, upload, number, size=size, expires=expires)

    def _signing(self) -> RouteSigner:
        if self.signer is None:
            raise Misconfigured("local files have no URLs without a signer: LocalObjects(…, signer=RouteSigner(…))")
        return self.signer

    # Where files lie

    @contextmanager
    def _root(self, *, make: bool = False) -> Iterator[int]:
        with _told(self.folder):
            if make:
                make_private(self.folder)
            with opened(self.folder) as root:
                yield root

    @contextmanager
    def _written(self, root: int, body: Body) -> Iterator[Written]:
        with within(root, [_UNFINISHED], make=True) as folder, written(folder, pieces_of(body)) as new:
            yield new

    @contextmanager
    def _unfinished(self, root: int) -> Iterator[Unfinished]:
        with within(root, [_UNFINISHED], make=True) as folder, unfinished(folder) as new:
            yield new

    @contextmanager
    def _file(self, key: str) -> Iterator[int]:
        """A descriptor of an object's file, or NotFound."""
        *folders, name = path_of(checked_key(key))
        try:
            with self._root() as root, within(root, [_OBJECTS, *folders]) as folder:
                found = open_file(folder, name)
        except FileNotFoundError:
            raise NotFound(f"there is no object {key}") from None
        with closed(found) as descriptor, _told(self.folder):
            yield descriptor

    @contextmanager
    def _uploads(self, key: str) -> Iterator[tuple[int, PartsFolder]]:
        checked_key(key)
        with ExitStack() as stack:
            try:
                root = stack.enter_context(self._root())
                folder = stack.enter_context(within(root, [_PARTS]))
            except FileNotFoundError:
                raise NotFound(f"there is no upload of {key}") from None
            yield root, PartsFolder(folder)

    def _name(self, root: int, new: Written, key: str, *, absent: bool) -> None:
        """Give a finished file its key."""
        *folders, name = path_of(key)
        # Under the lock nobody removes a folder that has just been made, or names another file meanwhile.
        with locked(root, _LOCK), within(root, [_OBJECTS, *folders], make=True) as folder:
            if absent and exists(folder, name):
                raise Conflict(f"there is an object {key} already")
            new.move(folder, name)

    def _remove(self, key: str, etag: str | None) -> bool:
        """Remove an object and the folders that become empty; False when its bytes are not those with this etag."""
        *folders, name = path_of(checked_key(key))
        with suppress(FileNotFoundError), self._root() as root, locked(root, _LOCK):
            with within(root, [_OBJECTS, *folders]) as folder:
                if etag is not None:
                    with closed(open_file(folder, name)) as descriptor:
                        if identity(os.fstat(descriptor)) != etag:
                            return False
                os.unlink(name, dir_fd=folder)
                os.fsync(folder)
            _remove_empty(root, [_OBJECTS, *folders])
        return True


def _remove_empty(root: int, folders: Sequence[str]) -> None:
    """Remove a folder and those above it, as far as they hold nothing; never the first."""
    for depth in range(len(folders) - 1, 0, -1):
        with within(root, folders[:depth]) as above:
            try:
                os.rmdir(folders[depth], dir_fd=above)
            except OSError:
                return


def _walk(folder: int, base: str, prefix: str, after: str) -> Iterator[tuple[str, os.stat_result]]:
    """The keys beneath a folder that begin so and come after another, in order."""
    for part, names in sorted(_members(folder, ())):
        key = base + part
        if key.endswith("/"):
            outside = not key.startswith(prefix) and not prefix.startswith(key)
            if outside or (key < after and not after.startswith(key)):
                continue
            with suppress(FileNotFoundError), within(folder, names) as below:
                yield from _walk(below, key, prefix, after)
        elif key > after and key.startswith(prefix):
            with suppress(FileNotFoundError), within(folder, names[:-1]) as holder:
                yield key, os.stat(names[-1], dir_fd=holder, follow_symlinks=False)


def _members(folder: int, begun: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The parts of keys that a folder holds, those of folders with a slash, and the names they have in it."""
    for entry in entries(folder):
        names = (*begun, entry.name)
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and entry.name.endswith(BREAK):
            with suppress(FileNotFoundError), within(folder, [entry.name]) as below:
                yield from _members(below, names)
        elif part := part_of(names, folder=is_folder):
            yield (f"{part}/" if is_folder else part), names


def _stored(key: str, descriptor: int, digest: str | None = None) -> StoredObject:
    status = os.fstat(descriptor)
    content_type = sniff(os.pread(descriptor, SNIFFED_BYTES, 0))
    return StoredObject(key, status.st_size, identity(status), moment(status), content_type, digest)


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """What the system says, in our own words; but what it means that something is not there, each caller knows."""
    try:
        yield
    except Linked as link:
        refused = InvalidKey(f"{link} in {folder} is a link, and might lead out of it; remove it")
        raise telling(refused, "the key leads through a link, which is not followed") from None
    except FileNotFoundError:
        raise
    except OSError as error:
        said = f"the files in {folder} cannot be used: {error.strerror or error}"
        raise Unavailable(said, part=OBJECTS) from error
