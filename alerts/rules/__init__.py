"""Rules that say when an alert fires (pure), given series of figures. A preview uses the same rules."""
