"""What those wear and hold who set out: knights, pirates, astronauts."""

from __future__ import annotations

from penstock.studio.concept.outfit import Outfit

ADVENTURERS: tuple[Outfit, ...] = (
    Outfit(
        (
            "person|nomad|bedouin|beggar|prisoner|pilgrim|waiter|teacher|driver|agent|hacker|artist"
            "|painter|noble|squire|tourist|postman|judge|hobbit|halfling|human|hero|adventurer|character|somebody|villager|guy|man|boy|he|male|citizen"
            "|explorer|traveller|hiker|kid|child|student|teenager|dude|father|son|brother|athlete"
            "|runner|protagonist"
        ),
        hair="short|spiky|curly",
    ),
    Outfit(
        "woman|girl|she|lady|heroine|female|mother|daughter|sister|maiden|dancer|ballerina",
        clothes="dress",
        hair="long|braids|bob|curly",
    ),
    Outfit(
        "knight|paladin|crusader|templar|gladiator|guard|warrior|fighter",
        "armour",
        "helm",
        held=("sword", "shield"),
        face="helmet",
        inks={"metal": "silver|steel", "plume": "crimson|blue|purple", "clothes": "steel"},
    ),
    Outfit(
        "wizard|mage|sorcerer|warlock|merlin|magician|druid|spellcaster",
        "robe",
        "wizard hat",
        hair="long",
        held=("staff",),
        beard=1.1,
        inks={"clothes": "indigo|purple|blue", "hair": "white", "beard": "white"},
    ),
    Outfit(
        "witch|sorceress|enchantress",
        "robe",
        "wizard hat",
        hair="long",
        held=("broom",),
        inks={"clothes": "purple|charcoal", "hat": "charcoal", "hair": "ginger|emerald|black", "skin": "mint|beige"},
    ),
    Outfit(
        "ninja|assassin|shinobi|thief|rogue|spy|burglar",
        "gi",
        "headband",
        hair="",
        held=("katana",),
        face="mask",
        inks={"clothes": "charcoal|navy", "hat": "red", "belt": "red"},
    ),
    Outfit(
        "samurai|ronin|shogun",
        "armour",
        "horned helmet",
        hair="",
        held=("katana",),
        inks={"metal": "crimson|navy", "hat": "charcoal", "clothes": "crimson"},
    ),
    Outfit(
        "pirate|captain|buccaneer|corsair|privateer",
        "coat",
        "tricorn",
        hair="long",
        held=("cutlass",),
        face="patch",
        beard=0.35,
        inks={"clothes": "crimson|navy", "hair": "black", "hat": "black"},
    ),
    Outfit(
        "astronaut|cosmonaut|spaceman|spacewoman|space explorer|space marine",
        "suit",
        "bubble",
        hair="short|bun",
        worn=("backpack",),
        inks={"clothes": "white", "hat": "white", "bag": "silver"},
    ),
    Outfit(
        "ranger|archer|hunter|scout|robin hood|bowman|woodsman",
        "shirt",
        "hood",
        hair="short",
        held=("bow",),
        worn=("cape",),
        inks={"clothes": "green|olive", "hat": "emerald", "cape": "emerald", "trousers": "brown"},
    ),
    Outfit(
        "space ranger|space cadet|space trooper|space soldier|star ranger",
        "suit",
        "bubble",
        hair="short",
        held=("blaster",),
        inks={"clothes": "white", "hat": "lime", "trim": "purple", "bag": "lime"},
    ),
)
