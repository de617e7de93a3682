"""The version of this package. It is written only here, and the build reads it from here."""

__version__ = "0.1.0"
