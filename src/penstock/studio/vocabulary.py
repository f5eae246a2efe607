"""What can be told from the words of a prompt: where and when it is, the weather, what is done, and how it is filmed.

Nothing here understands a sentence. Words are counted, and the meaning with most of them wins; among equals, the one
that is named first. Where and when it is, the first sentence decides that says anything about it: what follows is about
the manner of filming.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Meanings = Mapping[str, str]
"A meaning, and the words and phrases that tell it, parted by bars."

HOURS: Meanings = {
    "night": "night|nights|midnight|moonlit|moonlight|moon|stars|starry|nocturnal|neon|full moon",
    "dawn": "dawn|sunrise|daybreak|morning|first light",
    "sunset": "sunset|dusk|golden hour|evening|twilight|sundown|late sun",
    "day": "day|daylight|noon|midday|sunny|sunlit|sunshine|afternoon|bright sun|blue sky",
}
BACKDROPS: Meanings = {
    "station": "space station|spaceship|spacecraft|starship|in orbit|space lab|control room|space shuttle|cockpit",
    "moon": (
        "on the moon|across the moon|moon surface|surface of the moon|moonscape|moon landing|moon base|lunar|crater"
        "|craters|walks the moon|over the moon"
    ),
    "rooftop": "rooftop|rooftops|roof|roofs|terrace",
    "street": "street|streets|alley|road|avenue|crosswalk|sidewalk|pavement|traffic|boulevard|highway",
    "library": "library|libraries|bookshop|bookstore|archive|reading room|bookshelves",
    "kitchen": "kitchen|kitchens|bakery",
    "bedroom": "bedroom|bedrooms|hotel room|nursery",
    "train": "train|trains|carriage|tram|subway|railway|metro|underground train",
    "cafe": "cafe|café|coffee shop|bar|pub|restaurant|diner|tavern|saloon",
    "classroom": "classroom|school|schoolroom|university|lecture hall",
    "castle": "castle|castles|fortress|palace|citadel|kingdom",
    "market": "market|marketplace|bazaar|fair|food stalls|stalls",
    "harbour": "harbour|harbor|port|docks|dock|pier|lighthouse|marina|quay",
    "stage": (
        "stage|concert|club|spotlight|spotlights|arena|festival|crowd|audience|disco|nightclub|theatre|theater|opera"
        "|circus"
    ),
    "underwater": (
        "underwater|under water|under the sea|under the water|reef|deep sea|seabed|coral reef|sea floor|ocean floor"
        "|undersea|bottom of the sea"
    ),
    "jungle": "jungle|rainforest|tropics",
    "cave": "cave|cavern|caves|grotto|mine shaft|tunnel",
    "graveyard": "graveyard|cemetery|haunted house|graves",
    "volcano": "volcano|volcanic|lava",
    "ruins": "ruins|temple|pyramids|pyramid",
    "swamp": "swamp|marsh|bog",
    "village": "village|hamlet|farm|countryside",
    "sky": "clouds|above the clouds|floating islands|heaven",
    "snow": (
        "snow mountain|snowy mountain|snow mountains|snowy mountains|snowy peak|snow-covered mountain"
        "|snow-capped mountain|snow-covered mountains|arctic|antarctic|antarctica|north pole|south pole|glacier"
        "|ski slope|winter wonderland|mountain in the snow|mountains in the snow|snowfield|snowy landscape"
    ),
}
"Places of one kind, which are meant wherever they are named."
REGIONS: Meanings = {
    "city": (
        "city|cities|skyline|downtown|urban|skyscraper|skyscrapers|towers|metropolis|bridge|austin|tokyo|paris|london|berlin"
        "|new york|chicago|seattle|seoul|shanghai|dallas|houston|town|neon|cyberpunk"
    ),
    "desert": "desert|dunes|dune|sahara|mesa|canyon|texas|arizona|sandstorm|wasteland|mars|martian",
    "mountains": "mountain|mountains|alps|peak|peaks|summit|cliff|cliffs|ridge|himalaya",
    "forest": "forest|woods|trees|park|garden|woodland|grove|wood|glade",
    "hills": "hill|hills|meadow|meadows|field|fields|valley|prairie|grassland|flowers|grass|lawn",
    "sea": "sea|ocean|beach|island|islands|coast|shore|seashore|seaside|sail|sailing|waves|lake|river|surf",
    "space": "space|outer space|galaxy|planet|planets|cosmos|cosmic|orbit|nebula|asteroid|universe",
    "room": "room|indoors|studio|office|apartment|workshop|interior|house|home|living room|hall",
}
"Wide places, of which a narrower one may be a part: a castle in the mountains is a castle."
HAUNTS: Meanings = {
    "underwater": "mermaid|merman|fish|whale|shark|octopus|dolphin|diver|submarine",
    "moon": "astronaut|cosmonaut",
    "space": "alien|ufo",
    "castle": "knight|king|queen|princess|prince|dragon|wizard",
    "sea": "pirate|sailor|surfer|crab",
    "stage": "singer|band|guitarist|rockstar|rock star|dancer|ballerina|rapper|dj",
    "desert": "cowboy|cowgirl|camel|cactus",
    "kitchen": "chef|cook|baker",
    "forest": "fox|bear|wolf|owl|elf|fairy|deer|hunter|hedgehog|squirrel",
    "street": "skater|skateboarder|taxi|policeman",
    "snow": "penguin|snowman|polar bear|yeti|skier|snowboarder",
    "graveyard": "ghost|zombie|vampire|skeleton|mummy",
    "library": "librarian|professor|student",
    "city": "superhero",
    "hills": "rabbit|cow|horse|sheep|butterfly|bee|farmer",
}
"Where somebody is at home, if nobody says where it is."
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
    "drift": "drift|drifts|drifting|floats|floating",
    "static": "static|locked-off|fixed camera|still camera|tripod",
}
SHOTS: Meanings = {
    "close": "close-up|close up|closeup|portrait|face|tight shot|extreme close-up|lips",
    "medium": "medium shot|medium|waist-up|waist up|half-length|mid shot",
    "wide": "wide shot|wide|long shot|establishing|panorama|panoramic|from afar|far away|full shot|silhouette",
}
ACTIONS: Meanings = {
    "walk": "walk|walks|walking|stroll|strolls|strolling|marches|marching",
    "run": "run|runs|running|chase|chases|chasing|sprint|race|races|racing|escape|escapes|rushes",
    "dance": "dance|dances|dancing|groove|celebrate|celebrates|spins|twirls|party",
    "wave": "wave to|waves to|waves at|waves|waving|greets|hello|goodbye|presents|presenting|shows|holds up|points",
}
MILD_ACTIONS: Meanings = {
    "sing": "sing|sings|singing|performs|performing|performance|lip-sync|chorus",
    "walk": "explore|explores|exploring|wander|wanders|wandering|journey|arrives",
    "look": "look|looks|gaze|gazes|watch|watches|watching|stands|standing|waits|waiting|dreams|thinks|pauses|rests",
}
"What anybody does besides, and by itself only where nothing else is done; who sings goes before who looks."
_PLAYED = r"(?:the |a |an |his |her |their |its )?(?:electric |acoustic )?(?:guitar|violin|ukulele|banjo|cello|bass)"
POSTURES: Meanings = {
    "stand": (
        "stands still|stand still|standing still|stays still|motionless|does not move|doesn't move|perfectly still"
        "|without moving|still as a statue"
    ),
    "sit": "sit|sits|sitting|seated|sat",
    "swim": "swim|swims|swimming|dives|diving",
    "fly": "fly|flies|flying|soars|soaring|glides|gliding|hovers|hovering",
    "jump": "jump|jumps|jumping|leap|leaps|leaping|hops|hopping|bounces",
    "skate": "skateboards|skateboarding|skates|skating|surfs|surfing|snowboards|snowboarding|rides a skateboard"
    "|on a skateboard|on a surfboard|on a snowboard|on a flying carpet|on a magic carpet",
    "play": rf"plays {_PLAYED}|playing {_PLAYED}|play {_PLAYED}|strums|strumming",
}
"What is done in one way only: it is meant also where something else is done besides."
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
        hour=told_first(text, HOURS),
        backdrop=told_first(text, BACKDROPS, REGIONS),
        ground=told_first(text, GROUNDS),
        weather=told_first(text, WEATHERS),
        particles=told_first(text, PARTICLES),
        camera=told(text, CAMERAS),
        shot=told(text, SHOTS),
        action=told(text, POSTURES) or told(text, ACTIONS) or told(text, MILD_ACTIONS),
        neon="neon" in text or "cyberpunk" in text,
        colours=scenery_colours(text, colours),
    )


def told(text: str, meanings: Meanings) -> str | None:
    """The meaning that most of a text's words tell, or None."""
    counts = {
        meaning: (len(found), -found[0]) for meaning, words in meanings.items() if (found := _places(text, words))
    }
    return max(counts, key=lambda meaning: counts[meaning]) if counts else None


