"""`affidavit tools`: lock the definitions of an API's MCP tools, and verify that the tools still have them."""
