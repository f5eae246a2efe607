"""Pictures that are drawn, not generated: places, weather, light and characters, from the words of a prompt."""
