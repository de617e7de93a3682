"""In front of a handler: the intent is checked, the call is answered once, the hub hears of it."""
