"""What can be told from the words of a prompt: where and when it is, the weather, what is done, and how it is filmed.

Nothing here understands a sentence. Words are counted, and the meaning with most of them wins; among equals, the one
that is named first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Meanings = Mapping[str, str]
"A meaning, and the words and phrases that tell it, parted by bars."

HOURS: Meanings = {
    "night": "night|nights|midnight|moonlit|moonlight|moon|stars|starry|nocturnal|neon",
    "dawn": "dawn|sunrise|daybreak|morning|first light",
    "sunset": "sunset|dusk|golden hour|evening|twilight|sundown|late sun",
    "day": "day|daylight|noon|midday|sunny|sunlit|sunshine|afternoon|bright sun|blue sky",
}
BACKDROPS: Meanings = {
    "city": (
        "city|cities|skyline|downtown|urban|street|streets|rooftop|rooftops|skyscraper|skyscrapers|towers|metropolis|alley"
        "|traffic|bridge|austin|tokyo|paris|london|berlin|new york|chicago|seattle|seoul|shanghai|dallas|houston|town"
    ),
    "desert": "desert|dunes|dune|sahara|mesa|canyon|texas|arizona|cactus|sandstorm|wasteland|mars|martian",
    "mountains": "mountain|mountains|alps|peak|peaks|summit|cliff|cliffs|glacier|ridge|arctic|himalaya",
    "forest": "forest|woods|jungle|trees|tree|park|garden|woodland|rainforest|grove|wood",
    "hills": "hill|hills|meadow|meadows|field|fields|farm|valley|prairie|countryside|village|grassland|flowers",
    "sea": "sea|ocean|beach|island|islands|coast|harbour|harbor|shore|sail|sailing|waves|lighthouse|lake|surf",
    "space": "space|galaxy|planet|planets|cosmos|cosmic|orbit|nebula|asteroid|spaceship|rocket|universe|lunar",
    "stage": "stage|concert|club|spotlight|spotlights|arena|festival|crowd|audience|disco|nightclub|theatre",
    "underwater": "underwater|reef|deep sea|seabed|submarine|coral reef|diving|fish|mermaid|whale",
    "room": "room|indoors|kitchen|studio|bedroom|office|apartment|cafe|café|bar|library|workshop|interior|house",
}
GROUNDS: Meanings = {
    "street": "street|streets|road|highway|avenue|downtown|traffic|alley|crosswalk|city|skyline|bridge|town",
    "water": "sea|ocean|lake|river|harbour|harbor|waves|water|waterfront|sail|sailing|boat|island|islands|surf",
    "sand": "beach|desert|dunes|dune|sand|shore|mesa|canyon|wasteland|underwater|reef|seabed|mars|coast",
    "snow": "snow|snowy|ice|icy|glacier|arctic|winter|frozen",
    "grass": "meadow|meadows|grass|field|fields|park|garden|hill|hills|forest|woods|prairie|farm|valley|jungle|village",
    "moon": "moon surface|lunar|planet|planets|asteroid|crater|space|galaxy|orbit|cosmos",
    "floor": "stage|concert|club|arena|floor|room|studio|kitchen|bedroom|office|theatre|disco|cafe|café|bar|library",
}
WEATHERS: Meanings = {
    "rain": "rain|rainy|raining|storm|stormy|downpour|drizzle|wet|thunder",
    "snow": "snow|snowy|snowing|snowfall|blizzard|snowflakes|winter",
    "fog": "fog|foggy|mist|misty|haze|hazy|smoke|smoky",
    "dust": "dust|dusty|sandstorm|pollen",
}
PARTICLES: Meanings = {
    "fireflies": "fireflies|firefly|magic|magical|dreamy|dream|enchanted|glowing",
    "petals": "petals|blossom|blossoms|cherry|flowers|spring",
    "leaves": "leaves|autumn|fall colours|fall colors|windy",
    "sparks": "sparks|fire|embers|ember|flames|lava|explosion|fireworks",
    "confetti": "confetti|party|celebration|celebrate|carnival|disco|balloons",
    "birds": "birds|bird|seagulls|gulls|bats|doves|swallows",
}
CAMERAS: Meanings = {
    "push in": "push in|pushes in|push-in|dolly in|zoom in|zooms in|closer|moves in",
    "pull back": "pull back|pulls back|pull-back|dolly out|zoom out|zooms out|reveal|reveals",
    "pan left": "pan left|pans left|pan to the left",
    "pan right": "pan right|pans right|pan|pans|sweep|sweeps|sweeping",
    "track": "track|tracks|tracking|follow|follows|following|travelling|dolly alongside",
    "rise": "crane|cranes|rise|rises|rising|aerial|drone|lifts|tilt up|tilts up",
    "handheld": "handheld|hand-held|shaky|shake|vérité",
    "drift": "drift|drifts|drifting|floats|floating|static|locked-off",
}
SHOTS: Meanings = {
    "close": "close-up|close up|closeup|portrait|face|tight shot|extreme close-up|lips",
    "medium": "medium shot|medium|waist-up|waist up|half-length|mid shot",
    "wide": "wide shot|wide|long shot|establishing|panorama|panoramic|from afar|far away|full shot|silhouette",
}
ACTIONS: Meanings = {
    "walk": "walk|walks|walking|explore|explores|exploring|wander|wanders|wandering|stroll|strolls|journey|arrives",
    "run": "run|runs|running|chase|chases|chasing|sprint|race|races|racing|escape|escapes|rushes",
    "dance": "dance|dances|dancing|jump|jumps|jumping|groove|celebrate|celebrates|spins|twirls|party",
    "sing": "sing|sings|singing|singer|performs|performing|performance|lip-sync|microphone|chorus",
    "wave": "wave to|waves to|waves at|waving|greets|hello|goodbye|presents|presenting|shows|holds up|points",
    "look": "look|looks|gaze|gazes|watch|watches|stands|standing|waits|waiting|dreams|thinks|pauses|rests|sits",
}
PRODUCTS: Meanings = {
    "bottle": "bottle|perfume|wine|water bottle|shampoo|sauce|oil|lotion|serum|juice",
    "can": "can|soda|beer|cola|energy drink|drink|lemonade",
    "cup": "cup|coffee|tea|mug|espresso|latte",
    "phone": "phone|smartphone|app|tablet|screen|laptop|computer|gadget|camera",
    "shoe": "shoe|shoes|sneaker|sneakers|boots|trainers",
    "box": "box|package|soap|chocolate|cereal|toy|game|watch|gift",
}

_SCENERY = re.compile(
    r"(?:sky|skies|light|lights|lighting|glow|glows|haze|hazy|mist|fog|neon|sea|ocean|water|sand|sands|desert|dunes"
    r"|forest|mountain|mountains|hills|field|fields|night|sunset|dawn|evening|morning|clouds?|tones?|hues?|shades?"
    r"|city|street|streets|stage|spotlights?|nebula|planet|horizon|stars|snow|waves)"
)


@dataclass(frozen=True, slots=True)
class PromptReading:
    """What a prompt tells; None where it says nothing."""

    hour: str | None
    backdrop: str | None
    ground: str | None
    weather: str | None
    particles: str | None
    camera: str | None
    shot: str | None
    action: str | None
    neon: bool
    colours: tuple[str, ...]
    "Colours of the scenery, and not of what somebody wears."


def read(prompt: str, colours: Sequence[str]) -> PromptReading:
    """What a prompt tells; ``colours`` are the names of those that can be mixed."""
    text = prompt.lower()
    return PromptReading(
        hour=told(text, HOURS),
        backdrop=told(text, BACKDROPS),
        ground=told(text, GROUNDS),
        weather=told(text, WEATHERS),
        particles=told(text, PARTICLES),
        camera=told(text, CAMERAS),
        shot=told(text, SHOTS),
        action=told(text, ACTIONS),
        neon="neon" in text or "cyberpunk" in text,
        colours=scenery_colours(text, colours),
    )


def told(text: str, meanings: Meanings) -> str | None:
    """The meaning that most of a text's words tell, or None."""
    counts = {
        meaning: (len(found), -found[0]) for meaning, words in meanings.items() if (found := _places(text, words))
    }
    return max(counts, key=lambda meaning: counts[meaning]) if counts else None


def scenery_colours(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """The colours of a palette that is listed, and those of the sky, the light and the land."""
    any_name = "|".join(names)
    found: list[str] = []
    for listed in re.findall(r"(?:palette|colou?rs|tones|hues)\s+(?:of|in|are)?([^.;\n]*)", text.lower()):
        found += re.findall(rf"\b({any_name})\b", listed)
    found += re.findall(rf"\b({any_name})\b(?:[\s,]+(?:and\s+)?[\w-]+)?\s+{_SCENERY.pattern}\b", text.lower())
    return tuple(dict.fromkeys(found))


def _places(text: str, words: str) -> list[int]:
    return [match.start() for match in re.finditer(rf"(?<![\w-])(?:{words})(?![\w-])", text.lower())]
