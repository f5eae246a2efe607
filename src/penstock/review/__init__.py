"""Looking at what was made, saying what one thinks of it, and deciding."""
