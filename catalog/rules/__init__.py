"""Manual overrides: rules about what is shown, for past and future reports, each of which can be undone."""