def told_first(text: str, *several: Meanings) -> str | None:
    """What the first sentence tells that tells anything; of several meanings the former go before the latter."""
    for sentence in re.split(r"[.!?\n]", text):
        for meanings in several:
            if (found := told(sentence, meanings)) is not None:
                return found
    return None


def without(text: str, phrases: Iterable[str]) -> str:
    """A text in lower case with some phrases blotted out, so that everything else stays where it is."""
    for phrase in phrases:
        text = text.replace(phrase.lower(), " " * len(phrase))
    return text


def scenery_colours(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """The colours of a palette that is listed, and those of the sky, the light and the land."""
    any_name = "|".join(names)
    found: list[str] = []
    for listed in re.findall(r"(?:palette|colou?rs|tones|hues)\s+(?:of|in|are)?([^.;\n]*)", text.lower()):
        found += re.findall(rf"\b({any_name})\b", listed)
    found += re.findall(rf"\b({any_name})\b(?:[\s,]+(?:and\s+)?[\w-]+)?\s+{_SCENERY.pattern}\b", text.lower())
    return tuple(dict.fromkeys(found))


def spans(text: str, words: str) -> list[tuple[int, int]]:
    """Where in a text one of the words stands, from its first letter to behind its last."""
    return [match.span() for match in re.finditer(rf"(?<![\w-])(?:{words})(?![\w-])", text.lower())]


def _places(text: str, words: str) -> list[int]:
    return [start for start, _ in spans(text, words)]
