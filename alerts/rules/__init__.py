"""When an alert fires (pure): rules over series of figures, the same for what happens now and for a preview."""
