"""The catalog as documents that tools read."""
