"""Find which tallies, by quarter hour, day and month of UTC, make up a span of time."""
