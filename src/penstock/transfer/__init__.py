"""Records and files on their way out of a store, into one, or from one to another."""
