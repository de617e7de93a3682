"""Points in time, the period of a page, and the hours, days and months of its charts."""
