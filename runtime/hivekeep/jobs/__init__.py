"""Work that goes on beside the answers, in any process that lives long enough.

Invariant: a job has one owner among all processes of a file, proven by a lease inside each of its writes; killing it at
any moment loses nothing, because what is to be done stands in the store until it is done.
"""
