"""The statuses that make no operation: 404, 405 and 501 are mostly answers to scanners (contract §4)."""

NO_OPERATION = frozenset({404, 405, 501})
