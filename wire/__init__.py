"""The base of all HTTP endpoints (contract 1): one parser, one error shape, one idempotency, one table export."""
