"""Light curves and spectra made by rule, for demonstrations. Every file of them says that it is synthetic."""
