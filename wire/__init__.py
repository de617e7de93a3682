"""What all HTTP endpoints share (contract 1): one parser, one error shape, one idempotency, one table export."""
