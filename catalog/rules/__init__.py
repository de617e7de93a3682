"""Manual overrides: rules about what is shown, for past and future reports. Each can be undone."""
