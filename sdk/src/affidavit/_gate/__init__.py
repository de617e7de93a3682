"""In front of a handler: an intent is checked, a call is answered once, and the hub hears how it went (contract 3)."""
