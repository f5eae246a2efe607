"""What an object store promises, a file for each promise."""
