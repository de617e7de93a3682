"""The version of this package: the only place where it is written; the build reads it from here."""

__version__ = "0.1.0"
