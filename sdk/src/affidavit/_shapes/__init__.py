"""The shape of JSON values and the evidence behind it; never the values (contract §4)."""
