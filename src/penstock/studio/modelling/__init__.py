"""Meshes that stand, move and are shown: read and written as GLB, rigged, animated, drawn without any graphics card."""
