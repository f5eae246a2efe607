"""What every engine promises, a class for each kind of promise."""
