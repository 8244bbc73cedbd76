"""The agent event gateway's domain: runs, their intake and ledger, what is delivered to them and what they say of it.

Invariant: an operation is a generator of work that others carry out (`work.Work`); it starts no thread, knows no
transport, and everything it does to the store goes through the transactions it is lent.
"""
