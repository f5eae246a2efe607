"""Client CPU of Penstock and its peers, measured side by side in one run."""
