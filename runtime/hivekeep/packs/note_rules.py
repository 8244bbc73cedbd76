"""What a pack asks of the generic verbs about the note kinds that it owns.

Invariant: create, update, delete, restore, merge and link of kg ask the rules of a note's kind before they write, so
what a pack's own verbs refuse cannot be reached by a generic one. A kind without rules is free.

A pack whose class has an attribute `note_rules` (kind to `NoteRules`) is asked; see `Context.rules_of`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hivekeep.storage.notes import NoteRow
from hivekeep.storage.records import Located

if TYPE_CHECKING:
    from hivekeep.packs.context import Context

Pair = tuple[str, str]
"""The ids of the source and the target of an edge."""


class NoteRules:
    """Rules of one kind; this class allows everything. Each method may raise a typed error, then nothing is written."""

    def content(self, name: str | None) -> str | None:
        """The content of a new note that is given none; None when it needs one."""
        return None

    def prepare(self, ctx: "Context", row: NoteRow) -> NoteRow:
        """The note to store instead of the described one. Runs before anything is written."""
        return row

    def made(self, ctx: "Context", row: NoteRow) -> None:
        """Write what belongs to a new note, such as its edges, in its transaction."""

    def change(self, ctx: "Context", old: NoteRow, new: NoteRow) -> NoteRow:
        """The note to store instead of `new`, which a patch made of `old`."""
        return new

    def remove(self, ctx: "Context", row: NoteRow, *, hard: bool) -> None:
        """Whether a note may be deleted."""

    def restore(self, ctx: "Context", row: NoteRow) -> None:
        """Whether a deleted note may come back."""

    def merge(self, ctx: "Context", into: NoteRow, gone: NoteRow) -> None:
        """Whether two notes may become one."""

    def link(self, ctx: "Context", relation: str, source: Located, target: Located, beside: Sequence[Pair]) -> None:
        """Whether a note may be the source of an edge; `beside`: edges of the relation that the same call makes."""


FREE = NoteRules()
