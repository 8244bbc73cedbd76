"""The store: one SQLite file behind the `Engine` protocol.

Its one invariant: whatever `run_write`, `submit_write` or `append_audit` acknowledged is in the file, whole,
and whatever they refused with an error left no trace. All SQL over the records lives in this package (and in
`query` and `search`); nothing here knows a verb, a caller or a transport.
"""
