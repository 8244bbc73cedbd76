"""Who is asking: an actor, where it writes, what it sees. Travels with each request, never with the process.

What stays true: an actor is its (kind, id) pair. Labels are spellings for storage and display; two of them
are never compared to tell callers apart, because an id may itself look like a label.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hivekeep.gate import secrets
from hivekeep.identity.ids import classify
from hivekeep.identity.namespaces import GRAMMAR, LOCAL, is_namespace, visible_set
from hivekeep_contract.errors import InvalidParams
from hivekeep_contract.limits import NAMESPACE_MAX_BYTES

ANONYMOUS = "anonymous"
"""Kind of the caller that nobody named; its id is `local`."""

PRINCIPAL = "actor"
"""Kind of a caller named by option, environment, configuration or header."""

SYSTEM = "system"
"""Kind of the program itself where it acts on its own; no door makes such a caller."""

ACTOR_GRAMMAR = f"1 to {NAMESPACE_MAX_BYTES} bytes, not blank, without control characters, and no credential"
"""What may name a principal, in words; fits behind "must be"."""

SESSION_GRAMMAR = "a full UUID"
"""What may name the session of a caller, in words: events are found by it, so it must be the same text every time."""

RESERVED_PREFIXES = ("actor:", "anonymous:", "agent:")
"""A text that begins so is a full label; other kinds exist but carry no such promise."""


@dataclass(frozen=True, slots=True)
class Caller:
    """One caller. `namespace` takes its writes, `visible` bounds its reads of several records.

    `label` is the stored label, as in the actor of an event. `session_id` is a full UUID in canonical text: what the
    request is part of, when it says so.
    """

    kind: str
    id: str
    namespace: str = LOCAL
    visible: tuple[str, ...] = (LOCAL,)
    session_id: str | None = None
    label: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Spell the label once: every row that an operation leaves holds it."""
        object.__setattr__(self, "label", stored_label(self.kind, self.id))

    @property
    def caller_label(self) -> str:
        """The shown label: the bare id of a principal, otherwise `kind:id`."""
        return self.id if self.kind == PRINCIPAL else self.label

    @property
    def unattributed(self) -> bool:
        """Whether nobody was named."""
        return self.kind == ANONYMOUS

    def as_system(self, actor_id: str) -> "Caller":
        """The program itself in the place of this caller: it writes and sees what the caller does."""
        return replace(self, kind=SYSTEM, id=actor_id)

    def is_same_actor(self, other: "Caller") -> bool:
        """Whether both are one actor, whatever they see and wherever they write."""
        return (self.kind, self.id) == (other.kind, other.id)


def make_caller(
    actor: str | None,
    namespace: str | None,
    visible_namespaces: Sequence[str],
    session_id: str | None = None,
) -> Caller:
    """Build the caller of a request; `actor` None is the anonymous one, `namespace` None writes to `local`.

    The actor's text is kept unmodified, also when it begins with `actor:` or `agent:`; `session_id` is a full UUID in
    any spelling. Raises InvalidParams for a blank, overlong or unprintable actor and for one that looks like a
    credential, for a namespace outside the grammar and for a session that is no UUID.
    """
    for name in (namespace, *visible_namespaces):
        if name is not None and not is_namespace(name):
            raise InvalidParams(f"namespace must be {GRAMMAR}")
    if actor is not None and not is_actor_id(actor):
        raise InvalidParams(f"actor must be {ACTOR_GRAMMAR}")
    session = None if session_id is None else classify(session_id)
    if session is not None and session.form != "uuid":
        raise InvalidParams(f"session must be {SESSION_GRAMMAR}")
    primary = LOCAL if namespace is None else namespace
    return Caller(
        kind=ANONYMOUS if actor is None else PRINCIPAL,
        id=LOCAL if actor is None else actor,
        namespace=primary,
        visible=visible_set(primary, visible_namespaces, actor),
        session_id=None if session is None else session.text,
    )


def stored_label(kind: str, actor_id: str) -> str:
    """Return `kind:id`, the prefix exactly once: id `actor:a` of kind actor is `actor:actor:a`."""
    return f"{kind}:{actor_id}"


def own_labels(kind: str, actor_id: str) -> tuple[str, ...]:
    """Return the stored labels that stand for this actor.

    A principal also owns rows of old stores that hold its bare id, unless the id could be read as another's
    label.
    """
    label = stored_label(kind, actor_id)
    if kind == PRINCIPAL and not actor_id.startswith(RESERVED_PREFIXES):
        return (label, actor_id)
    return (label,)


def filter_labels(text: str) -> tuple[str, ...]:
    """Return the stored labels that a filter selects: a full label only itself, an id both spellings."""
    if text.startswith(RESERVED_PREFIXES):
        return (text,)
    return own_labels(PRINCIPAL, text)


def shown_as(text: str) -> tuple[str, ...]:
    """Return the stored labels of the callers that are shown as `text`: what rows show can be filtered by.

    A principal whose id begins with `actor:` or `anonymous:` is only meant by its full label.
    """
    labels = filter_labels(text)
    if text.startswith((f"{PRINCIPAL}:", f"{ANONYMOUS}:")):
        return labels
    return tuple(dict.fromkeys((stored_label(PRINCIPAL, text), *labels)))


def is_actor_id(text: str) -> bool:
    """Whether `text` may name a principal (see ACTOR_GRAMMAR; bytes are those of UTF-8).

    A credential may not: whatever an actor does is stored under its name.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return False
    if size > NAMESPACE_MAX_BYTES or text.isspace() or text == "" or not text.isprintable():
        return False
    return secrets.find(text) is None
