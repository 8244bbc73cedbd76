"""The comm pack: mail between actors, and what comes in from outside.

Invariant: one module a topic; the class only says which function answers which verb.
"""


class CommPack:
    """The handlers that `hivekeep_contract.handlers.comm.CommHandlers` asks for."""
