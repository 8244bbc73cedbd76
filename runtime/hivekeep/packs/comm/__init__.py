"""The comm pack: mail between actors, and what comes in from outside.

Invariant: one module a topic; the class only says which function answers which verb.
"""

from hivekeep.packs.comm import boxes, channels, ingest, marking, probing, rules, sending, thread


class CommPack:
    """The handlers that `hivekeep_contract.handlers.comm.CommHandlers` asks for, and the rules of its notes."""

    note_rules = rules.RULES

    cursor_commit = staticmethod(channels.cursor_commit)
    cursor_get = staticmethod(channels.cursor_get)
    delivered = staticmethod(probing.delivered)
    health = staticmethod(channels.health)
    heartbeat = staticmethod(channels.heartbeat)
    inbox = staticmethod(boxes.inbox)
    ingest = staticmethod(ingest.ingest)
    mark_read = staticmethod(marking.mark_read)
    probe = staticmethod(probing.probe)
    read = staticmethod(marking.read)
    reply = staticmethod(sending.reply)
    send = staticmethod(sending.send)
    thread = staticmethod(thread.thread)
    unread = staticmethod(boxes.unread)
