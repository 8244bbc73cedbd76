"""The doors: MCP over stdio and HTTP, the HTTP routes, and what guards them.

A door knows who is asking and how to speak its protocol. It holds no rule of a verb: every operation goes
through the dispatch server, which answers with plain dictionaries.
"""
