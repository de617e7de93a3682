"""The schemas in downloads: descriptors as JSON Schema, and the named schemas of an OpenAPI document."""
