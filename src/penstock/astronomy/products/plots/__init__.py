"""Pictures of spectra and light curves, drawn into a file with nothing shared between two drawings.

The fonts are those that matplotlib brings. It keeps a list of the machine's fonts in a folder of its own under the home
of the user; where that cannot be written it makes one for the process, says so once in the log, and needs two seconds
more. ``MPLCONFIGDIR``, set by whoever runs the service to a folder that can be written, spares both.
"""
