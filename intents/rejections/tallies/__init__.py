"""Verifications as they are summed: by time, reason, version and operation."""
