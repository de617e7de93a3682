"""The catalog as documents for other tools."""
