"""SSML: its common part is followed, all else is refused with its place, and nothing of it is ever read aloud."""

from __future__ import annotations

import time

import numpy
import pytest

from penstock.media.speech.errors import BadMarkup, Unspeakable
from penstock.media.speech.script import script_of
from penstock.media.speech.sound import Sound
from penstock.media.speech.speaking import sounds, steps_of
from penstock.media.speech.ssml import Pause, Said
from penstock.media.speech.voices import Voices


def parts(inside: str) -> list[Said | Pause]:
    """What is made of the inside of a document."""
    return list(script_of(f"<speak>{inside}</speak>").parts)


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("Hello", [Said("Hello")]),
        ("Fish &amp; chips &lt; 5&#33;", [Said("Fish & chips < 5!")]),
        ("\n  Hello \n\t you  ", [Said("Hello you")]),
        ("<![CDATA[a < b]]>", [Said("a < b")]),
        ("<!-- nobody hears this -->Hello", [Said("Hello")]),
        ('One <break time="500ms"/> two', [Said("One"), Pause(0.5), Said("two")]),
        ('<break time="1.5s"/>One<break/>', [Pause(1.5), Said("One"), Pause(0.5)]),
        ('One<break strength="x-strong"/>two', [Said("One"), Pause(1.2), Said("two")]),
        ("<p>One.</p><p>Two.</p>", [Said("One."), Pause(0.5), Said("Two.")]),
        ("<p><s>One.</s><s>Two.</s></p>", [Said("One."), Pause(0.25), Said("Two.")]),
        ("Do <emphasis>not</emphasis> go", [Said("Do"), Said("not", 0.92, 1.5), Said("go")]),
        ('<emphasis level="reduced">so</emphasis>', [Said("so", 1.05, -3.0)]),
        ('<prosody rate="slow">so</prosody>', [Said("so", 0.8)]),
        ('<prosody rate="150%">so</prosody>', [Said("so", 1.5)]),
        ('<prosody rate="-20%">so</prosody>', [Said("so", 0.8)]),
        ('<prosody volume="soft">so</prosody>', [Said("so", 1.0, -6.0)]),
        ('<prosody volume="+4.5dB">so</prosody>', [Said("so", 1.0, 4.5)]),
        ('<prosody rate="fast"><prosody volume="loud">so</prosody></prosody>', [Said("so", 1.25, 4.0)]),
        ('The <sub alias="World Wide Web">WWW</sub>.', [Said("The World Wide Web.")]),
        ('<say-as interpret-as="characters">http 2</say-as>', [Said("H T T P, 2")]),
        ('<say-as interpret-as="spell-out">abc</say-as>', [Said("A B C")]),
        ('<say-as interpret-as="telephone">+1 (555) 01</say-as>', [Said("1, 5 5 5, 0 1")]),
        ('<say-as interpret-as="digits">1984</say-as>', [Said("1 9 8 4")]),
        ('<say-as interpret-as="cardinal">1,984</say-as>', [Said("1984")]),
        ('<say-as interpret-as="ordinal">3</say-as>', [Said("3rd")]),
        ('<say-as interpret-as="ordinal">112</say-as>', [Said("112th")]),
        ('<say-as interpret-as="date">2025-12-08</say-as>', [Said("December 8, 2025")]),
        ('<say-as interpret-as="date" format="dm">8.12</say-as>', [Said("December 8")]),
        ('<say-as interpret-as="time">2:30 pm</say-as>', [Said("2:30 pm")]),
    ],
)
def test_what_is_understood(inside: str, expected: list[Said | Pause]) -> None:
    found = parts(inside)
    assert [type(part) for part in found] == [type(part) for part in expected]
    for part, wanted in zip(found, expected, strict=True):
        if isinstance(part, Said) and isinstance(wanted, Said):
            assert (part.text, part.volume) == (wanted.text, wanted.volume)
            assert part.rate == pytest.approx(wanted.rate)
        else:
            assert part == wanted


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<speak>a<mark name='b'/></speak>", r"line 1, column 9: <mark> is not understood; there are <speak>, <p>"),
        ("<speak>\n<voice name='x'>a</voice></speak>", "line 2, column 1: <voice> is not understood"),
        ("<speak><amazon:effect name='x'>a</amazon:effect></speak>", "<amazon:effect> is not understood"),
        ("<speak><prosody pitch='high'>a</prosody></speak>", "pitch of <prosody> is not understood; there are rate, v"),
        ("<speak><prosody rate='quick'>a</prosody></speak>", "rate of <prosody> is 'quick'; there are x-slow"),
        ("<speak><prosody rate='900%'>a</prosody></speak>", "a rate of 900% cannot be understood; from 50% to 200%"),
        ("<speak><prosody volume='11'>a</prosody></speak>", "volume of <prosody> is '11'; there are silent"),
        ("<speak><break time='1h'/>a</speak>", "time of <break> is '1h'; write it as 500ms or 1.5s"),
        ("<speak><break time='11s'/>a</speak>", "a <break> of 11 seconds is too long; the longest is 10s"),
        ("<speak><break strength='big'/>a</speak>", "strength of <break> is 'big'; there are none, x-weak"),
        ("<speak><emphasis level='9'>a</emphasis></speak>", "level of <emphasis> is '9'; there are strong"),
        ("<speak><say-as interpret-as='joke'>a</say-as></speak>", "interpret-as='joke'> is not understood; there are"),
        ("<speak><say-as>a</say-as></speak>", "<say-as> says what it is by interpret-as"),
        ("<speak><say-as interpret-as='date'>soon</say-as></speak>", "'soon' in <say-as> is no date of the format ymd"),
        ("<speak><say-as interpret-as='date' format='mdy'>13/1/25</say-as></speak>", "no date of the format mdy"),
        ("<speak><say-as interpret-as='cardinal'>many</say-as></speak>", "'many' in <say-as> is no number"),
        ("<speak><say-as interpret-as='characters'>a@b</say-as></speak>", "'@' in <say-as> has no name"),
        ("<speak><say-as interpret-as='digits'/></speak>", "is empty"),
        ("<speak><sub>WWW</sub></speak>", "<sub> says by alias what is said instead"),
        ("<speak><sub alias='a'><break/></sub></speak>", "<break> is inside <sub>, which holds no other element"),
        ("<speak><speak>a</speak></speak>", "a text has one <speak>, around all of it"),
        ("<speak>Fish & chips</speak>", r"line 1, column 14: the SSML is not well-formed.*write & as &amp;"),
        ("<speak>Hello", "the SSML is not well-formed"),
        ("<speak>Hello</speak> and more", "the SSML is not well-formed"),
        ('<?xml version="1.0"?><speak>&lol;</speak>', "the SSML is not well-formed"),
        ("Hello <break time='1s'/> you", r"there is <break time='1s'/> in the text, which is markup; put the whole"),
        ("<emphasis>Hello</emphasis>", "there is <emphasis> in the text, which is markup"),
        ("<!DOCTYPE speak [<!ENTITY a 'b'>]><speak>&a;</speak>", "which is markup"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(text: str, told: str) -> None:
    with pytest.raises(BadMarkup, match=told):
        script_of(text)


@pytest.mark.parametrize("text", ["a < b and c > d", "I <3 you", "x<y>z is no tag", "<b>", "5<6", "<3>"])
def test_a_text_is_not_taken_for_markup(text: str) -> None:
    assert script_of(text).parts == (Said(text),)


def test_entities_do_not_multiply() -> None:
    """No document can declare what it then repeats a million times."""
    text = '<?xml version="1.0"?><speak xmlns="x">a</speak>'
    assert script_of(text).text == "a"
    with pytest.raises(BadMarkup, match="DOCTYPE is not understood"):
        from penstock.media.speech.ssml import read_ssml

        read_ssml("<!DOCTYPE speak [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><speak>&b;</speak>")


@pytest.mark.parametrize("inside", ["<break/>", "", "<p> </p>"])
def test_nothing_to_say_is_refused(inside: str) -> None:
    with pytest.raises(Unspeakable, match="nothing in the text"):
        steps_of(f"<speak>{inside}</speak>")


def test_elements_as_deep_as_a_text_can_be() -> None:
    """Read in a moment, however they are nested."""
    deep = 2_800
    began = time.thread_time()
    assert script_of(f"<speak>{'<p>' * deep}a{'</p>' * deep}</speak>").text == "a"
    assert time.thread_time() - began < 1


def test_a_language_that_the_voice_does_not_speak_is_refused() -> None:
    script = script_of('<speak xml:lang="de-AT">Guten Tag</speak>')
    script.check_language("de-DE")
    with pytest.raises(Unspeakable, match="a text in de-AT, and the voice speaks en-US"):
        script.check_language("en-US")
    date = script_of('<speak><say-as interpret-as="date">2025-12-08</say-as></speak>')
    date.check_language("en-GB")
    with pytest.raises(Unspeakable, match="a text in en, and the voice speaks fr-FR"):
        date.check_language("fr-FR")


def test_pauses_and_pace_count_in_the_length() -> None:
    """Before anything is spoken."""
    plain = script_of("Hello my friend").length
    assert script_of('<speak>Hello my friend<break time="10s"/></speak>').length.least == pytest.approx(
        plain.least + 10
    )
    slow = script_of('<speak><prosody rate="50%">Hello my friend</prosody></speak>').length
    assert (slow.least, slow.most) == pytest.approx((plain.least * 2, plain.most * 2))


# As it is heard


def heard(voices: Voices, text: str, voice: str = "en_US-heart") -> list[Sound]:
    return list(sounds(voices.get(voice), text))


def seconds(voices: Voices, text: str, voice: str = "en_US-heart") -> float:
    return sum(sound.seconds for sound in heard(voices, text, voice))


def loudness(sound: Sound) -> float:
    return float(numpy.frombuffer(sound.samples, "<i2").astype(float).std())


@pytest.mark.parametrize("voice", ["en_US-heart", "en_GB-pico"])
def test_rates_and_pauses_are_heard(voices: Voices, voice: str) -> None:
    sentence = "The old boat goes down the river"
    plain = seconds(voices, sentence, voice)
    for rate in (0.6, 1.5):
        paced = seconds(voices, f'<speak><prosody rate="{rate:.0%}">{sentence}</prosody></speak>', voice)
        assert plain / paced == pytest.approx(rate, rel=0.25)
    paused = seconds(voices, f'<speak><break time="2s"/>{sentence}<break time="3s"/></speak>', voice)
    assert paused == pytest.approx(plain + 5, abs=0.1)


def test_volumes_are_heard_beside_each_other(voices: Voices) -> None:
    """None is turned up, so none is cut off; together they have the level of speech."""
    louder, mute = '<prosody volume="+6dB">Hello.</prosody>', '<prosody volume="silent">No</prosody>'
    first, _, second, _, third = heard(voices, f"<speak>Hello.<break/>{louder}<break/>{mute}</speak>")
    assert loudness(second) / loudness(first) == pytest.approx(2, rel=0.05)
    assert set(third.samples) == {0}
    alone = heard(voices, "Hello.")[0]
    assert loudness(second) == pytest.approx(loudness(alone), rel=0.01)


def test_a_word_within_a_sentence_is_said_without_a_pause(voices: Voices) -> None:
    """A voice begins and ends with silence, which is trimmed where the sentence goes on."""
    one, two, three = heard(voices, "<speak>Do <emphasis>not</emphasis> go.</speak>")
    silent = 200
    for sound, ends in ((one, [-1]), (two, [0, -1]), (three, [0])):
        samples = numpy.abs(numpy.frombuffer(sound.samples, "<i2").astype(int))
        loud = numpy.flatnonzero(samples > silent)
        for end in ends:
            gap = loud[0] if end == 0 else len(samples) - loud[-1]
            assert gap / sound.rate < 0.1


def test_marks_behind_an_element_are_no_text_of_their_own(voices: Voices) -> None:
    assert len(heard(voices, "<speak>Do <emphasis>not</emphasis>.</speak>")) == 2


def test_a_voice_of_one_pace_says_so() -> None:
    class Plain:
        def speak(self, text: str) -> Sound:
            return Sound(bytes(100), 24_000)

    assert len(list(sounds(Plain(), "<speak>Hello<break/></speak>"))) == 2
    with pytest.raises(Unspeakable, match="one pace only"):
        list(sounds(Plain(), '<speak><prosody rate="fast">Hello</prosody></speak>'))
