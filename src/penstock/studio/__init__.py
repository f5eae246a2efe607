"""The embedded generators, which need no service: drawing, filming, music, mouths."""
