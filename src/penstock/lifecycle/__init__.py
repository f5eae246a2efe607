"""How records end: retention, archives, what has expired."""
