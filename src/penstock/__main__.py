"""``python -m penstock``: the command line."""

from penstock.cli import main

main()
