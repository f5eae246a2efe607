"""Words that name nothing to be drawn: those that join a sentence, tell a feeling or a manner, or speak of the film."""

from __future__ import annotations

_JOINING = """
a about above across after again against ago ahead all almost alone along already also although always am among an and
another any anyone anything apart are around as at away back be because become becomes been before begin begins behind
being below beside besides between beyond bit both bottom but by came can cannot come comes could did do does doing
done down dozen during each early eight either else end ends enough even ever every everybody everyone everything
everywhere except far few first five for forward four from front full further get gets give gives go goes going gone
got had half has have having he her here hers herself him himself his how however hundred i if in inside instead into
is it its itself just keep keeps kind last late later least left less let lets like little long lot lots made make
makes making many may maybe me means meanwhile middle might mine more most much must my myself near nearly neither
never next nine no nobody none nor not nothing now nowhere of off often old-time on once one ones only onto open opens
or other others our ours out outside over own part parts past perhaps piece place places put puts quite rather really
right round same second see seems seen seven several shall she should side sides since six so some somebody someone
something sometimes somewhere still such take takes ten than that the their theirs them themselves then there these
they thing things third this those though thousand three through throughout till time times to today together tomorrow
tonight too top toward towards turn turns two under until up upon us use used using very via was way we well went were
what whatever when whenever where wherever whether which while who whoever whole whom whose why will with within
without would yes yet you your yours
"""
_FEELING = """
adult afraid alive amazing america ancient anger angry anxious arizona awake awesome bad beautiful beauty best better
big bigger biggest bold brave brave-hearted bravery bright brilliant broken california calm careful caring cartoon
cheeky cheerful chilly china classic clean clear clever close closer closest cold comfort confident cool cosy courage
courageous cozy crazy cute cyber dark darkness dazzling dear deep delicate delight desire despair different distant
dramatic dream dreaming dreams dreamy easy elaborate elderly elegant emotion emotional emotions empty endless
energetic energy england epic eternal ethereal excited exciting exotic famous fantastic fantasy fast fate fear
fearless feel feeling feelings feels female fierce fine flawless fleeting florida fluffy forgotten fragile france free
freedom fresh friend friendly friends funny furry future futuristic fuzzy gentle germany giant glad gleaming
glittering gloomy glory glowing good gorgeous grace grand great greatest grief gritty grumpy handsome happily
happiness happy hard harmony haunting heartbreak heartbroken heavy high hope hopeful hopes hot huge human humanoid
humble hungry idea important impossible independent innocent intense intimate italy japan joy joyful keen kind korea
larger laugh laughing laughs lazy life light lively living lone loneliness lonely lost loud love loved lovely loves
loving low luck lucky lush luxurious mad magic magical majestic male massive mechanical melancholic melancholy
memories memory metallic middle-aged mighty mind mischievous missing modern mood moody mysterious mystery mystic
narrow nature new nice noble nostalgia nostalgic odd ordinary ornate pain past patient peace peaceful perfect playful
poor power powerful precious pretty proud pure quick quiet quirky rare raw ready real realistic regret remembering
remembers restless retro rich romantic rough rugged sad sadness safe scary sci-fi scifi secret secrets serene serious
shadow shadows shaggy shimmering shiny shy silence silent silly simple sleek slender slim slow slowly small smaller
smart smile smiles smiling smooth soft softly solitary sorrow soul spain sparkling spectacular spooky stark steampunk
stocky strange stranger strong stunning stylish subtle sure surprised surreal sweet swift tall tattered teenage tender
texas thin thoughtful tiny tired tough tragic tranquil triumph true truth ugly unexpected unknown usa vast vibrant
vintage vivid warm warmth weak weary weathered wet whimsical wicked wide wild wise wistful wonder wonderful wonders
word words world-famous worn worn-out young younger youth
"""
_FILM = """
brings gripping grips lifting lifts offering offers raises raising
action adventure adventures animated animation appear appears arm arms arrives art artist artistic asks aspect
atmosphere atmospheric backdrop background ballad beat beats becomes blues body camera carries carrying celebrates
changed changes changing chapter character characters chord chords cinematic climax clip close-up closed closing color
colors colour colours composition concept contrast cooking cooks cut cuts detail detailed details director disappears
discover discovers distance drama dressed edit effect effects ending episode every-shot everyday explores eyes face
fade fades feet figure film filmed filming finale finding finds focus folk foot foreground found frame frames genre
glow glows goes growing grows hair hand hands hd head hero heroine hip-hop holding holds hook horizon hour hours image
images intro jazz journey knew knows learns leaves leaving leg legs lens life light lighting lights line lines lives
look looks lyric lyrics main meets melody minute minutes moment moments montage mood movie music musical narrative
note notes opening outro pacing palette performer picture pictures play playing plays plot pop portrait product
protagonist quality rap reading reads render rendered rendering rhythm rock scene scenes score screen search searches
searching seeking sequence setting shine shines shining shot shots show shows singer singers skin sky song songs sound
sounds soundtrack star start starts stays stop stops story storyline style styled stylised stylized surroundings take
takes tale techno telling tells tempo theme title told tone tones track traveling travelling travels tries trying tune
tunes verse verses vibe vibes video view viewer visit visits visual visuals voice waiting waits wants wearing wears
world worlds
"""

QUIET = frozenset(f"{_JOINING} {_FEELING} {_FILM}".split())
"All of them."
_ENDINGS = ("ly", "ful", "ous", "ive", "less", "able", "ible", "ish", "ed", "est", "ness", "ity", "ism", "'s", "’s")
"How words end that tell how something is."


def is_quiet(word: str) -> bool:
    """Does a word in lower case name nothing that could be drawn?"""
    return len(word) < 3 or word in QUIET or word.removesuffix("s") in QUIET or word.endswith(_ENDINGS)
