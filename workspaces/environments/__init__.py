"""Environments: added, labelled, archived."""
