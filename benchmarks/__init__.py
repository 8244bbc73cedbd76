"""How much speed the program leaves of its floor, and nothing else: `python -m benchmarks`.

A floor does the same work by hand: the same statements on the same tables in the same commits, or the same
request in another framework. Absolute times say something about one machine only; what is promised, and
compared with a target, is the ratio of two runs that take turns.
"""
