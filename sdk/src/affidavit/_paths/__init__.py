"""From raw paths to templates: by the framework's route, by token form, or learned from traffic (contract §4)."""
