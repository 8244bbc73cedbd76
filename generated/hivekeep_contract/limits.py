"""Numbers the server keeps.

Printed from registry/limits.yaml and the constants of registry/packs/ by `make generate`; do not edit.
"""

#: Operations in one request.
MAX_OPS = 100

#: Bytes of the ops string (UTF-8, after trimming).
MAX_OPS_INPUT_BYTES = 1048576

#: Depth of arrays and objects inside arguments.
NESTING_DEPTH_LIMIT = 64

#: Depth of a stored object such as properties; pages and events show it inside others and stay within
#: result_depth_limit.
OBJECT_DEPTH_LIMIT = 56

#: Depth of containers in one result; a deeper result is refused before it is cloned or serialized.
RESULT_DEPTH_LIMIT = 64

#: Bytes of one response; entries that do not fit are replaced, largest first.
RESPONSE_BUDGET_BYTES = 8388608

#: Bytes of one HTTP request body.
HTTP_BODY_MAX_BYTES = 2097152

#: Pairs in error.details; a further pair turns the last slot into details_truncated.
ERROR_DETAILS_MAX = 8

#: Characters of an error message in a response that must shrink.
ERROR_MESSAGE_MAX_CHARS = 2000

#: Bytes of a namespace name.
NAMESPACE_MAX_BYTES = 255

#: Bytes of a natural key.
KEY_MAX_BYTES = 512

#: Hex digits that a short id must have.
ID_PREFIX_MIN_HEX = 8

#: Edit distance up to which a registered verb is suggested for an unknown one.
UNKNOWN_VERB_DISTANCE = 2

#: Writes waiting for the writer of one process, verb surface.
WRITER_QUEUE_SIZE = 256

#: Writes waiting for the writer of one process, gateway surface.
GATEWAY_QUEUE_SIZE = 64

#: Wait for a free place in the writer's queue before a typed refusal.
WRITER_ADMISSION_WAIT_MS = 2000

#: A refused BEGIN IMMEDIATE is counted and tried again after this time, until the busy timeout is used up.
WRITER_BEGIN_RETRY_MS = 2000

#: Wait of a read for its audit row while a writer holds the lock.
AUDIT_READ_WAIT_MS = 25

#: Audit rows of reads that may wait in memory for a free moment of the store.
AUDIT_BACKLOG_MAX = 10000

#: Bytes of a search query.
SEARCH_QUERY_MAX_BYTES = 65536

#: Terms of a search query that are looked up; later ones are ignored.
SEARCH_MAX_TERMS = 64

#: Merge redirects followed by one read.
REDIRECT_HOPS_MAX = 32

#: Entities that a caller named last and resolve still thinks of.
RECENT_ENTITIES_MAX = 64

#: Callers whose last named entities are kept at once; the one that was quiet longest gives way.
RECENT_CALLERS_MAX = 1024

#: Edges that one traverse or context may look at, over all its roots.
GRAPH_ROWS_MAX = 100000

#: Time that one traverse or context may spend on following edges.
GRAPH_EXPANSION_MS = 5000

#: Candidates that an ambiguity error lists.
AMBIGUOUS_SHOWN = 20

#: Same-name records that create points out.
POSSIBLE_DUPLICATES_MAX = 5

#: Examples that a help answer carries.
HELP_EXAMPLES_MAX = 4

#: Tables and indexes that a size report lists one by one.
DIAGNOSTICS_OBJECTS_MAX = 4096

#: Bytes of a query text.
QUERY_MAX_BYTES = 65536

#: Depth of brackets and of conditions in a query.
QUERY_MAX_NESTING = 50

#: Patterns, conditions, columns and sort keys of a query, together.
QUERY_MAX_PARTS = 500

#: Most hops of a path whose text gives no upper bound; exactly n for a GQL path of n or more hops when n is
#: larger.
QUERY_HOPS_DEFAULT = 5

#: Most hops that a path may ask for.
QUERY_HOPS_MAX = 10

#: Compiled queries that a process keeps.
QUERY_PLANS_KEPT = 256

#: Time that one query may run.
QUERY_BUDGET_MS = 5000

#: Rows of a page when no limit is given.
LIST_DEFAULT = 20

#: Most rows of one page.
LIST_CAP: dict[str, int] = {"entity": 500, "note": 200, "edge": 1000, "event": 1000, "proposal": 500}

#: Rows that one filtered note page may look at.
NOTE_SCAN_CEILING = 10000

#: Rows that one filtered event page may look at.
EVENT_SCAN_CEILING = 10000

#: Most rows of one neighbors page.
NEIGHBORS_CAP = 1000

#: Hits when no limit is given.
SEARCH_DEFAULT = 10

#: Most hits of one search.
SEARCH_CAP = 100

#: Candidates looked at for each hit asked for, when a filter or a time order follows the ranking.
SEARCH_WINDOW_FACTOR = 50

#: Most candidates looked at.
SEARCH_WINDOW_CAP = 500

#: Candidates an arm fetches for each place in the window.
SEARCH_ARM_FACTOR = 4

#: Rank constant of entity scores.
ENTITY_RRF_K = 10

#: Rank constant of note scores.
NOTE_RRF_K = 60

#: Most steps of one changeset.
PROPOSAL_STEPS_MAX = 1000

#: Numbers of context when they are not given.
CONTEXT_DEFAULT: dict[str, int] = {"hops": 1, "budget": 4096, "limit": 5, "fanout": 10}

#: A lower number is raised to this.
CONTEXT_MIN: dict[str, int] = {"hops": 0, "budget": 256, "limit": 1, "fanout": 1}

#: A higher number is lowered to this.
CONTEXT_MAX: dict[str, int] = {"hops": 2, "budget": 65536, "limit": 20, "fanout": 50}

#: Hits that context looks at for each anchor, given or wanted.
CONTEXT_SEARCH_FACTOR = 4

#: Rows of a page of query when no size is given.
QUERY_PAGE_DEFAULT = 500

#: Most rows of one page of query.
QUERY_PAGE_CAP = 10000

#: Hits that resolve compares at least.
RESOLVE_SEARCH_DEPTH = 20

#: How many times the score of the second hit the first must have to be taken.
RESOLVE_LEAD = 2.0

#: Confidence by the way a reference was resolved.
RESOLVE_CONFIDENCE: dict[str, float] = {"id": 1.0, "exact_name": 0.98, "recent": 0.95, "recent_part": 0.7, "search": 0.6}

#: Characters of a snippet.
SNIPPET_MAX_CHARS = 200

#: Most items of one bulk create and links of one bulk link.
BULK_CAP = 1000

#: Records and edges that one merge may change or remove.
MERGE_ROWS_CAP = 50000

#: Characters from which a name that begins another one counts as alike.
MERGE_PREFIX_MIN_CHARS = 3

#: Stands between two texts that a merge joins.
MERGE_SEPARATOR = '\n\n---\n\n'
