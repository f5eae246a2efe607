"""Which places there are, by the words for them: bands of land from far to near, and what stands on each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from penstock.studio.concept import place_details as details
from penstock.studio.concept.draft import Draft
from penstock.studio.drawing.colour import Colour

Detail = Callable[[Draft, np.random.Generator], None]


@dataclass(frozen=True, slots=True)
class Band:
    """A strip of land."""

    name: str
    ink: str = ""
    tall: float = 0.3
    "Up to where it goes, as a part of the picture."
    rough: float = 0.06
    sharp: float = 0.0
    things: tuple[str, ...] = ()
    count: int = 8
    size: tuple[float, float] = (160.0, 260.0)
    sunk: float = 0.04
    deep: float = 0.0
    before: bool = False
    "Do its things stand before its land, or grow behind it?"
    hangs: bool = False
    "It is the ceiling."
    detail: Detail | None = None


@dataclass(frozen=True, slots=True)
class Landscape:
    """Somewhere a game can be."""

    words: str
    bands: tuple[Band, ...]
    hour: str = "day"
    light: str = "hills"
    "The place whose colours it has."
    walls: Colour | None = None
    "Of a place without a sky."
    behind: Detail | None = None
    inks: Mapping[str, str] = field(default_factory=dict)


PLACES: Mapping[str, Landscape] = {
    "forest": Landscape(
        "forest|woods|woodland|grove|trees|enchanted forest|glade|clearing",
        (
            Band("hills", "teal", 0.5, 0.12),
            Band("far trees", "emerald", 0.36, 0.05, things=("pine", "tree"), count=16, size=(300, 430)),
            Band("trees", "green", 0.24, 0.04, things=("tree", "pine"), count=9, size=(420, 560), sunk=0.02),
            Band(
                "undergrowth",
                "emerald",
                0.12,
                0.05,
                things=("bush", "mushroom", "rock", "flower"),
                count=11,
                size=(80, 150),
            ),
        ),
        light="forest",
        inks={"leaves": "green"},
    ),
    "jungle": Landscape(
        "jungle|rainforest|tropical|tropics|amazon",
        (
            Band("hills", "emerald", 0.5, 0.14),
            Band("far trees", "green", 0.36, 0.05, things=("palm", "tree"), count=14, size=(330, 470)),
            Band("trees", "green", 0.22, 0.05, things=("palm", "tree", "bush"), count=10, size=(330, 560)),
            Band(
                "undergrowth",
                "emerald",
                0.12,
                0.05,
                things=("bush", "flower", "rock"),
                count=12,
                size=(90, 180),
                detail=details.vines,
            ),
        ),
        light="forest",
        inks={"leaves": "emerald"},
    ),
    "desert": Landscape(
        "desert|dunes|sahara|wasteland|canyon|wild west|mesa|savanna|savannah|sand",
        (
            Band("mesas", "copper", 0.5, 0.22, 0.3),
            Band("far dunes", "sand", 0.38, 0.1),
            Band("dunes", "sand", 0.26, 0.08, things=("cactus", "rock"), count=7, size=(150, 290)),
            Band("sand", "amber", 0.12, 0.05, things=("cactus", "rock", "skull"), count=7, size=(70, 260)),
        ),
        light="desert",
        inks={"leaves": "green", "stone": "copper"},
    ),
    "city": Landscape(
        ("city|town|skyline|downtown|urban|street|streets|metropolis|cyberpunk|rooftop|rooftops|alley|modern"),
        (
            Band("skyline", "steel", 0.3, 0.02, things=("skyscraper",), count=16, size=(330, 520), sunk=0.1),
            Band("towers", "steel", 0.24, 0.0, things=("skyscraper",), count=11, size=(300, 500), sunk=0.06),
            Band(
                "street",
                "charcoal",
                0.17,
                0.0,
                things=("shop", "house", "tree", "skyscraper"),
                count=9,
                size=(200, 300),
                sunk=0.0,
            ),
            Band(
                "road",
                "grey",
                0.09,
                0.0,
                things=("car", "lamp", "bush"),
                count=6,
                size=(90, 130),
                sunk=0.0,
                before=True,
            ),
        ),
        light="city",
        hour="day",
    ),
    "castle": Landscape(
        "castle|kingdom|fortress|palace|medieval|citadel",
        (
            Band("mountains", "steel", 0.52, 0.26, 0.6),
            Band("castle hill", "green", 0.36, 0.14, things=("castle",), count=2, size=(420, 540), sunk=0.06),
            Band("fields", "green", 0.24, 0.06, things=("tree", "house", "pine"), count=9, size=(120, 210)),
            Band("meadow", "lime", 0.12, 0.04, things=("bush", "flower", "flag", "rock"), count=10, size=(70, 170)),
        ),
        inks={"leaves": "green", "stone": "silver"},
    ),
    "space": Landscape(
        ("space|galaxy|planet|planets|cosmos|cosmic|nebula|asteroid|asteroids|universe|stars|outer space|orbit"),
        (
            Band("planets", "", 0.0, 0.0, detail=details.orbs),
            Band("far rocks", "indigo", 0.24, 0.12, 0.6),
            Band("asteroids", "", 0.0, 0.0, things=("rock",), count=7, size=(50, 110), sunk=-3.0, deep=260),
            Band(
                "moon ground", "violet", 0.16, 0.06, things=("rock",), count=5, size=(60, 120), detail=details.craters
            ),
        ),
        light="space",
        behind=details.planets,
    ),
    "alien planet": Landscape(
        "alien planet|alien world|mars|martian|moon base|exoplanet|lunar|moon",
        (
            Band("peaks", "coral", 0.5, 0.26, 0.7),
            Band("ridges", "rust", 0.34, 0.14, 0.5),
            Band("ground", "rust", 0.2, 0.06, things=("rock", "gem"), count=7, size=(80, 180)),
            Band("craters", "copper", 0.12, 0.03, things=("rock",), count=5, size=(60, 110), detail=details.craters),
        ),
        light="space",
        behind=details.planets,
    ),
    "beach": Landscape(
        "beach|sea|ocean|coast|shore|island|tropical island|seaside|harbour|harbor|bay|lagoon",
        (
            Band("islands", "teal", 0.4, 0.16, 0.2),
            Band("sea", "blue", 0.37, 0.0, things=("boat",), count=2, size=(110, 160), sunk=0.2, detail=details.waves),
            Band("sand", "sand", 0.17, 0.06, things=("palm", "rock"), count=6, size=(260, 400), sunk=0.03),
            Band(
                "near sand",
                "cream",
                0.08,
                0.04,
                things=("starfish", "crab", "umbrella", "rock"),
                count=6,
                size=(60, 130),
            ),
        ),
        light="sea",
        inks={"leaves": "green"},
    ),
    "mountains": Landscape(
        "mountain|mountains|alps|peak|peaks|summit|cliff|cliffs|highlands|valley|himalaya",
        (
            Band("far peaks", "steel", 0.66, 0.34, 0.8),
            Band("peaks", "steel", 0.5, 0.3, 0.75),
            Band("slopes", "green", 0.3, 0.12, things=("pine",), count=15, size=(110, 200)),
            Band("meadow", "lime", 0.13, 0.05, things=("rock", "pine", "flower", "bush"), count=9, size=(80, 240)),
        ),
        light="mountains",
    ),
    "snow": Landscape(
        "snow|snowy|winter|ice|icy|arctic|tundra|frozen|glacier|christmas|north pole|antarctica",
        (
            Band("peaks", "sky", 0.58, 0.3, 0.8),
            Band("snowy hills", "ivory", 0.4, 0.1, things=("pine",), count=12, size=(140, 250)),
            Band("snow", "white", 0.24, 0.06, things=("pine", "tent", "rock"), count=7, size=(140, 320)),
            Band("near snow", "ivory", 0.1, 0.04, things=("rock", "snowman", "pine"), count=6, size=(90, 190)),
        ),
        light="mountains",
        inks={"leaves": "mint", "stone": "silver", "cloth": "white"},
    ),
    "village": Landscape(
        "village|hamlet|farm|countryside|settlement|rural|farmland|ranch|cottage|market",
        (
            Band("hills", "teal", 0.48, 0.12),
            Band("fields", "green", 0.36, 0.08, things=("tree", "windmill", "house"), count=9, size=(130, 220)),
            Band(
                "houses",
                "lime",
                0.22,
                0.03,
                things=("house", "shop", "tree", "house", "church"),
                count=8,
                size=(250, 340),
                sunk=0.02,
            ),
            Band(
                "lane",
                "sand",
                0.09,
                0.03,
                things=("barrel", "bush", "bridge", "flower", "wagon"),
                count=8,
                size=(70, 130),
            ),
        ),
        inks={"leaves": "green"},
    ),
    "meadow": Landscape(
        "meadow|hills|hill|field|fields|grassland|prairie|plains|garden|park|grass|flowers",
        (
            Band("far hills", "teal", 0.5, 0.14),
            Band("hills", "green", 0.38, 0.12, things=("tree", "bush"), count=9, size=(100, 190)),
            Band("meadow", "lime", 0.24, 0.07, things=("tree", "bush"), count=5, size=(150, 330)),
            Band("flowers", "green", 0.11, 0.04, things=("flower", "flower", "bush", "rock"), count=16, size=(80, 130)),
        ),
        inks={"leaves": "green"},
    ),
    "cave": Landscape(
        "cave|cavern|caves|grotto|mine|mines|underground|crystal cave|tunnel",
        (
            Band("far rock", "steel", 0.4, 0.2, 0.7),
            Band("ceiling", "charcoal", 0.16, 0.1, 0.5, hangs=True, detail=details.stalactites),
            Band(
                "rocks",
                "grey",
                0.24,
                0.12,
                0.5,
                things=("rock", "gem"),
                count=8,
                size=(80, 190),
                detail=details.crystals,
            ),
            Band("floor", "charcoal", 0.1, 0.05, 0.3, things=("rock", "mushroom", "lantern"), count=8, size=(70, 140)),
        ),
        light="room",
        hour="night",
        walls=(58, 56, 82),
        inks={"stone": "grey"},
    ),
    "dungeon": Landscape(
        ("dungeon|crypt|prison|catacombs|tomb|vault|torture chamber|cellar|castle interior|throne room|sewer"),
        (
            Band("torches", "", 0.0, 0.0, detail=details.torches),
            Band("pillars", "", 0.0, 0.0, detail=details.pillars),
            Band(
                "floor",
                "grey",
                0.2,
                0.0,
                things=("barrel", "chest", "coffin", "crate", "skull"),
                count=7,
                size=(90, 150),
                before=True,
                deep=20,
            ),
            Band("rubble", "charcoal", 0.07, 0.04, 0.4, things=("skull", "rock", "rock"), count=6, size=(50, 90)),
        ),
        light="room",
        hour="night",
        walls=(74, 68, 84),
        behind=details.bricks,
        inks={"stone": "grey"},
    ),
    "underwater": Landscape(
        ("underwater|reef|coral reef|deep sea|seabed|ocean floor|atlantis|undersea|under the sea|aquatic"),
        (
            Band("far reef", "teal", 0.36, 0.2, 0.4),
            Band("fish", "", 0.0, 0.0, detail=details.shoal),
            Band("reef", "indigo", 0.22, 0.12, 0.3, things=("rock", "starfish"), count=7, size=(60, 150)),
            Band(
                "sand",
                "sand",
                0.11,
                0.04,
                things=("starfish", "rock", "chest"),
                count=6,
                size=(50, 110),
                detail=details.weeds,
            ),
        ),
        light="underwater",
        behind=details.rays,
    ),
    "swamp": Landscape(
        "swamp|marsh|bog|bayou|wetland|everglades|mangrove",
        (
            Band("mist", "olive", 0.46, 0.1),
            Band("far trees", "olive", 0.34, 0.05, things=("tree",), count=12, size=(260, 400)),
            Band(
                "bank",
                "olive",
                0.24,
                0.05,
                things=("tree", "bush", "stump"),
                count=8,
                size=(150, 460),
                detail=details.vines,
            ),
            Band(
                "water",
                "teal",
                0.14,
                0.0,
                things=("stump", "mushroom", "bush"),
                count=7,
                size=(70, 130),
                detail=details.lilies,
            ),
        ),
        light="forest",
        hour="dawn",
        inks={"leaves": "olive", "trunk": "charcoal"},
    ),
    "graveyard": Landscape(
        "graveyard|cemetery|haunted|halloween|spooky|haunted house|gothic",
        (
            Band("hills", "indigo", 0.46, 0.14),
            Band("church hill", "navy", 0.34, 0.08, things=("church", "tree", "house"), count=6, size=(230, 380)),
            Band("graves", "charcoal", 0.22, 0.05, things=("coffin", "tree", "coffin"), count=10, size=(120, 260)),
            Band("grass", "black", 0.1, 0.05, things=("pumpkin", "coffin", "bush", "skull"), count=9, size=(70, 140)),
        ),
        hour="night",
        inks={"leaves": "charcoal", "trunk": "charcoal"},
    ),
    "volcano": Landscape(
        "volcano|lava|volcanic|hell|inferno|underworld|magma|fire land",
        (
            Band("peaks", "burgundy", 0.5, 0.2, 0.7),
            Band("volcano", "charcoal", 0.36, 0.1, 0.5, things=("island",), count=2, size=(380, 460), sunk=0.1),
            Band("rocks", "charcoal", 0.24, 0.12, 0.6, things=("rock",), count=8, size=(90, 190)),
            Band("lava", "orange", 0.1, 0.0, detail=details.lava),
        ),
        hour="sunset",
        light="desert",
        inks={"stone": "charcoal"},
    ),
    "ruins": Landscape(
        "ruins|temple|ancient|greek|roman|egypt|egyptian|pyramid|pyramids|aztec|maya",
        (
            Band("hills", "sand", 0.46, 0.14),
            Band("far ruins", "sand", 0.36, 0.06, things=("bridge", "church"), count=6, size=(180, 300)),
            Band("columns", "sand", 0.22, 0.04, things=("bridge", "tree", "rock"), count=8, size=(200, 360)),
            Band("stones", "olive", 0.1, 0.04, things=("rock", "bush", "bucket"), count=8, size=(70, 130)),
        ),
        hour="sunset",
        light="desert",
        inks={"stone": "sand"},
    ),
    "sky": Landscape(
        "sky|clouds|heaven|floating islands|floating island|sky islands|above the clouds",
        (
            Band("far clouds", "", 0.0, 0.0, things=("cloud",), count=7, size=(90, 150), sunk=-2.0, deep=420),
            Band("islands", "", 0.0, 0.0, things=("island",), count=4, size=(220, 360), sunk=-1.2, deep=80),
            Band("clouds", "white", 0.12, 0.08, 0.0, things=("cloud",), count=9, size=(120, 200), sunk=0.3),
        ),
        inks={"leaves": "lime"},
    ),
    "spaceship interior": Landscape(
        (
            "spaceship interior|space station|corridor|laboratory|lab|sci-fi|scifi|control room"
            "|hangar|futuristic|factory"
        ),
        (
            Band("machines", "", 0.0, 0.0, things=("tv",), count=4, size=(130, 180), sunk=-1.3),
            Band(
                "floor",
                "steel",
                0.2,
                0.0,
                things=("crate", "tv", "barrel"),
                count=6,
                size=(110, 170),
                before=True,
                sunk=0.0,
                deep=30,
            ),
            Band("near floor", "charcoal", 0.08, 0.0, things=("crate",), count=3, size=(80, 120), before=True, deep=10),
        ),
        light="room",
        hour="night",
        walls=(64, 76, 100),
        behind=details.windows,
    ),
    "room": Landscape(
        (
            "room|indoors|kitchen|bedroom|office|tavern|inn|library|shop interior|interior"
            "|living room|classroom|workshop|hall"
        ),
        (
            Band(
                "shelves",
                "",
                0.0,
                0.0,
                things=("bookshelf", "mirror", "bookshelf", "door"),
                count=5,
                size=(330, 400),
                sunk=-0.36,
            ),
            Band(
                "floor",
                "brown",
                0.22,
                0.0,
                things=("table", "chair", "lamp", "bed", "chair"),
                count=6,
                size=(170, 240),
                before=True,
                deep=30,
            ),
            Band(
                "rug",
                "crimson",
                0.07,
                0.0,
                things=("candle", "book", "bucket"),
                count=4,
                size=(60, 90),
                before=True,
                deep=10,
            ),
        ),
        light="room",
        walls=(198, 168, 132),
        behind=details.panes,
    ),
}
