"""The memory pack: what was noticed and learnt, and its recall.

Invariant: one module a topic; the class only says which function answers which verb.
"""

from hivekeep.packs.memory import feedback, prune, recall, remember, vacuum


class MemoryPack:
    """The handlers that `hivekeep_contract.handlers.memory.MemoryHandlers` asks for."""

    feedback = staticmethod(feedback.feedback)
    prune = staticmethod(prune.prune)
    recall = staticmethod(recall.recall)
    remember = staticmethod(remember.remember)
    vacuum = staticmethod(vacuum.vacuum)
