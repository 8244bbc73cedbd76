"""The curated memory: entries that people and agents keep for later runs, their history, and where they live.

Invariant: functions that take a `Tx` are pure SQL inside the caller's transaction; files are read and written by others
before and after. Nothing of it is a record that a verb could see.
"""
