"""How the hub speaks over HTTP (contract 1): one parser, one error shape, one idempotency, one table export."""
