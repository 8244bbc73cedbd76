"""The rules that every verb keeps which makes or changes a task, the generic ones as well as those of this pack.

Invariant: a task that is stored has a title, one of the seven statuses and a priority in their stored spelling, and
dependencies that were live tasks of its namespace when they were named. Its status changes by the verbs of this pack
alone. `content` and the description say the same, or `content` says the title.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hivekeep.identity.ids import new_id
from hivekeep.packs.context import Context
from hivekeep.packs.gtd import dependencies, fields
from hivekeep.packs.gtd.shapes import properties_of
from hivekeep.packs.note_rules import NoteRules, Pair
from hivekeep.storage import edges, records, tasks
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.records import Located
from hivekeep.storage.task_fields import INITIAL_STATUS
from hivekeep_contract.errors import InvalidInput, NotFound
from hivekeep_contract.limits import TASK_PRIORITY, TASK_SALIENCE

DEPENDS_ON = "depends_on"
ANNOTATES = "annotates"
CONTEXT = "context_entity_id"
TITLE = "title"
NOT_GIVEN = ""
"""The content of a note that was given none; a task has always more than that."""


def described(ctx: Context, row: NoteRow) -> NoteRow:
    """The task that a note describes, in its stored spelling; what it refers to is not looked up yet.

    Raises InvalidInput.
    """
    said = properties_of(row)
    fields.refuse_foreign(ctx, {}, said)
    title = fields.titled(ctx, row, said.pop(TITLE, None))
    told = fields.read(ctx, said)
    properties = {"status": INITIAL_STATUS, "priority": TASK_PRIORITY, **told}
    content = row.content
    if content == NOT_GIVEN:
        content = told.get("description", title)
    else:
        _refuse_two_bodies(ctx, content, told.get("description"))
        if content != title:
            properties["description"] = content
    salience = TASK_SALIENCE[properties["priority"]] if row.salience is None else row.salience
    return row._replace(name=title, content=content, salience=salience, properties=dump(properties))


def _refuse_two_bodies(ctx: Context, content: str, description: object) -> None:
    if description not in (None, content):
        raise InvalidInput(
            f"{ctx.verb}: 'content' and 'description' of a task are the same text; give one of them, or both alike"
        )


def referring(ctx: Context, row: NoteRow) -> NoteRow:
    """The same task with what it refers to looked up; raises NotFound, Ambiguous, InvalidInput."""
    properties = properties_of(row)
    if DEPENDS_ON in properties:
        properties[DEPENDS_ON] = dependencies.resolved(ctx, properties[DEPENDS_ON], row.namespace)
    if CONTEXT in properties:
        check_context(ctx, properties[CONTEXT], row.namespace)
    return row._replace(properties=dump(properties))


def check_context(ctx: Context, entity_id: str, namespace: str) -> None:
    """Refuse what is no live entity of the namespace; raises NotFound and InvalidInput."""
    found = records.locate(ctx.tx, entity_id)
    if found is None or found.deleted_at is not None or found.namespace != namespace:
        raise NotFound(f"{CONTEXT}: not found: {entity_id}", details={"param": CONTEXT, "id": entity_id})
    if found.substrate != "entity":
        raise InvalidInput(f"{ctx.verb}: {CONTEXT!r} must name an entity; {entity_id} is of the kind {found.kind}")


def add_edges(ctx: Context, row: NoteRow) -> None:
    """Join a new task to what it depends on and to the entity that it is about."""
    properties = properties_of(row)
    wanted = [(DEPENDS_ON, target) for target in properties.get(DEPENDS_ON, [])]
    if CONTEXT in properties:
        wanted.append((ANNOTATES, properties[CONTEXT]))
    for relation, target_id in wanted:
        edge = EdgeRow(
            id=new_id(),
            namespace=row.namespace,
            source_id=row.id,
            target_id=target_id,
            relation=relation,
            created_at=ctx.now_us,
            updated_at=ctx.now_us,
        )
        edges.insert(ctx.tx, edge)
        names = ("id", "namespace", "source_id", "target_id", "relation", "weight")
        ctx.emit("link_created", "edge", edge.id, {name: getattr(edge, name) for name in names})


def changed(ctx: Context, old: NoteRow, new: NoteRow) -> NoteRow:
    """What a patch makes of a task; raises InvalidInput, NotFound, Ambiguous."""
    if new.name is None:
        raise InvalidInput(f"{ctx.verb}: the name of a task is its title and cannot be cleared")
    before, after = properties_of(old), properties_of(new)
    if fields.differs(before, after, "status"):
        raise InvalidInput(f"{ctx.verb}: 'status' of a task is changed by gtd.transition and gtd.complete alone")
    if fields.differs(before, after, TITLE):
        raise InvalidInput(f"{ctx.verb}: the title of a task is its name; change 'name' instead of properties.{TITLE}")
    fields.refuse_foreign(ctx, before, after)
    touched = {name: value for name, value in after.items() if fields.differs(before, after, name)}
    properties = {name: value for name, value in after.items() if name not in touched} | fields.read(ctx, touched)
    _keep_null_out(ctx, properties, touched)
    if DEPENDS_ON in touched and DEPENDS_ON in properties:
        references = properties[DEPENDS_ON]
        properties[DEPENDS_ON] = dependencies.checked(ctx, old.id, references, old.namespace)
    if CONTEXT in touched and CONTEXT in properties:
        check_context(ctx, properties[CONTEXT], old.namespace)
    content = _mirrored(ctx, old, new, before, properties)
    salience = new.salience
    if "priority" in touched and new.salience == old.salience:
        salience = TASK_SALIENCE[properties["priority"]]
    return new._replace(content=content, salience=salience, properties=dump(properties))


def _keep_null_out(ctx: Context, properties: dict[str, Any], touched: Mapping[str, Any]) -> None:
    """A field that was cleared is no longer there; a priority is always there."""
    if "priority" in touched and "priority" not in properties:
        raise InvalidInput(
            f"{ctx.verb}: 'priority' of a task cannot be cleared; give one of {', '.join(TASK_SALIENCE)}"
        )
    for name in fields.READERS:
        if properties.get(name, name) is None:
            del properties[name]


def _mirrored(ctx: Context, old: NoteRow, new: NoteRow, before: Mapping[str, Any], properties: dict[str, Any]) -> str:
    """The content after a patch; the description in `properties` follows it, or leads it."""
    said = fields.differs(before, properties, "description")
    if new.content != old.content:
        if said:
            _refuse_two_bodies(ctx, new.content, properties.get("description", new.name))
        if new.content == NOT_GIVEN:
            properties.pop("description", None)
            return str(new.name)
        properties["description"] = new.content
        return new.content
    if said:
        return str(properties.get("description", new.name))
    if "description" not in properties and old.content == old.name:
        return str(new.name)
    return new.content


class TaskRules(NoteRules):
    """What the generic verbs ask about tasks."""

    def content(self, name: str | None) -> str | None:
        """A task needs none: `prepare` makes it from the description or the title."""
        return NOT_GIVEN

    def prepare(self, ctx: Context, row: NoteRow) -> NoteRow:
        """The task that gtd.assign would have made of it."""
        return referring(ctx, described(ctx, row))

    def made(self, ctx: Context, row: NoteRow) -> None:
        """Its edges."""
        add_edges(ctx, row)

    def change(self, ctx: Context, old: NoteRow, new: NoteRow) -> NoteRow:
        """See `changed`."""
        return changed(ctx, old, new)

    def restore(self, ctx: Context, row: NoteRow) -> None:
        """While it was deleted, others may have begun to wait for it whom it waits for."""
        member = properties_of(row).get(DEPENDS_ON)
        if isinstance(member, list):
            dependencies.refuse_property_circle(ctx, row.id, [one for one in member if isinstance(one, str)])
        dependencies.refuse_edge_circle(ctx, row.id, tasks.targets(ctx.tx, row.id), ())

    def merge(self, ctx: Context, into: NoteRow, gone: NoteRow) -> None:
        """Two tasks have two histories."""
        raise InvalidInput(
            f"{ctx.verb}: tasks are not merged; say that one stands for the other with "
            f'gtd.complete(id="{gone.id}", status="cancelled", duplicate_of="{into.id}")'
        )

    def link(self, ctx: Context, relation: str, source: Located, target: Located, beside: Sequence[Pair]) -> None:
        """No circle of `depends_on` edges."""
        if relation == DEPENDS_ON:
            dependencies.refuse_edge_circle(ctx, source.id, [target.id], beside)
