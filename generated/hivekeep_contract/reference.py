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
    "graph_budget_exceeded": ErrorText(
        "Following the edges took more than one operation may use; details.budget says whether rows or time. No part of the answer is given.",
        "Lower max_depth or hops, give fewer roots, or filter by relations, direction or min_weight.",
    ),
    "invalid_query": ErrorText(
        "The text of a query is not of its language, or names what is not there.",
        "Correct the text at the position that is named; the message says what is accepted there.",
    ),
    "query_too_expensive": ErrorText(
        "The query ran longer than one operation may. No part of its answer is given.",
        "Give kinds, relations or exact names to the pattern, or fewer hops.",
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
    "merge_guard": ErrorText(
        "The two records do not pass a check of merge; they may not mean the same.",
        "Compare the two; correct the field that is named, or keep both.",
    ),
    "merge_namespaces": ErrorText(
        "The two records of a merge are in different namespaces.",
        "Merge records of one namespace.",
    ),
    "merge_too_large": ErrorText(
        "The merge would change or remove more rows than one operation may.",
        "Delete edges that are not needed, then repeat.",
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
    "self_approval": ErrorText("Who proposed a change may not approve it.", "Let another actor approve it."),
    "not_proposer": ErrorText("Only the proposer may withdraw a proposal.", "Reject it with review instead."),
    "proposal_closed": ErrorText(
        "The proposal is in a status that this step may not leave.",
        "Propose the change again, with this one as its parent_id.",
    ),
    "proposal_expired": ErrorText(
        "The proposal may no longer be approved.",
        "Propose the change again, with a later expiry.",
    ),
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
    "context": (
        Rule(
            "at_least_one_of",
            ("query", "entity_ids"),
            None,
            "give query, entity_ids or both, so that there is something to start from",
        ),
    ),
    "create": (
        Rule("needs", ("atomic", "items"), None, "'atomic' needs 'items'"),
        Rule("needs", ("verbose", "items"), None, "'verbose' needs 'items'"),
        Rule(
            "exactly_one_of",
            ("kind", "items"),
            None,
            "give kind for one record, or items for many, each with its own kind",
        ),
    ),
    "link": (
        Rule("needs", ("atomic", "links"), None, "'atomic' needs 'links'"),
        Rule("needs", ("verbose", "links"), None, "'verbose' needs 'links'"),
        Rule(
            "exactly_one_of",
            ("source_id", "links"),
            None,
            "give source_id for one edge, or links for many",
        ),
        Rule(
            "exactly_one_of",
            ("target_id", "links"),
            None,
            "give target_id for one edge, or links for many",
        ),
        Rule("exactly_one_of", ("relation", "links"), None, "give relation for one edge, or links for many"),
    ),
    "list": (
        Rule(
            "mutually_exclusive",
            ("after", "offset"),
            None,
            "give either after (cursor walk) or offset, not both",
        ),
    ),
    "merge": (
        Rule("required", ("into_id",), None, "missing argument 'into_id'"),
        Rule("required", ("from_id",), None, "missing argument 'from_id'"),
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
    "traverse": (Rule("required", ("roots",), None, "missing argument 'roots'"),),
}

VERBS: dict[str, VerbText] = {
    "context": VerbText(
        "Gather entities and what surrounds them, within a size budget.",
        'Anchors are the entities named in `entity_ids`, all of them and in that order, then up to `limit` entities that `query`\nfinds. Around each anchor up to `fanout` neighbors are looked up, with `hops=2` also theirs; an entity is shown once, at\nits first place. Notes are not shown.\n\nThe budget counts the characters of the compact JSON of anchors and neighbors. Anchors are filled in first, in\norder, until one does not fit; then the neighbors of each anchor until one does not fit. What was left out is counted\nunder `dropped`. The work is bounded as in `traverse`.',
        {
            "query": ParamText(
                "text",
                False,
                "optional",
                "a string",
                "What to find anchors by, as in search.",
            ),
            "entity_ids": ParamText(
                "array<id>",
                False,
                "optional",
                "a list, each item a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Anchors: full ids, prefixes or names.",
            ),
            "hops": ParamText(
                "integer",
                False,
                "optional",
                "a whole number",
                "Edges from an anchor, clamped to 0..2; 1 when not given.",
            ),
            "budget": ParamText(
                "integer",
                False,
                "optional",
                "a whole number",
                "Characters of compact JSON, clamped to 256..65536; 4096 when not given.",
            ),
            "relations": ParamText(
                "array<relation>",
                False,
                "optional",
                "a list, each item one of contains, part_of, instance_of, links_to, located_in, extends, variant_of, introduced_by, supersedes, derived_from, precedes, depends_on, enables, implements, competes_with, composed_with, annotates, supports, refutes",
                "Only these relations.",
            ),
            "direction": ParamText(
                "\"outgoing\" | \"incoming\" | \"both\"",
                False,
                "\"both\"",
                "one of outgoing, incoming, both, out, in",
                "Which way edges are followed.",
            ),
            "limit": ParamText(
                "integer",
                False,
                "optional",
                "a whole number",
                "Anchors from the query, clamped to 1..20; 5 when not given.",
            ),
            "fanout": ParamText(
                "integer",
                False,
                "optional",
                "a whole number",
                "Neighbors of each node, clamped to 1..50; 10 when not given.",
            ),
        },
        ("context(entity_ids=[\"LoRA\"])", "context(query=\"rotary embedding\", budget=1)"),
        (),
    ),
    "create": VerbText(
        "Create an entity or a note, or up to 1000 at once.",
        '`kind` is a granular kind (`concept`, `observation`, ...), an alias of one (`paper` makes a document of type paper),\nor a substrate together with `entity_kind` or `note_kind`. `kind="note"` alone makes an observation.\n\nThe record, both text indexes, its edges and the events are written in one transaction or not at all.\nA keyed note is created once: the same key with the same content and properties answers\n`{id, created: false}` and writes nothing; with other content it is a `key_conflict`.\n\n`items` makes many records, entities and notes mixed, in one transaction. Each item has the fields of `entity_item` or\n`note_item` and no others; edges, annotations, keys and embedding overrides need a create of their own. With\n`atomic=true` one refused item refuses the call, its message names `items[i]`, and nothing is written. With\n`atomic=false` refused items are reported in `results` and the others are stored.',
        {
            "kind": ParamText(
                "text",
                False,
                "optional",
                "a string",
                "Granular kind, alias, or entity or note; required unless items is given.",
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
            "embedding_content": ParamText(
                "text",
                False,
                "optional",
                "a string",
                "A beginning of content, for an embedder that takes less than all of it; not empty and shorter than content. It is checked and not stored: no embedder is configured.",
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
            "items": ParamText(
                "array<object>",
                False,
                "optional",
                "a list, each item an object (1 to 1,000 items)",
                "Records to make, each an entity_item or a note_item.",
            ),
            "atomic": ParamText(
                "bool",
                False,
                "true",
                "true or false",
                "Store all items or none; false stores those that are right.",
            ),
            "verbose": ParamText(
                "bool",
                False,
                "false",
                "true or false",
                "Answer whole records and not only their ids.",
            ),
        },
        (
            "create(kind=\"concept\", name=\"RoPE\", description=\"Rotary position embedding\", tags=[\"attention\"])",
            "create(kind=\"paper\", name=\"RoFormer\")",
            "create(kind=\"insight\", content=\"Rank 8 is enough for most tasks.\", annotates=[\"<id>\"], salience=0.7)",
            "create(kind=\"decision\", content=\"Use SQLite.\", key=\"adr-1\")",
            "create(items=[{\"kind\": \"concept\", \"name\": \"RoPE\"}, {\"kind\": \"note\", \"content\": \"Rotates queries and keys.\"}])",
            "create(items=[{\"kind\": \"concept\", \"name\": \" \"}, {\"kind\": \"paper\", \"name\": \"RoFormer\"}], atomic=false)",
        ),
        (),
    ),
    "db_diagnostics": VerbText(
        "Report contention, size, log and integrity of every database file that is open.",
        'The fields at the top describe the main file; `databases` has one entry for each file, main first. A section that\ncannot be collected is null and says why beside it. The passive checkpoint probe may move pages from the log into\nthe database, which is normal upkeep; nothing is created, deleted or logically changed.',
        {},
        ("db_diagnostics()",),
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
        'Looks among entities, notes, edges, events and proposals. An entity that was merged away leads to the live one that was\nkept; `redirected_from` then lists the ids on the way. `include_deleted=true` answers the deleted record itself.\nAn edge comes with the live notes about it. A proposal is found from the primary namespace it was made in.',
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
        (
            "get(id=\"<id>\")",
            "get(id=\"hivekeep\")",
            "get(id=\"<id>\", parse_content=true)",
            "get(id=\"<full_id>\")",
        ),
        (),
    ),
    "link": VerbText(
        "Create or replace a typed edge, or up to 1000 at once.",
        'An edge is known by namespace, source, target and relation. Linking a live one again keeps its id and creation time\nand replaces weight and metadata (what is not given falls back to its default). A deleted one is refused unless\n`resurrect=true`. Which kinds a relation may join is listed under the relations; the refusal names the\nrelations that would fit. Symmetric relations ignore the order of the endpoints.\n\n`links` writes many edges in one transaction; each entry has the fields of `link_item`. An entry that names an edge\nwhich an earlier one wrote is skipped. With `atomic=true` one refused entry refuses the call, its message names\n`links[i]`, and nothing is written. With `atomic=false` refused entries are reported in `errors`.',
        {
            "source_id": ParamText(
                "id",
                False,
                "optional",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Where the edge starts; required unless links is given.",
            ),
            "target_id": ParamText(
                "id",
                False,
                "optional",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Where it ends; required unless links is given.",
            ),
            "relation": ParamText(
                "relation",
                False,
                "optional",
                "one of contains, part_of, instance_of, links_to, located_in, extends, variant_of, introduced_by, supersedes, derived_from, precedes, depends_on, enables, implements, competes_with, composed_with, annotates, supports, refutes",
                "What it says; required unless links is given.",
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
            "links": ParamText(
                "array<object>",
                False,
                "optional",
                "a list, each item an object (1 to 1,000 items)",
                "Edges to write, each a link_item.",
            ),
            "atomic": ParamText(
                "bool",
                False,
                "true",
                "true or false",
                "Write all links or none; false writes those that are right.",
            ),
            "verbose": ParamText(
                "bool",
                False,
                "false",
                "true or false",
                "Answer the edges as well and not only how many.",
            ),
        },
        (
            "link(source_id=\"<id 1>\", target_id=\"<id 2>\", relation=\"extends\", weight=0.9)",
            "link(source=\"app\", target=\"lib\", relation=\"Depends-On\")",
            "link(source_id=\"<id 2>\", target_id=\"<id 1>\", relation=\"competes_with\", weight=0.5)",
            "link(links=[{\"source\": \"A\", \"target\": \"B\", \"relation\": \"competes_with\"}, {\"source\": \"B\", \"target\": \"A\", \"relation\": \"competes_with\"}])",
            "link(links=[{\"source\": \"A\", \"target\": \"A\", \"relation\": \"extends\"}, {\"source\": \"A\", \"target\": \"B\", \"relation\": \"extends\"}], atomic=false)",
        ),
        (),
    ),
    "list": VerbText(
        "List live records with filters, by offset or by a stable cursor.",
        'Without `after` the newest rows come first and `offset` pages; advance it by the number of items received.\nWith `after=""` a cursor walk begins in the order of insertion; pass `next_after` on until it is null. Rows inserted\nduring the walk are seen, none is seen twice, equal timestamps do not matter.\n\nProposals are listed in the caller\'s primary namespace, or in the one that is named.\n\nThe page always tells the limit asked for, the limit used, and whether they differ.',
        {
            "kind": ParamText(
                "text",
                True,
                "required",
                "a string",
                "entity, note, edge, event, proposal, or a granular kind.",
            ),
            "limit": ParamText(
                "count",
                False,
                "20",
                "a whole number from 0",
                "Rows of the page; at most 500 entities or proposals, 200 notes, 1000 edges or events.",
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
                "Only events of this actor, such as actor:ci; only proposals that it made, reviewed or withdrew.",
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
            "status": ParamText(
                "\"open\" | \"changes_requested\" | \"approved\" | \"applying\" | \"applied\" | \"rejected\" | \"withdrawn\"",
                False,
                "optional",
                "one of open, changes_requested, approved, applying, applied, rejected, withdrawn",
                "Only proposals that stand there.",
            ),
            "proposer": ParamText(
                "text",
                False,
                "optional",
                "a string",
                "Only proposals of this actor, as rows show it.",
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
            "list(kind=\"proposal\", status=\"open\")",
        ),
        (),
    ),
    "merge": VerbText(
        "Make one record out of two that mean the same.",
        'The record of `into_id` stays; the one of `from_id` becomes a deleted record that points to it. Both are live, of one\nnamespace and of one kind. Entities also pass a safety floor: names that are alike, and no two owners\n(`properties.projects`) without a common member. `force=true` skips it, but never the kind.\n\nEvery edge of the vanishing record, of any namespace, live or deleted, moves over in place. One that would join the\nkept record to itself, that the relations no longer allow, or whose place is taken by another edge is removed with the\nannotations on it; the answer and the event hold each removed edge as it was. Names, types and properties follow\n`strategy`, descriptions and contents follow `content_strategy` (what only one record has is always kept), tags are\njoined. The kept note keeps its key, salience and decay; the key of the other one becomes free.\n\n`dry_run=true` answers what the same call would do and writes nothing; a record that does not pass the floor is then\nan answer with `would_merge: false`. Chain with `$prev.kept_id`. `get` of a merged entity leads to the kept one.',
        {
            "into_id": ParamText(
                "id",
                True,
                "required",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Record that stays.",
            ),
            "from_id": ParamText(
                "id",
                True,
                "required",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Record that becomes part of it.",
            ),
            "kind": ParamText(
                "text",
                False,
                "optional",
                "a string",
                "What both records are: entity, note or a granular kind; found from the ids when not given.",
            ),
            "strategy": ParamText(
                "\"prefer_into\" | \"prefer_from\" | \"union\"",
                False,
                "\"prefer_into\"",
                "one of prefer_into, prefer_from, union",
                "Whose name, entity_type and properties win.",
            ),
            "content_strategy": ParamText(
                "\"append\" | \"prefer_into\" | \"prefer_from\"",
                False,
                "\"append\"",
                "one of append, prefer_into, prefer_from",
                "What becomes of description or content.",
            ),
            "dry_run": ParamText(
                "bool",
                False,
                "false",
                "true or false",
                "Answer the plan and write nothing.",
            ),
            "force": ParamText(
                "bool",
                False,
                "false",
                "true or false",
                "Skip the safety floor of entities; notes have none.",
            ),
            "reason": ParamText("text", False, "optional", "a string", "Why; kept in the event."),
            "verbose": ParamText(
                "bool",
                False,
                "false",
                "true or false",
                "Also answer the kept record, as it is or would be afterwards.",
            ),
        },
        (
            "merge(into_id=\"<id 1>\", from_id=\"<id 2>\", verbose=true)",
            "merge(into_id=\"<id 1>\", from_id=\"<id 2>\")",
            "merge(into_id=\"<id 1>\", from_id=\"<id 2>\", dry_run=true)",
        ),
        (),
    ),
    "neighbors": VerbText(
        "List what a node is connected to.",
        'Without `limit` the answer is the bare list of all neighbors; with it a page with a cursor. Order is weight descending,\nthen neighbor id, then edge id. Symmetric relations match both ways. Deleted neighbors and deleted edges do not show.\n\nA full UUID that no live record has is answered with an empty list; a prefix or name that fits none is `not_found`.\nGive a limit where a node may have tens of thousands of neighbors: together they are more than one response holds.',
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
    "propose": VerbText(
        "Propose a change for others to review.",
        'The change is a `changeset`, told apart by its `kind`: `add_entity`, `update_entity`, `add_edge`, `add_note`,\n`merge_entities`, `supersede_entity`, or `compound` with `steps`. Nothing of it is written before somebody approves\nit with `review`; then it is carried out in one transaction, all of it or nothing.\n\nEvery id inside is a full UUID: a prefix could come to mean another record between the proposal and its review. The\nrecords need not exist yet; they must when the change is applied.\n\n`full_id` and `parent_id` are shown in full, so that a later proposal can name this one as its parent.',
        {
            "title": ParamText("name", True, "required", "a string that is not blank", "What is proposed."),
            "description": ParamText(
                "name",
                True,
                "required",
                "a string that is not blank",
                "Why, and what it is for.",
            ),
            "changeset": ParamText(
                "add_entity_change | update_entity_change | add_edge_change | add_note_change | merge_entities_change | supersede_entity_change | compound_change",
                True,
                "required",
                "an object",
                "The change.",
            ),
            "reviewers": ParamText(
                "array<name>",
                False,
                "optional",
                "a list, each item a string that is not blank",
                "Actors that are asked to review it; others may as well.",
            ),
            "expiry": ParamText(
                "micros",
                False,
                "optional",
                "whole microseconds since 1970-01-01T00:00:00Z (0 to 253,402,300,799,999,999)",
                "From this moment on it cannot be approved.",
            ),
            "parent_id": ParamText(
                "uuid",
                False,
                "optional",
                "a full UUID (prefixes are refused)",
                "The proposal that this one follows; a full UUID, because ancestry is a lasting reference.",
            ),
        },
        (
            "propose(title=\"Add GQE\", description=\"Register the GQE concept.\", changeset={\"kind\": \"add_entity\", \"entity\": {\"kind\": \"concept\", \"name\": \"GQE\"}})",
            "propose(title=\"Relate QLoRA\", description=\"It builds on LoRA.\", changeset={\"kind\": \"compound\", \"steps\": [{\"kind\": \"add_edge\", \"source\": \"<id 1>\", \"target\": \"<id 2>\", \"relation\": \"extends\"}, {\"kind\": \"update_entity\", \"id\": \"<id 1>\", \"patch\": {\"tags\": [\"peft\"]}}]}, reviewers=[\"ocean\"])",
            "propose(title=\"Add GQE as a method\", description=\"With its type.\", changeset={\"kind\": \"add_entity\", \"entity\": {\"kind\": \"concept\", \"name\": \"GQE\", \"tags\": [\"method\"]}}, parent_id=\"<full_id>\")",
        ),
        (),
    ),
    "query": VerbText(
        "Match a pattern in the graph, in GQL or SPARQL, without writing.",
        'A text that begins with MATCH is GQL, one that begins with SELECT is SPARQL; the guide on queries has both dialects.\nOnly live records of the visible namespaces match, on the way as well as at the ends. Whatever would write is refused.\n\nWithout ORDER BY the rows of GQL come in the order of the identities of what is bound. When `has_more` is true, repeat the\nsame query with `SKIP next_offset` and the same `page_size`. A LIMIT that fits into the page ends the rows there.',
        {
            "query": ParamText(
                "text",
                True,
                "required",
                "a string",
                "The query, at most 65536 bytes. Values are literals in it.",
            ),
            "page_size": ParamText(
                "positive_integer",
                False,
                "optional",
                "a whole number from 1",
                "Rows of a page: 500 when not given, at most 10000.",
            ),
        },
        (
            "query(query=\"MATCH (a:concept)-[:extends]->(b) WHERE a.name = 'lora' RETURN a.name, b.name\")",
            "query(query=\"MATCH (p:person) RETURN count(p) AS people\")",
            "query(query=\"MATCH (p:person) RETURN p.name AS name ORDER BY p.name\", page_size=1)",
            "query(query=\"SELECT ?n WHERE { ?x :extends ?y . ?y :name ?n }\")",
        ),
        (),
    ),
    "resolve": VerbText(
        "Find out which entities references in plain words mean.",
        'Each reference goes through these stages until one finds something; a stage that finds several answers\n`ambiguous` with candidates, and none is ever picked for the caller.\n\n1. An id: a full UUID, or 8 and more hex digits. The entity, or `not_found`; no later stage is tried. An entity that\n   was merged leads to the kept one, and `redirected_from` lists the ids on the way.\n2. The entities that this caller named last, with create, get, update, merge or link: by equal name, then by a name that\n   holds the reference or is held by it. The case of ASCII letters is ignored.\n3. The exact name, in the case it has, in the namespace of the caller.\n4. A search in that namespace. The best hit is taken if it is the only one or leads the second clearly.\n\nA blank reference is `not_found`. Nothing is written.',
        {
            "refs": ParamText(
                "array<text>",
                True,
                "required",
                "a list, each item a string (1 to 100 items)",
                "The references: ids, names, or words.",
            ),
            "kind": ParamText(
                "text",
                False,
                "optional",
                "a string",
                "Only this entity kind; entity is any. Counts for exact names and the search, not for ids and recent entities.",
            ),
            "limit": ParamText(
                "positive_integer",
                False,
                "5",
                "a whole number from 1 (at most 20)",
                "Candidates from the search for each reference.",
            ),
        },
        ("resolve(refs=[\"lora\", \"nowhere\"])", "resolve(refs=[\"Mercury\"])", "resolve(refs=[\"<id>\"])"),
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
    "review": VerbText(
        "Approve, reject or comment on a proposal, or ask for changes.",
        'One approval is enough: the change is applied within the call, as the actor `system:propose-apply` and in one\ntransaction. When it cannot be applied nothing of it is written; the proposal stays `approved`, `apply_error` says\nwhy, and the proposer can withdraw it and propose again.\n\nNobody approves a proposal of their own, except where no actor is configured at all. An expired proposal can be\nrejected and commented on, not approved. Once a proposal is approved, applied, rejected or withdrawn, no review is\naccepted.',
        {
            "id": ParamText(
                "id",
                True,
                "required",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Full UUID of the proposal, or 8+ hex digits of it.",
            ),
            "decision": ParamText(
                "kg.review_decision",
                True,
                "required",
                "one of approve, reject, comment, request_changes, requestchanges",
                "The decision.",
            ),
            "comment": ParamText("text", False, "optional", "a string", "What the reviewer has to say."),
        },
        (
            "review(id=\"<id>\", decision=\"approve\")",
            "review(id=\"<id>\", decision=\"Request_Changes\", comment=\"Say which paper.\")",
        ),
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
    "traverse": VerbText(
        "Follow edges outward from roots, nearest nodes first.",
        'A breadth-first walk from each distinct root. A node stands once, at its smallest depth, with the edge that led to it;\nwhich of several edges of one depth that is, and the order of nodes of one depth, is not promised. `limit` counts the\nnodes of each root without the root itself. Deleted nodes and edges are not walked through; symmetric relations are\nfollowed both ways.\n\nAll roots share 100,000 edges and five seconds. An edge that leads to a known node counts as well. When either is\nused up the operation fails; there are never partial paths.',
        {
            "roots": ParamText(
                "array<id>",
                True,
                "required",
                "a list, each item a full UUID, a hex prefix of at least 8 digits, or an exact entity name (1 to 100 items)",
                "Where to start; full ids, prefixes or names.",
            ),
            "max_depth": ParamText(
                "count",
                False,
                "3",
                "a whole number from 0 (at most 10)",
                "Edges from a root to the farthest node.",
            ),
            "direction": ParamText(
                "\"outgoing\" | \"incoming\" | \"both\"",
                False,
                "\"both\"",
                "one of outgoing, incoming, both, out, in",
                "Which way edges are followed.",
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
                "100",
                "a whole number from 0 (at most 1,000)",
                "Nodes for each root.",
            ),
            "include_roots": ParamText(
                "bool",
                False,
                "true",
                "true or false",
                "Also show each root, at depth 0.",
            ),
            "include_properties": ParamText(
                "bool",
                False,
                "false",
                "true or false",
                "Also show the properties of entities.",
            ),
        },
        ("traverse(roots=[\"LoRA\"], max_depth=2, direction=\"in\")",),
        (),
    ),
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
    "withdraw": VerbText(
        "Take a proposal of one's own back.",
        'For the proposer only. A proposal that was applied, rejected or withdrawn stays as it is; one that was approved but\ncould not be applied may be withdrawn.',
        {
            "id": ParamText(
                "id",
                True,
                "required",
                "a full UUID, a hex prefix of at least 8 digits, or an exact entity name",
                "Full UUID of the proposal, or 8+ hex digits of it.",
            ),
            "rationale": ParamText("text", False, "optional", "a string", "Why it is withdrawn."),
        },
        ("withdraw(id=\"<id>\", rationale=\"Found a better name.\")",),
        (),
    ),
}
