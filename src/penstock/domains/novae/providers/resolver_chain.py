"""Several resolvers as one: what the folder at hand is sure of is asked of nobody else."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.domains.novae.providers.mast_resolver import joined, merged
from penstock.domains.novae.providers.provider import ClassicalNova, NameResolver, Resolution, ResolvedObject


@dataclass(frozen=True, slots=True)
class ResolverChain:
    """Resolvers in turn, until one knows the one nova and its place."""

    resolvers: tuple[NameResolver, ...]

    def resolve(self, name: str) -> Resolution:
        """What they say together; what they agree on is one match."""
        matches: tuple[ResolvedObject, ...] = ()
        answer = Resolution()
        for each in self.resolvers:
            more = each.resolve(name)
            matches = _together(matches, more.matches)
            answer = Resolution(matches, (*answer.findings, *more.findings))
            if _is_sure(matches):
                break
        return answer


def _together(known: tuple[ResolvedObject, ...], more: tuple[ResolvedObject, ...]) -> tuple[ResolvedObject, ...]:
    """Two that were found by one name, of which one has no place, are the same as far as anybody can tell."""
    if len(known) == len(more) == 1 and None in (known[0].position, more[0].position):
        return (joined(known[0], more[0]),)
    return merged((*known, *more))


def _is_sure(matches: tuple[ResolvedObject, ...]) -> bool:
    return len(matches) == 1 and matches[0].is_classical_nova is ClassicalNova.YES and matches[0].position is not None
