"""The API of the hub: its OpenAPI document, and the same as a page."""
