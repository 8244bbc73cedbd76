"""The gtd pack: tasks, what they wait for, and what became of them.

Invariant: one module a topic; the class only says which function answers which verb, and which rules the generic verbs
ask about tasks.
"""

from collections.abc import Mapping

from hivekeep.packs.gtd import assign, census, listing, moving, repair, rules
from hivekeep.packs.note_rules import NoteRules
from hivekeep.storage.task_fields import KIND


class GtdPack:
    """The handlers that `hivekeep_contract.handlers.gtd.GtdHandlers` asks for."""

    note_rules: Mapping[str, NoteRules] = {KIND: rules.TaskRules()}

    assign = staticmethod(assign.assign)
    census = staticmethod(census.census)
    complete = staticmethod(moving.complete)
    next_ = staticmethod(listing.next_up)
    repair = staticmethod(repair.repair)
    tasks = staticmethod(listing.tasks)
    transition = staticmethod(moving.transition)
