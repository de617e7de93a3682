"""What all HTTP endpoints share (contract 1): the parser, the form of errors, idempotency, exports of tables."""
