"""Assets drawn from their words: a subject is found in a catalogue, and drawn as shapes that know their part."""
