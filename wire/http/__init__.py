"""HTTP code that all endpoints share (contract §1)."""
