"""The kinds of alerts, as they are stored (pure)."""

DRIFT, NEW_REASON, REJECTIONS = "drift.breaking", "rejections.new-reason", "rejections.spike"
BROKEN_JOINS, SILENT = "broken-joins.spike", "reporter.silent"
KINDS = (DRIFT, NEW_REASON, REJECTIONS, BROKEN_JOINS, SILENT)
