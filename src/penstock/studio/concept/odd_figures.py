"""Those who stand like people and are something else."""

from __future__ import annotations

from penstock.studio.concept.outfit import Outfit

ODD_FIGURES: tuple[Outfit, ...] = (
    Outfit(
        "genie|djinn",
        "bare",
        "",
        hair="ponytail",
        beard=0.4,
        worn=("necklace",),
        inks={"skin": "blue", "clothes": "purple", "hair": "black"},
    ),
    Outfit(
        "caveman|cavewoman|neanderthal",
        "bare",
        "",
        hair="spiky",
        beard=0.5,
        held=("club",),
        inks={"clothes": "sand", "hair": "brown"},
    ),
    Outfit(
        "werewolf|lycan|wolfman",
        "fur",
        "",
        hair="spiky",
        ears="pointed",
        face="snout",
        inks={"skin": "grey|brown", "clothes": "charcoal", "hair": "charcoal", "eyes": "yellow"},
        build={"wide": 1.15},
    ),
    Outfit(
        "bigfoot|yeti|sasquatch|gorilla|ape",
        "fur",
        "",
        hair="",
        face="muzzle",
        build={"wide": 1.4, "head": 0.9},
        inks={"skin": "brown|white|charcoal", "clothes": "brown"},
    ),
    Outfit(
        "monkey|chimp|chimpanzee",
        "fur",
        "",
        hair="",
        face="muzzle",
        ears="big",
        worn=("tail",),
        inks={"skin": "brown", "clothes": "brown", "belly": "beige", "tail": "brown"},
    ),
    Outfit(
        "scarecrow",
        "shirt",
        "straw hat",
        hair="spiky",
        inks={"skin": "sand", "clothes": "brown|olive", "hair": "yellow", "trousers": "blue"},
    ),
    Outfit(
        "snowman",
        "fur",
        "top hat",
        hair="",
        ears="none",
        face="carrot",
        worn=("scarf",),
        inks={"skin": "white", "clothes": "white", "scarf": "red", "boots": "white"},
        build={"wide": 1.3},
    ),
)
