"""The prose of the contract, for help answers and refusals. Loaded only when a sentence is needed.

Printed from registry/ by `make generate`; do not edit.
"""

from typing import Any, NamedTuple


class ParamText(NamedTuple):
    """`accepts` completes "must be"; `default` is `required`, `optional` or the default as JSON."""

    type: str
    required: bool
    default: str
    accepts: str
    doc: str


class VerbText(NamedTuple):
    """What a verb does; `examples` are calls that succeed."""

    summary: str
    description: str
    params: dict[str, ParamText]
    examples: tuple[str, ...]
    notes: tuple[str, ...]


class Rule(NamedTuple):
    """A relation between parameters, at the same index as in `allOf` of the verb's argument schema.

    `kind`: required, needs, only_when, exactly_one_of, at_least_one_of, mutually_exclusive, together, required_when.
    """

    kind: str
    params: tuple[str, ...]
    when: tuple[str, tuple[Any, ...]] | None
    says: str


class ErrorText(NamedTuple):
    """What an error means and what the caller can do."""

    doc: str
    repair: str


PACKS: dict[str, str] = {
    "kg": "Entities, notes, edges and events; the base every other pack writes into.",
}

IDENTIFIER_RESOLUTION: dict[str, str] = {
    "full_uuid": "direct identity, hyphens and case do not matter",
    "hex_prefix": "8 or more hex digits ask for the one record whose id begins so; several matches are an error that lists them",
    "name": "anything else is looked up as the exact name, case-insensitive, of a live entity in the caller's primary namespace",
    "exceptions": "parameters that take a full UUID only say so in their description",
}

