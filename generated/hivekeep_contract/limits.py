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

#: Candidates that an ambiguity error lists.
AMBIGUOUS_SHOWN = 20

#: Same-name records that create points out.
POSSIBLE_DUPLICATES_MAX = 5

#: Examples that a help answer carries.
HELP_EXAMPLES_MAX = 4

#: Rows of a page when no limit is given.
LIST_DEFAULT = 20

#: Most rows of one page.
LIST_CAP: dict[str, int] = {"entity": 500, "note": 200, "edge": 1000, "event": 1000}

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

#: Characters of a snippet.
SNIPPET_MAX_CHARS = 200
