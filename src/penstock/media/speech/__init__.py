"""Speech: voices that are on this machine, the texts they can say, and the sound they make."""
