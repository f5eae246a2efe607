"""What is known of astronomical files: spectra, light curves, positions, and the pictures and products made of them.

Nothing here knows a catalogue, a store or a network: files and values go in, values and files come out.
"""
