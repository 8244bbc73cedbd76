"""How results are reshaped for a reader: names of fields, by what is done to them.

Printed from registry/presentation.yaml by `make generate`; do not edit.
"""

#: Fields whose null tells something and is kept in agent mode.
PRESERVE_NULL = frozenset({
    "applied_at",
    "completed_at",
    "consecutive_failures",
    "deleted_at",
    "due_at",
    "last_error",
    "last_failure_at",
    "last_poll_attempt_at",
    "last_success_at",
    "next_offset",
    "parent_id",
    "poll_interval_secs",
    "read_at",
    "replaced_by",
    "reviewed_at",
    "stalled",
    "started_at",
    "superseded_at",
    "superseded_by",
    "withdrawn_at",
})

#: Numbers shown with three significant figures in agent mode.
SCORE_KEYS = frozenset({
    "cross_encoder_score",
    "decay_factor",
    "graph_proximity_score",
    "keyword_score",
    "rank_score",
    "rrf_score",
    "salience",
    "score",
    "similarity",
    "vector_similarity",
})

#: Objects whose every number is shown with three significant figures.
SCORE_PARENTS = frozenset({"breakdown", "score_breakdown"})

SCORE_SIGNIFICANT_FIGURES = 3

#: Fields, besides id and those that end with _id, whose UUID is shown by its first characters in agent mode.
SHORT_ID_KEYS = frozenset({"replaced_by", "superseded_by"})

SHORT_ID_LENGTH = 8

#: Fields whose UUID is never shortened.
FULL_ID_KEYS = frozenset({
    "context_entity_id",
    "full_id",
    "outbound_ref",
    "parent_id",
    "project_id",
    "session_id",
    "thread_id",
})

FULL_ID_LISTS = frozenset({"messages", "new_messages"})

KEPT_LISTS = frozenset({"channels", "messages", "new_messages", "tasks"})

#: Timestamps that are never made relative.
UNTOUCHED_TIME_KEYS = frozenset({"due", "trigger_at"})

RELATIVE_TIME_BELOW_SECS = 86400

OPAQUE_UNDER = frozenset({"properties"})

ENVELOPE_LIMIT_FIELDS = frozenset({"effective_limit", "limit_clamped", "requested_limit"})

ENVELOPE_ARRAYS = frozenset({"edges", "entities", "entries", "items", "neighbors", "notes", "results"})

ENVELOPE_CURSOR = "next_after"

TABLE_CELL_MAX_CHARS = 120

TABLE_UNCUT_KEYS = frozenset({
    "assignee",
    "due",
    "from",
    "id",
    "kind",
    "name",
    "priority",
    "relation",
    "signature",
    "slug",
    "status",
    "title",
    "to",
})

TABLE_UNCUT_SUFFIXES = ("_id", "_at")

TABLE_UNCUT_PREFIXES = ("due",)

TABLE_HOISTED_PROPERTIES = ("trigger_at", "due", "status")

TABLE_MIN_ROWS = 2

TABLE_REDUNDANT_KEYS = frozenset({"full_id"})

TABLE_DEFAULT_NAMESPACE = "local"
