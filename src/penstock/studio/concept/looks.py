"""What words tell about somebody's hair, skin and clothes, beside their colours."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penstock.studio.vocabulary import Meanings, told

HAIR: Meanings = {
    "long": "long hair|long-haired|long red hair|flowing hair|long \\w+ hair|loose hair",
    "curly": "curly|curls|afro|curly-haired|frizzy",
    "bald": "bald|shaved head|hairless|bald-headed",
    "mohawk": "mohawk|punk",
    "ponytail": "ponytail|pony tail",
    "braids": "braids|braid|braided|pigtails|plaits",
    "bob": "bob|bob cut|shoulder-length hair|shoulder length hair|medium hair",
    "bun": "hair bun|topknot|bun",
    "spiky": "spiky|spiked hair|messy hair|tousled",
    "short": "short hair|short-haired|short \\w+ hair|crew cut|cropped hair",
}
GARMENTS: Meanings = {
    "jacket": "jacket|jackets|blazer|leather jacket|bomber jacket|vest|waistcoat|denim jacket",
    "tuxedo": "suit|tuxedo|business suit|suit and tie|pinstripe suit",
    "coat": "coat|trench coat|raincoat|overcoat|lab coat|parka|anorak",
    "dress": "dress|gown|ballgown|sundress|tutu",
    "robe": "robe|robes|kimono|toga|tunic",
    "armour": "armour|armor|breastplate|chainmail|armoured|armored|plate mail",
    "suit": "spacesuit|space suit|space-suit|flight suit|astronaut suit|diving suit|wetsuit",
    "hoodie": "hoodie|hooded sweatshirt|sweatshirt|tracksuit",
    "sweater": "sweater|jumper|pullover|cardigan|turtleneck",
    "overalls": "overalls|dungarees|boiler suit",
    "skirt": "skirt|miniskirt|kilt",
    "shirt": "t-shirt|tshirt|shirt|blouse|polo|tank top|top|jeans|trousers|pants|shorts|leggings",
}
SKIN: Meanings = {
    "freckles": "freckles|freckled|freckle-faced",
    "beard": "beard|bearded|goatee|stubble",
    "moustache": "moustache|mustache|mustached|moustached",
    "old": "old|elderly|aged|grandmother|grandfather|grandma|grandpa|granny|ancient",
    "lipstick": "lipstick|red lips",
}


def looks_of(text: str) -> Mapping[str, str]:
    """What a text in lower case tells, by what it is of; what it does not tell is left out."""
    bare = re.sub(r"\bspace[- ]suits?\b", "spacesuit", text)
    found = {"hair": told(bare, HAIR), "garment": told(bare, GARMENTS)}
    marks = {mark: mark for mark, words in SKIN.items() if told(bare, {mark: words})}
    return {name: meaning for name, meaning in found.items() if meaning is not None} | marks
