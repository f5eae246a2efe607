"""What is made of spectra and light curves: files that other programs read, and pictures for people."""
