"""Annotations: deploys and campaigns with their time, which charts mark (contract §6)."""
