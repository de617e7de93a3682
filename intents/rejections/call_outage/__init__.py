"""Whether calls of an environment are accepted at present."""
