"""Servers that are addresses: MCP over HTTP. Imported only where a pipeline has one."""
