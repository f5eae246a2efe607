"""What can go wrong with a nova, in words for whoever asked.

PenstockError
├── InvalidValue
│   └── UnusableName       nothing can be found by this name
├── NotFound
│   ├── NoSuchNova         there is no nova, run or doubt of this id or name
│   └── NoSuchDataset      there is no dataset, verdict or file of this id
└── Conflict
    ├── NameTaken          the name is another nova's
    ├── SeveralNovae       the name is that of several novae
    ├── DoubtOver          somebody has decided already
    ├── NotMergeable       one of the two novae is in no state for this
    ├── NovaDeprecated     the nova is said to be none
    ├── OtherVersion       somebody has changed the nova meanwhile
    └── NotInQuarantine    nobody is asked about this dataset (any more)
"""

from __future__ import annotations

from penstock.errors import Conflict, InvalidValue, NotFound


class UnusableName(InvalidValue):
    """Nothing can be found by this name."""

    slug, http_status = "unusable-name", 422
    hint = "Say a name as catalogues have it, such as V1324 Sco: at most 200 characters, none of them invisible."


class NoSuchNova(NotFound):
    """There is no nova, run or doubt of this id or name."""

    slug = "no-such-nova"
    hint = "Check the id or the name; the list of novae tells those there are."


class NoSuchDataset(NotFound):
    """There is no dataset, verdict or file of this id."""

    slug = "no-such-dataset"
    hint = "Check the ids; the datasets of a nova are listed under it."


class NameTaken(Conflict):
    """The name is another nova's."""

    slug = "name-taken"
    hint = "Merge the two novae if they are one; or allow the name for both, if it is that of two."


class SeveralNovae(Conflict):
    """The name is that of several novae, which only a person can tell apart."""

    slug = "several-novae"
    hint = "Ask by the id of one of the novae that the message names."


class DoubtOver(Conflict):
    """Somebody has decided already."""

    slug = "doubt-over"
    hint = "Look at the doubt again: it tells who has decided what, and which run went on with it."


class NotMergeable(Conflict):
    """One of the two novae is in no state to be merged."""

    slug = "not-mergeable"
    hint = "Look at both: a nova that is merged or deprecated already is merged no more, and none into itself."


class NovaDeprecated(Conflict):
    """The nova is said to be none; nothing is added to it, or looked for."""

    slug = "nova-deprecated"
    hint = "Restore the nova if it is one after all; the message tells why it was deprecated."


class OtherVersion(Conflict):
    """Somebody has changed the nova since it was read."""

    slug = "other-version"
    hint = "Read the nova again, and correct it under the version_counter that it has now."


class NotInQuarantine(Conflict):
    """Nobody is asked about this dataset, or somebody has decided already."""

    slug = "not-in-quarantine"
    hint = "Look at the dataset again; the list of what waits tells what can be decided."
