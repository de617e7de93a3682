"""The catalog in the words of other tools (pure): OpenAPI, JSON Schema, tool definitions, curl."""
