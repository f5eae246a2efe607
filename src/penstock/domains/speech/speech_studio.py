"""The speech studio: all that speaking needs, from the context of the domain."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from penstock.auth.caller import Caller
from penstock.declare.option import read_options
from penstock.domains.speech.options import SpeechOptions
from penstock.kernel.store import Store
from penstock.media.speech.voices import Voices, installed_voices
from penstock.ports.object_store import ObjectStore
from penstock.work.domain_context import DomainContext


@dataclass(frozen=True)
class SpeechStudio:
    """Where records and files go, who speaks, and what the deployment has chosen."""

    store: Store
    objects: ObjectStore
    voices: Voices
    options: SpeechOptions = field(default_factory=SpeechOptions)

    @classmethod
    def within(cls, context: DomainContext) -> SpeechStudio:
        """That of a context: settings are read, and voices looked for, once in its life."""
        return context.made_once(cls._made)

    @classmethod
    def _made(cls, context: DomainContext) -> SpeechStudio:
        options = read_options(SpeechOptions, context.setting)
        return cls(context.store, context.objects, installed_voices(options.voices, options.voice), options)

    def seen_by(self, caller: Caller) -> SpeechStudio:
        """The same, on the store that a caller may see."""
        return replace(self, store=caller.store)
