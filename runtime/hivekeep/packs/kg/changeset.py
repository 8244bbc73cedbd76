"""What a proposal would change, and how that is carried out.

Invariant: a step is a call of create, update, link or merge, carried out by the function that answers that verb and
asked of the policy under its name; nothing here writes by itself. The calls are the same at every reading.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from hivekeep import values
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.kg.create import create_one
from hivekeep.packs.kg.link import link_one
from hivekeep.packs.kg.merge import merge
from hivekeep.packs.kg.update import update
from hivekeep.packs.ontology import KindRef, Ontology
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import PROPOSAL_STEPS_MAX
from hivekeep_contract.models import kg as models

Step = (
    models.AddEntityChange
    | models.UpdateEntityChange
    | models.AddEdgeChange
    | models.AddNoteChange
    | models.MergeEntitiesChange
    | models.SupersedeEntityChange
)
Changeset = Step | models.CompoundChange

SUPERSEDES = "supersedes"

_VERBS: dict[str, tuple[Callable[..., Any], Callable[[Context, Any], Mapping[str, Any]], str]] = {
    "create": (models.CreateArgs, create_one, "id"),
    "update": (models.UpdateArgs, update, "id"),
    "link": (models.LinkArgs, link_one, "id"),
    "merge": (models.MergeArgs, merge, "kept_id"),
}
"""Arguments, function and the field of the result that names the record."""


class Call(NamedTuple):
    """The call that a step stands for; `entities` are ids, by their place, that must be those of entities."""

    verb: str
    args: dict[str, Any]
    entities: tuple[tuple[str, str], ...] = ()


class Done(NamedTuple):
    """The id of the record that a step wrote, and what the caller should know of it."""

    record_id: str
    warnings: list[models.Warning]


def calls(ontology: Ontology, changeset: Changeset) -> list[Call]:
    """The calls of all steps, compounds flattened; raises InvalidInput that names the place in the changeset."""
    found = [_call(ontology, place, step) for place, step in _flattened(changeset, "changeset")]
    if len(found) > PROPOSAL_STEPS_MAX:
        raise InvalidInput(f"changeset: at most {PROPOSAL_STEPS_MAX} steps, got {len(found)}")
    return found


def carry_out(ctx: Context, call: Call) -> Done:
    """Do what a step says, as the caller of the context.

    Raises PermissionDenied, GateUnavailable, and what the verb raises.
    """
    for place, record_id in call.entities:
        resolve(ctx.tx, record_id, Wanted(place, ("entity",)), ctx.caller)
    ctx.ask_gate(call.verb, call.args)
    make, verb, id_field = _VERBS[call.verb]
    result = verb(replace(ctx, given=frozenset(call.args)), make(**call.args))
    return Done(str(result[id_field]), result.get("warnings", []))


def _flattened(changeset: Changeset, place: str) -> Iterator[tuple[str, Step]]:
    if changeset["kind"] != "compound":
        yield place, changeset
        return
    for index, step in enumerate(changeset["steps"]):
        yield from _flattened(step, f"{place}.steps[{index}]")


def _call(ontology: Ontology, place: str, step: Step) -> Call:
    if step["kind"] == "add_entity":
        return Call("create", _new_entity(ontology, f"{place}.entity", step["entity"]))
    if step["kind"] == "add_note":
        return Call("create", _new_note(ontology, f"{place}.note", step["note"]))
    if step["kind"] == "update_entity":
        return Call(
            "update", {"id": _uuid(f"{place}.id", step["id"]), "kind": "entity", **_trimmed(dict(step["patch"]))}
        )
    if step["kind"] == "add_edge":
        return Call("link", _edge(place, step))
    if step["kind"] == "merge_entities":
        into, gone = _uuid(f"{place}.into", step["into"]), _uuid(f"{place}.from", step["from"])
        return Call("merge", {"into_id": into, "from_id": gone, "kind": "entity"})
    old, new = _uuid(f"{place}.old", step["old"]), _uuid(f"{place}.new", step["new"])
    args = {"source_id": new, "target_id": old, "relation": SUPERSEDES}
    return Call("link", args, ((f"{place}.old", old), (f"{place}.new", new)))


def _new_entity(ontology: Ontology, place: str, entity: models.NewEntity) -> dict[str, Any]:
    kind = _kind(ontology, place, entity["kind"])
    if kind.substrate != "entity" or kind.kind is None:
        raise InvalidInput(
            f"{place}.kind must be an entity kind, got {entity['kind']!r}; accepted: {', '.join(ontology.entity_kinds)}"
        )
    entity_type = entity.get("entity_type")
    if entity_type is not None:
        ontology.entity_type(kind.kind, entity_type)
    return {**_trimmed(_without_nulls(entity)), "skip_dedup_check": True}


def _new_note(ontology: Ontology, place: str, note: models.NewNote) -> dict[str, Any]:
    if _kind(ontology, place, note["kind"]).substrate != "note":
        raise InvalidInput(
            f"{place}.kind must be a note kind, got {note['kind']!r}; accepted: note, {', '.join(ontology.note_kinds)}"
        )
    args = _trimmed(_without_nulls(note))
    if "annotates" in args:
        args["annotates"] = [_uuid(f"{place}.annotates[{index}]", text) for index, text in enumerate(args["annotates"])]
    return args


def _kind(ontology: Ontology, place: str, word: str) -> KindRef:
    try:
        return ontology.kind(word)
    except InvalidInput as error:
        raise InvalidInput(f"{place}.kind: {error.message}") from None


def _edge(place: str, step: models.AddEdgeChange) -> dict[str, Any]:
    try:
        relation = values.relation(step["relation"])
    except ValueError as error:
        raise InvalidInput(f"{place}.relation must be {error}, got {step['relation']!r}") from None
    args: dict[str, Any] = {
        "source_id": _uuid(f"{place}.source", step["source"]),
        "target_id": _uuid(f"{place}.target", step["target"]),
        "relation": relation,
    }
    weight = step.get("weight")
    return args if weight is None else {**args, "weight": weight}


def _uuid(place: str, text: str) -> str:
    try:
        return values.full_uuid(text)
    except ValueError as error:
        raise InvalidInput(f"{place} must be {error}, got {text!r}") from None


def _without_nulls(record: models.NewEntity | models.NewNote) -> dict[str, Any]:
    """Null stands for a field that is not given, as in a call of create."""
    return {name: value for name, value in record.items() if value is not None}


def _trimmed(args: dict[str, Any]) -> dict[str, Any]:
    """Names lose outer white space, as in every call."""
    return {**args, "name": values.name(args["name"])} if "name" in args else args
