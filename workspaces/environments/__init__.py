"""Add, label and archive environments."""
