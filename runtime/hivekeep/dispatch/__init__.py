"""From an operation to its entry. The only place that knows the order of the steps:

lookup -> help -> validate -> normalise -> gate -> handler -> audit -> commit -> present -> entry.
"""
