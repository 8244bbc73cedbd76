"""Profiles that learn from feedback which recalls were worth something, and serve callers with what they learned.

Invariant: the store is the only truth. A process keeps no copy of what a profile learned, so all processes on one file
agree; what it only observed (`passive`) tunes nothing.
"""