ERRORS: dict[str, ErrorText] = {
    "parse_error": ErrorText(
        "The ops string is not of the request language. data.dsl_error names the fault, position the character.",
        "Correct the string at the position named; nothing ran.",
    ),
    "invalid_params": ErrorText(
        "A field of the request itself is unknown or has a wrong value.",
        "Use the fields the message lists; nothing ran.",
    ),
    "unknown_verb": ErrorText(
        "No loaded pack has a verb of this name.",
        "Use the verb the message suggests, or list them with verbs().",
    ),
    "invalid_input": ErrorText(
        "An argument is unknown, missing, of the wrong type, out of range, or contradicts another one.",
        "The message names the argument and what is accepted.",
    ),
    "prev_reference_failed": ErrorText(
        "A $prev reference does not fit the result before it.",
        "The message lists the fields that exist there.",
    ),
    "permission_denied": ErrorText(
        "The policy refuses this verb to this caller.",
        "Ask the operator for a grant.",
    ),
    "gate_unavailable": ErrorText(
        "The policy could not be asked, so the operation was refused.",
        "Try again; the operator finds the cause in the log of the server.",
    ),
    "not_found": ErrorText(
        "A record that the operation names does not exist, or is deleted.",
        "Check the id; get with include_deleted=true shows a deleted record.",
    ),
    "record_not_found": ErrorText(
        "get found no live record of this id.",
        "Check the id; include_deleted=true shows a deleted record.",
    ),
    "ambiguous": ErrorText(
        "A prefix or name fits several records; the message lists them.",
        "Give more digits, or a full UUID from the list.",
    ),
    "redirect_cycle": ErrorText(
        "Merge redirects lead in a circle.",
        "Read the records with include_deleted=true and mend merged_into.",
    ),
    "redirect_chain_too_long": ErrorText(
        "More merge redirects than one read follows.",
        "Ask for a later record of the chain.",
    ),
    "key_conflict": ErrorText(
        "Another live note of this namespace and kind holds the key, with other content.",
        "Read the holder and update it, or choose another key.",
    ),
    "edge_tombstoned": ErrorText("The edge exists but is deleted.", "Give resurrect=true to bring it back."),
    "natural_key_conflict": ErrorText(
        "Another edge already has these endpoints and this relation.",
        "Update or delete the edge that is named.",
    ),
    "version_conflict": ErrorText(
        "The note has another version than expected.",
        "Read it again and decide with the current version.",
    ),
    "concurrent_change": ErrorText(
        "The record was changed between the read and the write of this operation.",
        "Read it again and repeat.",
    ),
    "restore_key_conflict": ErrorText(
        "Another live note took the key while this one was deleted.",
        "Delete or re-key the holder first.",
    ),
    "merge_tombstone": ErrorText(
        "The record was merged into another one and cannot be restored alone.",
        "Use the kept record that is named.",
    ),
    "live_merged_entity": ErrorText(
        "The entity is live but still carries a merge pointer.",
        "An operator clears merged_into.",
    ),
    "endpoint_deleted": ErrorText("An endpoint of the edge is deleted.", "Restore the endpoint first."),
    "secret_detected": ErrorText(
        "The text holds something that looks like a credential; it was not stored.",
        "Take the credential out; scan() shows what would be refused.",
    ),
    "writer_pool_checkout_timeout": ErrorText("The writing connection was not free in time.", "Try again."),
    "writer_queue_full": ErrorText(
        "Too many writes were waiting and no place came free in time.",
        "Try again later, or send fewer writes at once.",
    ),
    "writer_task_begin_busy": ErrorText(
        "Another process held the write lock for the whole wait.",
        "Try again.",
    ),
    "reader_checkout_timeout": ErrorText("All readers were busy for the whole wait.", "Try again."),
    "storage_unavailable": ErrorText(
        "The store cannot carry out the operation; the disk is full, the file is read-only or damaged.",
        "The message says which; `hivekeep doctor` says more.",
    ),
    "write_outcome_unknown": ErrorText(
        "The disk could not be flushed while a write was being committed; the commit may or may not have reached it.",
        "Look the record up before trying again; `hivekeep doctor` examines the file.",
    ),
    "newer_schema": ErrorText(
        "The database was written by a newer version of this program.",
        "Install that version; this one wrote nothing.",
    ),
    "migration_failed": ErrorText(
        "The database could not be brought to the schema of this program; the backup that is named holds it as it was.",
        "Keep the backup and report the message.",
    ),
    "not_our_database": ErrorText(
        "The file is a database of another application.",
        "Name another file with --db.",
    ),
    "audit_store_failure": ErrorText(
        "The operation was carried out but its required audit row was not stored; the store failed.",
        "Do not repeat it; domain_result holds the outcome.",
    ),
    "audit_deadline_expired": ErrorText(
        "The operation was carried out but its required audit row was not stored; another writer held the store for the whole wait.",
        "Do not repeat it; domain_result holds the outcome.",
    ),
    "audit_queue_exhausted": ErrorText(
        "The operation was carried out but its required audit row was not stored; too many rows were waiting.",
        "Do not repeat it; domain_result holds the outcome.",
    ),
    "response_frame_budget_exceeded": ErrorText(
        "The operation succeeded but its result does not fit into the response.",
        "Read the stored outcome with a narrower read.",
    ),
    "result_too_deep": ErrorText(
        "The operation succeeded but its result is nested deeper than a response may be.",
        "Read the stored outcome with a narrower read.",
    ),
    "unsupported": ErrorText(
        "The input is understood but not part of what this verb does.",
        "The message names the word.",
    ),
    "internal": ErrorText("A fault of the server. The log names it under error_id.", "Report the error_id."),
    "unauthorized": ErrorText(
        "The bearer token is missing or wrong.",
        "Read the token from the runtime descriptor of the server.",
    ),
    "foreign_origin": ErrorText(
        "The Host or Origin of the request is not this machine.",
        "Call the server by its loopback address.",
    ),
    "payload_too_large": ErrorText(
        "The request body is larger than the limit.",
        "Send fewer operations at once.",
    ),
    "unsupported_media_type": ErrorText(
        "The body is not application/json.",
        "Send Content-Type: application/json.",
    ),
    "malformed_body": ErrorText(
        "The body is not the JSON that the route takes.",
        "The message says what was wrong.",
    ),
    "route_not_found": ErrorText("There is no such path.", "GET /openapi.json lists the paths."),
    "method_not_allowed": ErrorText("The path does not take this method.", "Use a method that is listed."),
}

