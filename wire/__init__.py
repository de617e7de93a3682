"""Code that all domains share: HTTP and its errors (contract §1), idempotency, periods, tallies, exports of tables."""
