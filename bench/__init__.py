"""Speed as ratios: each module prints its figures against a peer or a limit measured in the same run."""
