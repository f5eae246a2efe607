"""Names: found at once and by key; each one nova's alone, unless a person says that it is that of several."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from penstock.domains.novae.errors import NameTaken, NoSuchNova, SeveralNovae, UnusableName
from penstock.domains.novae.model import Alias, NameClaim, Nova
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_table import normalize_name
from penstock.domains.novae.runs import followed
from penstock.errors import Conflict
from penstock.kernel.change import Change
from penstock.kernel.store import Store

LONGEST_NAME = 200
MOST_NAMES = 500
"Names that a nova may have."


def checked_name(name: str) -> str:
    """A name in its one spelling; UnusableName where nothing can be found by it."""
    normalized = normalize_name(name)
    if not normalized or len(name) > LONGEST_NAME or not normalized.isprintable():
        shown = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
        raise UnusableName(f"{shown!r} is no name: it has 1 to {LONGEST_NAME} characters, all of which can be seen")
    return normalized


def novae_called(store: Store, name: str) -> list[UUID]:
    """The novae that a name may mean, each where it is by now: none, one, or several that a person must tell apart."""
    found: dict[UUID, None] = {}
    for alias in store.find(Alias.by_name(normalized_name=checked_name(name))):
        found[followed(store, alias.nova_id).nova_id] = None
    return list(found)


def nova_called(store: Store, name: str) -> Nova:
    """The nova of a name; NoSuchNova, or SeveralNovae, never a silent choice."""
    found = novae_called(store, name)
    if not found:
        raise NoSuchNova(f"no nova is called {name!r}")
    if len(found) > 1:
        raise SeveralNovae(f"{name!r} may mean {' or '.join(map(str, found))}")
    return store.get(Nova.at(nova_id=found[0]))


def owner_of(store: Store, name: str) -> UUID | None:
    """Whose a name is; None while it is nobody's."""
    claim = store.lookup(NameClaim.at(normalized_name=checked_name(name)))
    return None if claim is None else followed(store, claim.nova_id).nova_id


def claim_names(change: Change, nova_id: UUID, names: Iterable[str]) -> None:
    """Have names mean a nova, with the rest of a change; Conflict if one of them is another's meanwhile."""
    now = change.store.clock.now()
    for name in dict.fromkeys(map(checked_name, names)):
        change.claim(NameClaim(normalized_name=name, nova_id=nova_id), owner="nova_id")
        change.put(Alias(normalized_name=name, nova_id=nova_id, created_at=now))


def further(names: Iterable[str], but: Iterable[str]) -> list[str]:
    """Names as they are written, each once, without those that are there already under any spelling."""
    known = {normalize_name(name) for name in but}
    new: dict[str, str] = {}
    for name in names:
        normalized = normalize_name(name)
        if normalized and normalized not in known:
            new.setdefault(normalized, " ".join(name.replace("_", " ").split()))
    return list(new.values())


def all_names(nova: Nova) -> list[str]:
    """What a nova goes by, the preferred name first."""
    return [nova.preferred_name, *further(nova.aliases, [nova.preferred_name])]


# What people do


def add_alias(catalogue: NovaCatalogue, nova_id: UUID, name: str, *, shared: bool, by: str, why: str | None) -> Nova:
    """Have a nova go by another name; NameTaken if it is another's, unless a person says that it is ``shared``."""
    store = catalogue.store

    def attempt() -> Nova:
        owner, nova = owner_of(store, name), followed(store, nova_id)
        if owner not in (None, nova.nova_id) and not shared:
            raise NameTaken(f"{name!r} is the name of nova {owner}")
        with store.change(by=by, why=why, once=catalogue.once) as change:
            go_by(change, change.track(nova), [name])
            change.save(nova)
            if owner is None or owner == nova.nova_id:
                claim_names(change, nova.nova_id, [name])
            else:
                share_name(change, nova, name, with_nova=owner)
            change.result = {"nova_id": str(nova.nova_id)}
        return nova

    return store.retried(attempt)  # another may just have got the name, or be at this nova


def remove_alias(catalogue: NovaCatalogue, nova_id: UUID, name: str, *, by: str, why: str | None = None) -> Nova:
    """Have a name mean a nova no more; its preferred name stays."""
    store, normalized = catalogue.store, checked_name(name)

    def attempt() -> Nova:
        nova = followed(store, nova_id)
        if normalized == nova.normalized_preferred_name:
            raise UnusableName(f"{name!r} is what nova {nova.nova_id} is called; have another preferred first")
        if store.lookup(Alias.at(normalized_name=normalized, nova_id=nova.nova_id)) is None:
            raise NoSuchNova(f"nova {nova.nova_id} is not called {name!r}")
        claim = store.lookup(NameClaim.at(normalized_name=normalized))
        with store.change(by=by, why=why, once=catalogue.once) as change:
            change.track(nova)
            nova.aliases = [alias for alias in nova.aliases if normalize_name(alias) != normalized]
            nova.updated_at, nova.version_counter = store.clock.now(), nova.version_counter + 1
            change.save(nova)
            change.delete(Alias.at(normalized_name=normalized, nova_id=nova.nova_id))
            if claim is not None and claim.nova_id == nova.nova_id:
                change.delete(claim.ref)
        return nova

    return store.retried(attempt)


def give_names(change: Change, nova: Nova, names: Iterable[str]) -> None:
    """Have a nova that was read in a change, and is saved in it, go by further names: nobody's, or its own."""
    claim_names(change, nova.nova_id, go_by(change, nova, names))


def go_by(change: Change, nova: Nova, names: Iterable[str]) -> list[str]:
    """Note further names with a nova that was read in a change; those it did not go by before."""
    new = further(names, all_names(nova))
    if len(nova.aliases) + len(new) > MOST_NAMES:
        raise Conflict(f"nova {nova.nova_id} has {len(nova.aliases)} names; at most {MOST_NAMES} are kept")
    if new:
        nova.aliases = [*nova.aliases, *new]
        nova.updated_at, nova.version_counter = change.store.clock.now(), nova.version_counter + 1
    return new


def share_name(change: Change, nova: Nova, name: str, *, with_nova: UUID) -> None:
    """Have a name mean another nova as well, as somebody has said."""
    normalized = checked_name(name)
    change.put(Alias(normalized_name=normalized, nova_id=nova.nova_id, created_at=change.store.clock.now()))
    change.emit("name.shared", nova, name=normalized, with_nova=str(with_nova))
