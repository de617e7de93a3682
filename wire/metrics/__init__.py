"""The metrics of the program: their definitions, and the files in which its processes count."""