RULES: dict[str, tuple[Rule, ...]] = {
    "link": (
        Rule("required", ("source_id",), None, "missing argument 'source_id'"),
        Rule("required", ("target_id",), None, "missing argument 'target_id'"),
        Rule("required", ("relation",), None, "missing argument 'relation'"),
    ),
    "list": (
        Rule(
            "mutually_exclusive",
            ("after", "offset"),
            None,
            "give either after (cursor walk) or offset, not both",
        ),
    ),
    "neighbors": (Rule("needs", ("after", "limit"), None, "'after' needs 'limit'"),),
    "search": (
        Rule(
            "mutually_exclusive",
            ("min_rank_score", "min_score"),
            None,
            "min_score is the older name of min_rank_score; give one of them",
        ),
    ),
}

VERBS: dict[str, VerbText] = {
    "create": VerbText(
        "Create an entity or a note.",
        '`kind` is a granular kind (`concept`, `observation`, ...), an alias of one (`paper` makes a document of type paper),\nor a substrate together with `entity_kind` or `note_kind`. `kind="note"` alone makes an observation.\n\nThe record, both text indexes, its edges and the events are written in one transaction or not at all.\nA keyed note is created once: the same key with the same content and properties answers\n`{id, created: false}` and writes nothing; with other content it is a `key_conflict`.',
        {
            "kind": ParamText(
                "text",
                True,
                "required",
                "a string",
                "Granular kind, alias, or entity or note.",
            ),
            "name": ParamText(
                "name",
                False,
                "optional",
                "a string that is not blank",
                "Name of the entity; title of the note.",
            ),
            "entity_kind": ParamText("text", False, "optional", "a string", "The kind when kind is entity."),
            "note_kind": ParamText("text", False, "optional", "a string", "The kind when kind is note."),
            "entity_type": ParamText("text", False, "optional", "a string", "Governed subtype of the kind."),
            "content": ParamText(
                "text",
                False,
                "optional",
                "a string",
                "Body of the note; required for notes.",
            ),
            "description": ParamText("text", False, "optional", "a string", "What the entity is about."),
            "tags": ParamText(
                "array<text>",
                False,
                "optional",
                "a list, each item a string",
                "Tags; matched without regard to case.",
            ),
            "properties": ParamText("object", False, "optional", "an object", "Any further facts."),
            "salience": ParamText(
                "unit_number",
                False,
                "optional",
                "a number from 0.0 to 1.0",
                "Weight in recall.",
            ),
            "decay_factor": ParamText(
                "non_negative_number",
                False,
                "optional",
                "a number from 0.0",
                "How fast the weight fades.",
            ),
            "key": ParamText(
                "key",
                False,
                "optional",
                "a string of 1 to 512 UTF-8 bytes without U+0000",
                "Immutable identity within namespace and kind; makes a repeated create safe.",
            ),
            "annotates": ParamText(
                "array<id>",
                False,
                "optional",
                "a list, each item a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Records the note is about; each gets an annotates edge.",
            ),
            "edges": ParamText(
                "array<object>",
                False,
                "optional",
                "a list, each item an object",
                "Edges that start at the new entity, written with it.",
            ),
            "skip_dedup_check": ParamText(
                "bool",
                False,
                "false",
                "true or false",
                "Do not look for live entities of the same kind and name.",
            ),
            "namespace": ParamText(
                "namespace",
                False,
                "optional",
                "a namespace name (1 to 255 bytes, no white space or control characters)",
                "Write there instead of the caller's primary namespace.",
            ),
        },
        (
            "create(kind=\"concept\", name=\"RoPE\", description=\"Rotary position embedding\", tags=[\"attention\"])",
            "create(kind=\"paper\", name=\"RoFormer\")",
            "create(kind=\"insight\", content=\"Rank 8 is enough for most tasks.\", annotates=[\"<id>\"], salience=0.7)",
            "create(kind=\"decision\", content=\"Use SQLite.\", key=\"adr-1\")",
        ),
        (),
    ),
    "delete": VerbText(
        "Delete a record, softly or for good.",
        'A soft delete hides the record and takes it out of the text indexes; its edges stay and are hidden while it is\ndeleted; restore brings everything back. `hard=true` removes the row, its edges, and the annotations on those edges,\nin one transaction; it also works on a record that is softly deleted.',
        {
            "id": ParamText(
                "id",
                True,
                "required",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Record to delete.",
            ),
            "kind": ParamText(
                "text",
                False,
                "optional",
                "a string",
                "What the record is: entity, note, edge or a granular kind; refused when it is something else.",
            ),
            "hard": ParamText("bool", False, "false", "true or false", "Remove it for good."),
        },
        ("delete(id=\"<id>\")", "delete(id=\"<id>\", hard=true, kind=\"concept\")"),
        (),
    ),
    "get": VerbText(
        "Fetch one record of any kind by id.",
        'Looks among entities, notes, edges and events. An entity that was merged away leads to the live one that was\nkept; `redirected_from` then lists the ids on the way. `include_deleted=true` answers the deleted record itself.\nAn edge comes with the live notes about it.',
        {
            "id": ParamText(
                "id",
                True,
                "required",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Full UUID, 8+ hex prefix, or exact entity name.",
            ),
            "include_deleted": ParamText(
                "bool",
                False,
                "false",
                "true or false",
                "Also answer a deleted record of the caller's visible namespaces.",
            ),
            "parse_content": ParamText(
                "bool",
                False,
                "false",
                "true or false",
                "Give the content of a note as its JSON value; content that is not JSON is refused.",
            ),
        },
        ("get(id=\"<id>\")", "get(id=\"hivekeep\")", "get(id=\"<id>\", parse_content=true)"),
        (),
    ),
    "link": VerbText(
        "Create or replace a typed edge.",
        'An edge is known by namespace, source, target and relation. Linking a live one again keeps its id and creation time\nand replaces weight and metadata (what is not given falls back to its default). A deleted one is refused unless\n`resurrect=true`. Which kinds a relation may join is listed under the relations; the refusal names the\nrelations that would fit. Symmetric relations ignore the order of the endpoints.',
        {
            "source_id": ParamText(
                "id",
                True,
                "required",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Where the edge starts.",
            ),
            "target_id": ParamText(
                "id",
                True,
                "required",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Where it ends.",
            ),
            "relation": ParamText(
                "relation",
                True,
                "required",
                "one of contains, part_of, instance_of, links_to, located_in, extends, variant_of, introduced_by, supersedes, derived_from, precedes, depends_on, enables, implements, competes_with, composed_with, annotates, supports, refutes",
                "What it says.",
            ),
            "weight": ParamText("unit_number", False, "1.0", "a number from 0.0 to 1.0", "How sure."),
            "metadata": ParamText(
                "object",
                False,
                "optional",
                "an object",
                "Any further facts; replaces what was there.",
            ),
            "dependency_kind": ParamText(
                "\"build\" | \"runtime\" | \"data\" | \"artifact\" | \"tooling\" | \"normative\"",
                False,
                "optional",
                "one of build, runtime, data, artifact, tooling, normative",
                "Only with depends_on; found from the kinds when not given.",
            ),
            "resurrect": ParamText("bool", False, "false", "true or false", "Bring a deleted edge back."),
        },
        (
            "link(source_id=\"<id 1>\", target_id=\"<id 2>\", relation=\"extends\", weight=0.9)",
            "link(source=\"app\", target=\"lib\", relation=\"Depends-On\")",
            "link(source_id=\"<id 2>\", target_id=\"<id 1>\", relation=\"competes_with\", weight=0.5)",
        ),
        (),
    ),
    "list": VerbText(
        "List live records with filters, by offset or by a stable cursor.",
        'Without `after` the newest rows come first and `offset` pages; advance it by the number of items received.\nWith `after=""` a cursor walk begins in the order of insertion; pass `next_after` on until it is null. Rows inserted\nduring the walk are seen, none is seen twice, equal timestamps do not matter.\n\nThe page always tells the limit asked for, the limit used, and whether they differ.',
        {
            "kind": ParamText(
                "text",
                True,
                "required",
                "a string",
                "entity, note, edge, event, or a granular kind.",
            ),
            "limit": ParamText(
                "count",
                False,
                "20",
                "a whole number from 0",
                "Rows of the page; at most 500 entities, 200 notes, 1000 edges or events.",
            ),
            "offset": ParamText("count", False, "0", "a whole number from 0", "Rows to skip."),
            "after": ParamText(
                "cursor",
                False,
                "optional",
                "\"\" to begin, or the next_after of the page before",
                "Full UUID of next_after, or \"\" to begin; prefixes are refused because the walk needs a stable boundary.",
            ),
            "entity_kind": ParamText("text", False, "optional", "a string", "Only this kind."),
            "entity_type": ParamText(
                "text",
                False,
                "optional",
                "a string",
                "Only this type: the governed one, else a text properties.type.",
            ),
            "note_kind": ParamText("text", False, "optional", "a string", "Only this kind."),
            "tags": ParamText(
                "array<text>",
                False,
                "optional",
                "a list, each item a string",
                "Any of these tags, without regard to case.",
            ),
            "source_id": ParamText(
                "id",
                False,
                "optional",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Only edges that start here.",
            ),
            "target_id": ParamText(
                "id",
                False,
                "optional",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Only edges that end here, or events that concern this record.",
            ),
            "relations": ParamText(
                "array<relation>",
                False,
                "optional",
                "a list, each item one of contains, part_of, instance_of, links_to, located_in, extends, variant_of, introduced_by, supersedes, derived_from, precedes, depends_on, enables, implements, competes_with, composed_with, annotates, supports, refutes",
                "Only these relations.",
            ),
            "min_weight": ParamText(
                "unit_number",
                False,
                "optional",
                "a number from 0.0 to 1.0",
                "Lightest edge, inclusive.",
            ),
            "max_weight": ParamText(
                "unit_number",
                False,
                "optional",
                "a number from 0.0 to 1.0",
                "Heaviest edge, inclusive.",
            ),
            "event_kind": ParamText(
                "event_kind",
                False,
                "optional",
                "one of audit, recall_executed, rerank_executed, search_executed, link_created, entity_created, entity_updated, entity_deleted, entity_merged, note_created, note_updated, note_deleted, note_merged, edge_updated, edge_deleted, task_transitioned, feedback_explicit, profile_resolution_recommended, profile_merged, embedding_model_changed, embedding_migration_completed, embedding_migration_failed, embedding_drift_detected, proposal_created, proposal_reviewed, proposal_applied, proposal_withdrawn, channel_poll_started, channel_poll_succeeded, channel_poll_failed, channel_backoff_armed, channel_backoff_reset, channel_heartbeat_persist_failed, config_locked, checkpoint_outcome_recorded, phase_started, phase_completed, phase_cancelled",
                "Only this kind; adds to event_kinds.",
            ),
            "event_kinds": ParamText(
                "array<event_kind>",
                False,
                "optional",
                "a list, each item one of audit, recall_executed, rerank_executed, search_executed, link_created, entity_created, entity_updated, entity_deleted, entity_merged, note_created, note_updated, note_deleted, note_merged, edge_updated, edge_deleted, task_transitioned, feedback_explicit, profile_resolution_recommended, profile_merged, embedding_model_changed, embedding_migration_completed, embedding_migration_failed, embedding_drift_detected, proposal_created, proposal_reviewed, proposal_applied, proposal_withdrawn, channel_poll_started, channel_poll_succeeded, channel_poll_failed, channel_backoff_armed, channel_backoff_reset, channel_heartbeat_persist_failed, config_locked, checkpoint_outcome_recorded, phase_started, phase_completed, phase_cancelled",
                "Only these kinds.",
            ),
            "verb": ParamText("text", False, "optional", "a string", "Only this verb; adds to verbs."),
            "verbs": ParamText(
                "array<text>",
                False,
                "optional",
                "a list, each item a string",
                "Only these verbs.",
            ),
            "outcome": ParamText(
                "\"success\" | \"denied\" | \"error\"",
                False,
                "optional",
                "one of success, denied, error",
                "Only this outcome.",
            ),
            "actor": ParamText(
                "text",
                False,
                "optional",
                "a string",
                "Only this actor label, such as actor:ci.",
            ),
            "substrate": ParamText(
                "\"entity\" | \"note\" | \"edge\" | \"event\"",
                False,
                "optional",
                "one of entity, note, edge, event",
                "Only events about this kind of record.",
            ),
            "since": ParamText(
                "micros",
                False,
                "optional",
                "whole microseconds since 1970-01-01T00:00:00Z",
                "After this moment.",
            ),
            "until": ParamText(
                "micros",
                False,
                "optional",
                "whole microseconds since 1970-01-01T00:00:00Z",
                "Before this moment.",
            ),
            "session_id": ParamText(
                "uuid",
                False,
                "optional",
                "a full UUID (prefixes are refused)",
                "Full UUID of a session; prefixes are refused because the filter needs one stable record.",
            ),
            "observed": ParamText(
                "array<uuid>",
                False,
                "optional",
                "a list, each item a full UUID (prefixes are refused)",
                "Any event that refers to one of these records, in any role. Full UUIDs only.",
            ),
            "selected": ParamText(
                "array<uuid>",
                False,
                "optional",
                "a list, each item a full UUID (prefixes are refused)",
                "Any event that chose one of these records. Full UUIDs only.",
            ),
            "parse_content": ParamText(
                "bool",
                False,
                "false",
                "true or false",
                "Give the content of notes as JSON values; one that is not JSON refuses the page.",
            ),
            "namespace": ParamText(
                "namespace",
                False,
                "optional",
                "a namespace name (1 to 255 bytes, no white space or control characters)",
                "Only this namespace instead of all visible ones.",
            ),
        },
        (
            "list(kind=\"concept\", limit=5)",
            "list(kind=\"note\", limit=1000)",
            "list(kind=\"entity\", after=\"\")",
        ),
        (),
    ),
    "neighbors": VerbText(
        "List what a node is connected to.",
        'Without `limit` the answer is the bare list of all neighbors; with it a page with a cursor. Order is weight descending,\nthen neighbor id, then edge id. Symmetric relations match both ways. Deleted neighbors and deleted edges do not show.',
        {
            "node_id": ParamText(
                "id",
                True,
                "required",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "The node.",
            ),
            "direction": ParamText(
                "\"outgoing\" | \"incoming\" | \"both\"",
                False,
                "\"both\"",
                "one of outgoing, incoming, both, out, in",
                "Which way to look.",
            ),
            "relations": ParamText(
                "array<relation>",
                False,
                "optional",
                "a list, each item one of contains, part_of, instance_of, links_to, located_in, extends, variant_of, introduced_by, supersedes, derived_from, precedes, depends_on, enables, implements, competes_with, composed_with, annotates, supports, refutes",
                "Only these relations.",
            ),
            "min_weight": ParamText(
                "unit_number",
                False,
                "optional",
                "a number from 0.0 to 1.0",
                "Lightest edge, inclusive.",
            ),
            "limit": ParamText(
                "count",
                False,
                "optional",
                "a whole number from 0",
                "Page size, at most 1000; makes the answer a page.",
            ),
            "after": ParamText(
                "cursor",
                False,
                "optional",
                "\"\" to begin, or the next_after of the page before",
                "Cursor of the page before, or \"\" to begin.",
            ),
            "neighbor_kinds": ParamText(
                "array<text>",
                False,
                "optional",
                "a list, each item a string",
                "Only neighbors of these entity or note kinds; applied before the limit.",
            ),
            "projection": ParamText(
                "\"edge\" | \"summary\" | \"record\"",
                False,
                "\"record\"",
                "one of edge, summary, record",
                "What each row carries.",
            ),
            "include_entity_type": ParamText(
                "bool",
                False,
                "false",
                "true or false",
                "Also show the governed subtype.",
            ),
        },
        ("neighbors(node_id=\"lib\")", "neighbors(node_id=\"app\", limit=10, direction=\"out\")"),
        (),
    ),
    "restore": VerbText(
        "Bring a softly deleted entity, note or edge back.",
        "A record that is live already is left alone and answered with `restored: false`. A record outside the caller's visible\nnamespaces is not found. An entity that was merged away is refused with the id that was kept; a note whose key was\ntaken meanwhile, and an edge whose endpoint is deleted, are refused too.",
        {
            "id": ParamText(
                "id",
                True,
                "required",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Full UUID or 8+ hex prefix of the deleted record.",
            ),
            "kind": ParamText(
                "text",
                False,
                "optional",
                "a string",
                "What the record is: entity, note, edge or a granular kind; refused when it is something else.",
            ),
        },
        ("restore(id=\"<id>\")",),
        (),
    ),
    "scan": VerbText(
        "Tell whether a note body would be refused as holding a secret.",
        'Runs the same check in the same order as a note write: content, then name, then every text inside properties.\nNothing is stored, and the value itself is never in the answer.',
        {
            "content": ParamText("text", True, "required", "a string", "The body."),
            "name": ParamText("text", False, "optional", "a string", "The title."),
            "properties": ParamText("object", False, "optional", "an object", "The properties."),
        },
        ("scan(content=\"the auth module was refactored\")",),
        (),
    ),
    "search": VerbText(
        "Find records by what they say.",
        'Full text over name and description of entities, name and content of notes, in every script and with any punctuation.\nTwo indexes answer together: whole words with their stems, and substrings. The score orders hits within one\nquery; it is not a probability. The answer tells beside the hits what each arm did.',
        {
            "kind": ParamText("text", True, "required", "a string", "entity, note, or a granular kind."),
            "query": ParamText("name", True, "required", "a string that is not blank", "What to look for."),
            "text_mode": ParamText(
                "\"all_terms\" | \"any_term\"",
                False,
                "\"all_terms\"",
                "one of all_terms, any_term",
                "Whether every term must occur or one is enough.",
            ),
            "limit": ParamText("count", False, "10", "a whole number from 0", "Hits, at most 100."),
            "entity_kind": ParamText("text", False, "optional", "a string", "Only this kind."),
            "entity_type": ParamText("text", False, "optional", "a string", "Only this governed subtype."),
            "note_kind": ParamText("text", False, "optional", "a string", "Only this kind."),
            "include_superseded": ParamText(
                "bool",
                False,
                "optional",
                "true or false",
                "Also notes that another note supersedes; false when not given.",
            ),
            "properties": ParamText(
                "object",
                False,
                "optional",
                "an object",
                "Only records that carry all these top-level values, within the candidate window.",
            ),
            "tags": ParamText(
                "array<text>",
                False,
                "optional",
                "a list, each item a string",
                "Any of these tags.",
            ),
            "min_rank_score": ParamText(
                "unit_number",
                False,
                "optional",
                "a number from 0.0 to 1.0",
                "Lowest score, inclusive; 0 when not given.",
            ),
            "min_score": ParamText(
                "unit_number",
                False,
                "optional",
                "a number from 0.0 to 1.0",
                "Older name of min_rank_score.",
            ),
            "order_by": ParamText(
                "\"score\" | \"created_at\" | \"updated_at\"",
                False,
                "\"score\"",
                "one of score, created_at, updated_at",
                "Order of the hits.",
            ),
            "namespace": ParamText(
                "namespace",
                False,
                "optional",
                "a namespace name (1 to 255 bytes, no white space or control characters)",
                "Only this namespace instead of all visible ones.",
            ),
        },
        (
            "search(kind=\"entity\", query=\"rotary embedding\")",
            "search(kind=\"note\", query=\"quantum gravity\")",
        ),
        (),
    ),
    "stats": VerbText("Count the live records the caller can see.", "", {}, ("stats()",), ()),
    "update": VerbText(
        "Change fields of an entity, note or edge.",
        'Only what is given changes. `properties` merges at the top level: a given key replaces the whole old value, a null\nstores null. `tags` replaces the list, `[]` clears it; on a note the tags live in `properties.tags` and top-level\n`tags` wins. `null` clears name and description where the record may be without, salience, decay_factor, entity_type.\n\nA note patch that says what is stored already is a no-op (`unchanged: true`). With `expected_version` an accepted\nupdate always writes and adds one to the version; another version refuses.',
        {
            "id": ParamText(
                "id",
                True,
                "required",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Record to change.",
            ),
            "kind": ParamText(
                "text",
                False,
                "optional",
                "a string",
                "What the record is: entity, note, edge or a granular kind; refused when it is something else.",
            ),
            "name": ParamText(
                "name | null",
                False,
                "optional",
                "a string that is not blank",
                "Name; null clears that of a note.",
            ),
            "description": ParamText(
                "text | null",
                False,
                "optional",
                "a string",
                "Description; null clears it.",
            ),
            "entity_type": ParamText(
                "text | null",
                False,
                "optional",
                "a string",
                "Governed subtype; null clears it.",
            ),
            "content": ParamText("text", False, "optional", "a string", "Body text."),
            "salience": ParamText(
                "unit_number | null",
                False,
                "optional",
                "a number from 0.0 to 1.0",
                "Weight in recall; null clears it.",
            ),
            "decay_factor": ParamText(
                "non_negative_number | null",
                False,
                "optional",
                "a number from 0.0",
                "How fast the weight fades; null clears it.",
            ),
            "relation": ParamText(
                "relation",
                False,
                "optional",
                "one of contains, part_of, instance_of, links_to, located_in, extends, variant_of, introduced_by, supersedes, derived_from, precedes, depends_on, enables, implements, competes_with, composed_with, annotates, supports, refutes",
                "Relation; the endpoints are checked again.",
            ),
            "weight": ParamText("unit_number", False, "optional", "a number from 0.0 to 1.0", "How sure."),
            "properties": ParamText(
                "object",
                False,
                "optional",
                "an object",
                "Merged at the top level; into the metadata of an edge.",
            ),
            "tags": ParamText(
                "array<text>",
                False,
                "optional",
                "a list, each item a string",
                "Replaces the list.",
            ),
            "expected_version": ParamText(
                "positive_integer",
                False,
                "optional",
                "a whole number from 1",
                "Refuse unless the note has this version.",
            ),
            "entity_kind": ParamText(
                "text",
                False,
                "optional",
                "a string",
                "Refused; the kind of a record never changes.",
            ),
        },
        (
            "update(id=\"<id>\", properties={\"b\": 3, \"d\": null})",
            "update(id=\"<id>\", content=\"as it was\")",
            "update(id=\"<id>\", content=\"as it was\", expected_version=1)",
        ),
        (),
    ),
    "verbs": VerbText(
        "List the verbs this server offers.",
        "",
        {
            "category": ParamText(
                "\"Assertive\" | \"Directive\" | \"Commissive\" | \"Declaration\"",
                False,
                "optional",
                "one of Assertive, Directive, Commissive, Declaration",
                "Only this category.",
            ),
            "pack": ParamText("name", False, "optional", "a string that is not blank", "Only this pack."),
        },
        ("verbs(pack=\"kg\", category=\"declaration\")",),
        (),
    ),
    "whoami": VerbText(
        "Tell who is asking, where they write and which build answers.",
        "",
        {},
        ("whoami()",),
        (),
    ),
}
