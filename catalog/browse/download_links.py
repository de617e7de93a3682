"""The downloads that the page of the catalog offers, in their order."""

from __future__ import annotations

# The downloads of contract §5: the name of the address, the query, the format, and what it is for
FORMAT_LINKS = (
    ("catalog-openapi", "", "OpenAPI 3.1", "for API tools and code generators"),
    ("catalog-schemas", "", "JSON Schema", "to validate bodies and queries"),
    ("catalog-mcp", "", "MCP tools", "for MCP servers: the answer to tools/list"),
    ("catalog-tools", "&format=openai", "Tools for OpenAI", "for its Chat Completions API"),
    ("catalog-tools", "&format=anthropic", "Tools for Anthropic", "for its Messages API"),
    ("catalog-tools", "", "Tool definitions", "for any other assistant"),
)
