"""What the words of an order ask for: a subject, colours by what they are of, sizes, things worn, moods."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from penstock.studio.concept.catalogue import Mention, Subject, named
from penstock.studio.concept.looks import looks_of
from penstock.studio.drawing.colour import NAMED, Colour, darker, lighter
from penstock.studio.vocabulary import Meanings, told

MATERIALS: Meanings = {
    "wood": "wood|wooden|oak|timber|log",
    "gold": "gold|golden|gilded",
    "silver": "silver|silvery|chrome|platinum",
    "steel": "iron|steel|metal|metallic|mechanical|mech",
    "rust": "rusty|rusted|rust|corroded",
    "crystal": "crystal|crystalline|glass|diamond|quartz|gemstone",
    "ice": "ice|icy|frozen|frost|frosty|snow|snowy",
    "stone": "stone|marble|granite|rocky|mossy stone",
    "bronze": "bronze|brass|copper",
    "leather": "leather",
    "bone": "bone|ivory|skeletal",
    "fire": "fire|fiery|lava|magma|molten|flame",
    "poison": "poison|poisonous|toxic|acid|radioactive|slimy",
    "shadow": "shadow|dark|obsidian|void",
    "candy": "candy|sugar|bubblegum",
    "light": "holy|divine|light|glowing|radiant",
    "nature": "mossy|leafy|forest|nature|jungle",
    "electric": "electric|lightning|thunder|plasma|neon|laser",
}
TONES: Mapping[str, Colour] = {
    "wood": (150, 100, 58),
    "gold": (236, 188, 62),
    "silver": (198, 206, 216),
    "steel": (146, 160, 176),
    "rust": (168, 92, 56),
    "crystal": (132, 214, 240),
    "ice": (172, 226, 246),
    "stone": (146, 146, 144),
    "bronze": (182, 124, 66),
    "leather": (136, 84, 50),
    "bone": (232, 224, 200),
    "fire": (238, 92, 34),
    "poison": (126, 206, 58),
    "shadow": (62, 52, 82),
    "candy": (248, 140, 190),
    "light": (252, 238, 168),
    "nature": (92, 156, 74),
    "electric": (82, 190, 255),
}
TEXTURES = {
    "wood": "grain",
    "rust": "spots",
    "stone": "spots",
    "crystal": "facets",
    "ice": "facets",
    "gold": "gloss",
    "silver": "gloss",
    "steel": "gloss",
    "bronze": "gloss",
}
"How a material shows, beside its colour."

OWN_NOUNS: Meanings = {
    "eyes": "eyes|eye|eyed|visor|lens|lenses",
    "hair": "hair|haired|curls|mohawk|afro|ponytail|mane|braids|fringe",
    "beard": "beard|bearded|moustache|mustache",
    "skin": "skin|skinned|face|faced",
    "clothes": (
        "shirt|jacket|coat|robe|robes|dress|tunic|suit|spacesuit|armor|armour|armored|outfit|uniform|clothes|sweater"
        "|hoodie|vest|gown|kimono|overalls|jumper|clad|blouse|t-shirt|kilt|apron|clothing|plate|mail"
    ),
    "trousers": "trousers|pants|jeans|shorts|leggings|skirt|legs",
    "boots": "boots|boot|shoes|shoe|sneakers|sandals|feet",
    "belt": "belt|sash",
    "gloves": "gloves|glove|gauntlets|hands",
    "scarf": "scarf|shawl|bandana|bandanna|neckerchief",
    "hat": "hat|cap|helmet|hood|beanie|headband|helm|turban|hats|beret",
    "cape": "cape|cloak|mantle",
    "bag": "backpack|bag|satchel|rucksack|pack",
    "glasses": "glasses|goggles|sunglasses|spectacles|monocle",
    "crown": "crown|tiara",
    "wings": "wings|wing|winged",
    "horns": "horns|horn|horned|antlers|tusks",
    "tail": "tail|tailed",
    "belly": "belly|stomach|chest|underside",
    "spots": "spots|spotted|stripes|striped|dots|freckles|markings",
    "blade": "blade|edge|bladed",
    "grip": "handle|grip|hilt|shaft|stick",
    "trim": "trim|trims|edges|bands|buckle|fittings|rim|ornaments|border|lock",
    "gem": "gem|jewel|ruby|sapphire|emerald stone|orb|jewels|gems",
    "liquid": "liquid|potion|water|juice|brew|fluid|soup|tea|coffee|elixir",
    "flame": "flame|flames|fire|glow|light|lights|lamp",
    "roof": "roof|roofs|rooftop|awning",
    "door": "door|doors|gate",
    "wall": "wall|walls|bricks",
    "windows": "window|windows|windshield|glass",
    "wheels": "wheel|wheels|tires|tyres",
    "leaves": "leaves|leaf|foliage|canopy",
    "trunk": "trunk|bark|stem",
    "petals": "petals|petal|blossoms|blossom|bloom|blooms|flowers|flower",
    "sail": "sail|sails",
    "flag": "flag|banner|pennant",
    "frosting": "frosting|icing|cream|topping",
    "pages": "pages|page|paper",
    "cushion": "cushion|cushions|seat|pillow|upholstery",
    "shell": "shell|carapace",
    "bow": "bow|ribbon|bow tie",
    "star": "star|stars|badge",
}
"Nouns that a colour can stand before, by the ink they mean."

WORN: Meanings = {
    "scarf": "scarf|shawl|bandana|bandanna",
    "cowboy hat": "cowboy hat|stetson|cowboy|cowgirl|sheriff",
    "wizard hat": "wizard hat|witch hat|pointed hat|pointy hat|magic hat",
    "top hat": "top hat|magician|gentleman|ringmaster",
    "cap": "cap|baseball cap|beret",
    "party hat": "party hat|birthday hat",
    "santa hat": "santa hat|santa|christmas hat|christmas elf",
    "straw hat": "straw hat|sun hat",
    "any hat": "hat",
    "helmet": "helmet|hard hat|hardhat",
    "horned helmet": "viking helmet|horned helmet|viking",
    "crown": "crown|king|queen|prince|princess|tiara",
    "beanie": "beanie|winter hat|woolly hat|knit cap",
    "headphones": "headphones|headset|dj",
    "glasses": "glasses|spectacles|nerd|nerdy|professor|scientist|librarian",
    "goggles": "goggles|steampunk|aviator|pilot",
    "sunglasses": "sunglasses|shades",
    "eyepatch": "eyepatch|eye patch|pirate",
    "beard": "beard|bearded|long beard",
    "cape": "cape|cloak|superhero|mantle",
    "backpack": "backpack|rucksack|knapsack|jetpack|jet pack|adventurer|explorer|hiker|traveller",
    "wings": "wings|winged|fairy|angel|pixie",
    "horns": "horns|horned|demon|devil",
    "tail": "devil tail",
    "halo": "halo|angel",
    "bow tie": "bow tie|bowtie|tuxedo|butler",
    "necklace": "necklace|amulet|pendant|medallion|collar",
    "flower": "flower crown|flower in|flower on",
    "antenna": "antenna|antennae|antennas",
    "saddle": "saddle|saddled",
    "bow ribbon": "hair bow|ribbon",
}
SOMEBODY = (
    *("er", "or", "ist", "man", "woman", "ian", "ess", "eer", "smith", "ant", "monger", "guard", "lord", "folk"),
    *("boy", "girl", "ling"),
)
"How words for people end."
HELD = (
    "sword|staff|wand|axe|bow|spear|hammer|shield|book|lantern|torch|flag|key|potion|broom|dagger|blaster|gun|trident"
    "|scythe|mace|shovel|pickaxe|wrench|umbrella|guitar|balloon|flower|fishing rod|sack|mug|scepter|katana|crossbow"
    "|rifle|club|skull|gem|heart|apple|banana|carrot|fish|lightsaber|candle|bomb|basket|net|magnifying glass|ball"
    "|microphone|violin|ukulele|trumpet|flute|saxophone|camera|telescope|rose|bouquet|tulip|sunflower|bottle|cup|suitcase"
    "|ice cream|lollipop|pizza|donut|cake|gift|present|teddy bear|frying pan|paintbrush|map|scroll|crystal ball|trophy"
)
"What a hand can hold, if it is named after a with, a holding or the like."

MOODS: Meanings = {
    "angry": "angry|furious|fierce|evil|mean|grumpy|menacing|aggressive|mad|scary|wicked",
    "sad": "sad|crying|gloomy|lonely|melancholic|unhappy",
    "sleepy": "sleepy|tired|sleeping|lazy|calm|zen",
    "happy": "happy|smiling|cheerful|friendly|cute|jolly|joyful|adorable|laughing|funny|goofy",
    "surprised": "surprised|shocked|scared|afraid|frightened",
}
_SIZES: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "big head": (r"(?:big|large|huge|giant|oversized)[- ]head", {"head": 1.3}),
    "small head": (r"(?:small|tiny|little)[- ]head", {"head": 0.75}),
    "tall": (r"\b(?:tall|lanky|towering|slender|slim|thin|skinny)\b", {"tall": 1.18, "wide": 0.84}),
    "tiny": (r"\b(?:tiny|small|little|baby|mini|chibi|young|short|kid|child|cute)\b", {"head": 1.18, "tall": 0.86}),
    "wide": (r"\b(?:fat|chubby|plump|big|huge|giant|stout|round|massive|bulky|heavy|wide)\b", {"wide": 1.22}),
    "muscular": (r"\b(?:muscular|strong|buff|brawny|mighty)\b", {"wide": 1.2, "head": 0.9}),
    "long": (r"\b(?:long|elongated)\b", {"long": 1.25}),
    "big eyes": (r"(?:big|large|huge|giant)[- ](?:\w+[- ])?eye", {"eyes": 1.35}),
}
_STOP = (
    r"\b(?:with|in|on|holding|wearing|carrying|near|at|from|for|that|who|which|riding|standing|sitting|under|over|by"
    r"|made|having|has|wields|wielding|and|beside|next|full|filled|covered|inside|floating|looking|against|using|to)\b|[,.;:!?()\n]"
)
_NO_HAT = re.compile(r"\b(?:no|without(?: an?| any| the| his| her)?)\s+(?:hat|helmet|hood|helm|cap|crown)\b")
_NOT = re.compile(r"\b(?:no|without(?: an?| any| the| his| her)?)\s+\w+")
_PREAMBLE = re.compile(
    r"\b(?:(?:a|an|the)\s+)?(?:picture|drawing|portrait|image|icon|sprite|illustration|render|rendering|model|asset|pile"
    r"|stack|set|pair|bunch|piece|group|couple|concept(?: art)?|statue|statuette|figurine|figure|kind|sort|type"
    r"|prop)s?\s+of\b"
    r"|\b(?:game|3d|2d|hd|4k|8k|character|sprite|sprites|asset|assets|icon|prop|props|pixel art|low poly|low-poly"
    r"|background)\b"
)


@dataclass(frozen=True, slots=True)
class Wish:
    """An order, understood as far as words are."""

    text: str
    subject: Subject | None
    race: Subject | None
    "What it is beside that, as a cat that is a wizard: named right before it."
    noun: str
    "The word that is taken for the subject's, if no subject is known."
    inks: Mapping[str, Colour]
    "Colours that were asked for, by ink; under the empty name that of the subject itself."
    textures: Mapping[str, str]
    worn: tuple[str, ...]
    held: tuple[str, ...]
    mood: str | None
    traits: Mapping[str, float]
    looks: Mapping[str, str]
    rng: np.random.Generator


def understood(
    concept: str,
    details: str = "",
    *,
    seed: int = 0,
    families: frozenset[str] | None = None,
    never: frozenset[str] = frozenset(),
) -> Wish:
    """What somebody wishes; what they leave open is chosen by all their words and the seed.

    The subject is of one of the ``families``, if they are told, and not named by one of the words in ``never``.
    """
    core = _plain(concept)
    text = f"{core} , {_plain(details)}" if details.strip() else core
    digest = hashlib.sha256(f"{seed}\n{text}".encode()).digest()
    # What is the subject stands in the concept; the details only add to it.
    found = [
        each
        for each in named(text)
        if (families is None or each.subject.family in families) and text[each.start : each.stop] not in never
    ]
    inside = [each for each in found if each.stop <= len(core)] or found
    chosen = _chosen(text, inside)
    if chosen and not families and re.search(_STOP, text[: chosen.start]) and _noun(core).endswith(SOMEBODY):
        # A whaler with a harpoon is somebody, even if nobody knows what whalers look like.
        chosen = None
    inks, textures = _inks(text, chosen, len(core))
    return Wish(
        text=text,
        subject=chosen.subject if chosen else None,
        race=_race(text, chosen, found),
        noun=_noun(core) or _noun(text),
        inks=inks,
        textures=textures,
        worn=_worn(text, chosen),
        held=_held(text, chosen),
        mood=told(text, MOODS),
        traits=_traits(text),
        looks=looks_of(text),
        rng=np.random.default_rng(list(digest[:16])),
    )


def _plain(text: str) -> str:
    lower = " ".join(text.lower().replace("_", " ").split())[:2000]
    bare = _NO_HAT.sub(" bareheaded ", lower)
    return " ".join(_PREAMBLE.sub(" ", _NOT.sub(" ", bare)).split())


def _chosen(text: str, found: Sequence[Mention]) -> Mention | None:
    """The last noun of the first phrase that has one: a robot dog is a dog, and a knight with a dog is a knight."""
    if not found:
        return None
    start = 0
    for stop in [*(match.start() for match in re.finditer(_STOP, text)), len(text)]:
        inside = [each for each in found if start <= each.start < max(stop, start + 1)]
        if inside:
            # What stands behind an "of" tells what the first one is made of or filled with.
            before = [each for each in inside if " of " not in text[start : each.start]]
            return (before or inside)[-1]
        start = stop
    return found[0]


def _race(text: str, chosen: Mention | None, found: Sequence[Mention]) -> Subject | None:
    before = [
        each for each in found if chosen and each.stop < chosen.start and not text[each.stop : chosen.start].strip(" -")
    ]
    return before[-1].subject if before else None


def _noun(text: str) -> str:
    first = re.split(_STOP, text)
    words = [re.findall(r"[^\W\d_]+", phrase) for phrase in first]
    plain = {"a", "an", "the", "my", "our", "some", "one", *NAMED}
    for phrase in words:
        left = [word for word in phrase if word not in plain]
        if left:
            return str(left[-1])
    return ""


def _inks(text: str, chosen: Mention | None, core: int) -> tuple[dict[str, Colour], dict[str, str]]:
    """Colours and materials, each for the next noun within a few words, or for the subject itself."""
    words = [(match[0], match.start()) for match in re.finditer(r"[a-zé]+|[,.;]", text)]
    inks: dict[str, Colour] = {}
    textures: dict[str, str] = {}
    for n, (word, start) in enumerate(words):
        material = told(word, MATERIALS)
        # A word that names the subject tells no colour: a rose may be white, and a fire is one.
        if (word not in NAMED and material is None) or (chosen and chosen.start <= start < chosen.stop):
            continue
        if word in _DEGREES and n + 1 < len(words) and words[n + 1][0] in NAMED:
            continue
        noun = (
            _noun_after(words[n + 1 : n + 5])
            or _other_after(words[n + 1 : n + 4], chosen, text)
            or _noun_before(words[max(n - 3, 0) : n], words[n + 1 : n + 2])
        )
        if noun is None and word in _OF_HAIR:
            noun = "hair"
        colour = TONES[material] if material and word not in NAMED else NAMED[word]
        if n and words[n - 1][0] in _DEGREES:
            colour = _DEGREES[words[n - 1][0]](colour)
        name = noun or ("" if "" not in inks else "second")
        if material and name in inks:
            # A colour was told already: "red crystal" is red, and cut like crystal.
            textures.setdefault(name, TEXTURES.get(material, ""))
            continue
        if name == "second" and material is not None:
            textures.setdefault("", TEXTURES.get(material, ""))
            continue
        if noun and start >= core:
            # What is said later, as in the notes of a reviewer, is what is meant.
            inks[name] = colour
        inks.setdefault(name, colour)
        if material and material in TEXTURES:
            textures.setdefault(name, TEXTURES[material])
    return inks, textures


def _other_after(words: Sequence[tuple[str, int]], chosen: Mention | None, text: str) -> str | None:
    """A thing that is named beside the subject, as what it holds."""
    for word, start in words:
        if word in _BREAKS or (chosen and chosen.start <= start < chosen.stop):
            return None
        if any(each.subject is not (chosen and chosen.subject) for each in named(word)) and (
            not chosen or start > chosen.stop
        ):
            return f"held {named(word)[0].subject.name}"
    return None


_BREAKS = frozenset({",", ".", ";", "with", "in", "on", "holding", "wearing", "of", "carrying", "from", "for", "and"})
_OF_HAIR = frozenset({"blond", "blonde", "auburn", "brunette"})
"Colours that only hair has."
_DEGREES: Mapping[str, Callable[[Colour], Colour]] = {
    "dark": lambda colour: darker(colour, 0.35),
    "deep": lambda colour: darker(colour, 0.25),
    "light": lambda colour: lighter(colour, 0.35),
    "pale": lambda colour: lighter(colour, 0.45),
    "bright": lambda colour: lighter(colour, 0.08),
}


def _noun_after(words: Sequence[tuple[str, int]]) -> str | None:
    for n, (word, _) in enumerate(words):
        if (noun := told(word, OWN_NOUNS)) is not None:
            return noun
        if word in _BREAKS - {"and"}:
            return None
        if word == "and" and not (n + 1 < len(words) and words[n + 1][0] in NAMED):
            return None
    return None


def _noun_before(before: Sequence[tuple[str, int]], after: Sequence[tuple[str, int]]) -> str | None:
    """Of "eyes glowing green" and "a scarf of red", where nothing follows that is coloured."""
    if after and after[0][0] not in {",", ".", ";", "and", "with"}:
        return None
    for word, _ in reversed(before):
        if word in {",", ".", ";", "and", "with", "a"}:
            return None
        if (noun := told(word, OWN_NOUNS)) is not None:
            return noun
    return None


def _worn(text: str, chosen: Mention | None) -> tuple[str, ...]:
    rest = text if chosen is None else text[: chosen.start] + " " + text[chosen.stop :]
    worn = [name for name, words in WORN.items() if told(rest, {name: words})]
    hats = [name for name in worn if name in HATS]
    return tuple(name for name in worn if name not in HATS or name == hats[0])


HATS = frozenset(
    [
        "cowboy hat",
        "wizard hat",
        "top hat",
        "cap",
        "party hat",
        "santa hat",
        "straw hat",
        "helmet",
        "horned helmet",
        "crown",
        "beanie",
        "any hat",
    ]
)
"Of which a head wears one."


def _held(text: str, chosen: Mention | None) -> tuple[str, ...]:
    after = text[chosen.stop :] if chosen else text
    found = re.findall(rf"(?<![a-z])({HELD})s?(?![a-z])", after)
    return tuple(dict.fromkeys(found))[:2]


def _traits(text: str) -> dict[str, float]:
    traits: dict[str, float] = {}
    for pattern, sizes in _SIZES.values():
        if re.search(pattern, text):
            for name, value in sizes.items():
                traits[name] = traits.get(name, 1.0) * value
    if "head" in traits and "big head" in text:
        traits.pop("wide", None)
    return traits
