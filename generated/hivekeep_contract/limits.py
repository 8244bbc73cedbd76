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

#: Time between two looks of a process at whether the store has changed, while some call waits.
WAIT_LOOK_EVERY_MS = 50

#: Writes of telemetry that may wait in memory; further ones are dropped and counted.
DEFERRED_WRITES_MAX = 10000

#: Bytes of a search query.
SEARCH_QUERY_MAX_BYTES = 65536

#: Terms of a search query that are looked up; later ones are ignored.
SEARCH_MAX_TERMS = 64

#: How much a match in each of the two texts counts in the score of a text index: a title says what a record
#: is about.
TEXT_WEIGHTS: dict[str, float] = {"title": 2.0, "body": 1.0}

#: Times that more neighbors of a vector are read, each time twice as many, while too few of them meet the
#: filters; then the vectors of all records that do are compared.
VECTOR_ROUNDS = 3

#: English words that say nothing about a subject. any_term leaves them out while another term is left;
#: all_terms keeps them.
STOP_WORDS: list[str] = [
    "a",
    "about",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "for",
    "from",
    "had",
    "has",
    "have",
    "he",
    "her",
    "him",
    "his",
    "how",
    "i",
    "if",
    "im",
    "in",
    "into",
    "is",
    "it",
    "its",
    "ive",
    "me",
    "my",
    "no",
    "nor",
    "not",
    "of",
    "on",
    "or",
    "our",
    "she",
    "should",
    "so",
    "than",
    "that",
    "thats",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "was",
    "we",
    "were",
    "what",
    "whats",
    "when",
    "where",
    "which",
    "who",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
]

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

#: Tokens of a text that MiniLM looks at, its two special ones included.
EMBEDDING_MINILM_TOKENS_MAX = 256

#: Numbers of a vector of MiniLM.
EMBEDDING_MINILM_DIMS = 384

#: Numbers of a vector of the embedder `hashed`.
EMBEDDING_HASHED_DIMS = 384

#: Bytes of a text that the embedder `hashed` looks at.
EMBEDDING_HASHED_BYTES_MAX = 8192

#: Vectors of queries that a process keeps.
EMBEDDING_QUERY_VECTORS_KEPT = 256

#: Bytes of one answer of an embedding endpoint.
EMBEDDING_RESPONSE_BYTES_MAX = 67108864

#: Times that one request to an embedding endpoint is tried, the first one included.
EMBEDDING_REQUEST_TRIES = 3

#: Wait before a failed embedding is tried again; it doubles with every failure.
EMBEDDING_RETRY_FIRST_MS = 500

#: Longest wait before a failed embedding is tried again.
EMBEDDING_RETRY_WAIT_MAX_MS = 300000

#: Time after which the work of a process that embeds and went silent is taken over by another one.
EMBEDDING_LEASE_MS = 30000

#: Time between two looks of the embedding worker for changes that other connections made.
EMBEDDING_POLL_MS = 100

#: The embedding worker looks into its queue after this time even if nothing changed.
EMBEDDING_LOOK_AGAIN_MS = 5000

#: Time between two looks of the embedding worker for vectors without a record.
EMBEDDING_SWEEP_MS = 3600000

#: Vectors of each sort that one transaction of the embedding worker clears up.
EMBEDDING_SWEEP = 200

#: Wait of the embedding worker while writes wait for the writer.
EMBEDDING_PAUSE_MS = 50

#: Vectors that one chunk of a partition has room for; a namespace and kind takes space by whole chunks.
VECTOR_CHUNK_SIZE = 32

#: The same of the one-bit codes of vectors.
VECTOR_CODE_CHUNK_SIZE = 512

#: Vectors of one namespace and kind up to which a search compares every one; beyond, it compares codes first.
VECTOR_EXACT_MAX = 6000

#: One vector in this many is in the sample that tells a search how near the codes of the best lie.
VECTOR_SAMPLE_EVERY = 32

#: Vectors that a search by codes compares exactly at least.
VECTOR_CANDIDATES_MIN = 320

#: Vectors that a search by codes compares exactly for each one it wants.
VECTOR_CANDIDATES_EACH = 12

#: Vectors that a search by codes compares exactly at most; one that needs more compares everything.
VECTOR_CANDIDATES_MAX = 2400

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

#: Salience of a task of each priority.
TASK_SALIENCE: dict[str, float] = {"p0": 1.0, "p1": 0.75, "p2": 0.5, "p3": 0.25}

#: Priority of a task that was given none.
TASK_PRIORITY = "p2"

#: Statuses of a task that somebody can work on.
ACTIONABLE_STATUSES: list[str] = ["next", "active"]

#: Most tasks of one answer.
TASKS_CAP = 200

#: Candidates that gtd.next looks at; more of them are refused.
NEXT_CANDIDATES_MAX = 20000

#: Tasks, and dependencies, that the search for a circle looks at; a larger graph is refused.
DEPENDENCY_WALK_MAX = 20000

#: Tasks of one repair.
REPAIR_ITEMS_MAX = 100

#: Candidates on a page of gtd.census when no limit is given.
CENSUS_PAGE_DEFAULT = 100

#: What gtd.census says of its own counts.
CENSUS_INTERPRETATION = "Counts of raw stored values by their size. No unit is inferred, and comparing two raw values is not comparing two moments."

#: Salience of a memory that was given none.
MEMORY_SALIENCE: dict[str, float] = {"episodic": 0.3, "semantic": 0.5}

#: Decay a day of a memory that was given none: half is left after 35 and 139 days.
MEMORY_DECAY: dict[str, float] = {"episodic": 0.02, "semantic": 0.005}

#: Memories when no limit is given.
RECALL_DEFAULT = 10

#: Most memories of one recall.
RECALL_LIMIT_CAP = 200

#: Most memories when top_k gives the number.
RECALL_TOP_K_CAP = 100

#: A floor above 1 is a share of this number.
RECALL_PERCENT = 100.0

#: Letters that a query needs; one character of a script without letters is enough.
RECALL_MIN_LETTERS = 2

#: A word of a query says nothing when fewer of its letters are distinct.
RECALL_REPEATED_SHARE = 0.4

#: Letters from which a word can be one that only repeats letters.
RECALL_REPEATED_MIN_LETTERS = 3

#: Terms of a query that the text leg looks up; later ones are ignored.
RECALL_TERMS = 64

#: Candidates of each leg for each memory asked for.
RECALL_CANDIDATES_FACTOR = 20

#: Candidates of each leg at least.
RECALL_CANDIDATES_MIN = 40

#: Candidates of each leg at most.
RECALL_CANDIDATES_CAP = 200

#: Best hits of the text leg whose neighbors are candidates too.
RECALL_NEIGHBOUR_SOURCES = 50

#: Factor by which the legs are widened when too few of their candidates count.
RECALL_WIDENING = 4

#: Times that candidates are gathered, the first one included.
RECALL_ROUNDS = 3

#: Time that one recall may take.
RECALL_DEADLINE_MS = 30000

#: A candidate whose vector is less similar than this is dropped.
RECALL_COSINE_FLOOR = 0.1

#: Relevance of the weakest candidate.
RECALL_RELEVANCE_FLOOR = 0.15

#: Relevance of the strongest candidate.
RECALL_RELEVANCE_CEILING = 0.82

#: Fused score from which the strongest candidate counts in full.
RECALL_FULL_CONFIDENCE = 0.025

#: Weights of the three parts when no profile serves the caller.
RECALL_WEIGHTS: dict[str, float] = {"relevance": 0.7, "salience": 0.2, "temporal": 0.1}

#: Decay a day above which a ranking does not go.
RECALL_DECAY_CAP = 0.05

#: Age in days up to which an episode is fresh.
RECALL_FRESH_DAYS = 7.0

#: What a fresh episode gains.
RECALL_FRESH_BONUS = 0.05

#: Factor of a memory that mentions a named entity.
RECALL_ENTITY_BOOST = 1.3

#: How far the feedback on a memory moves its score: the factor is one plus this times the distance of the
#: mean from a half.
RECALL_POSTERIOR_GAIN = 0.3

#: Smallest factor of the feedback on a memory.
RECALL_POSTERIOR_MIN = 0.85

#: Largest factor of the feedback on a memory.
RECALL_POSTERIOR_MAX = 1.15

#: Age at which the temporal part of a breakdown is a half.
RECALL_TEMPORAL_HALF_LIFE_DAYS = 30.0

#: Words and pairs of words of a query that are looked up as names of entities.
RECALL_ENTITY_LOOKUPS_MAX = 64

#: Two memories that begin with this many equal characters are near duplicates.
RECALL_DUPLICATE_CHARS = 100

#: What the weaker one of two near duplicates loses.
RECALL_DUPLICATE_PENALTY = 0.1

#: Bytes of content in one answer; ten whole conversation sessions must fit.
RECALL_CONTENT_BYTES = 65536

#: Characters of content with full_content=false.
RECALL_SHORT_CHARS = 200

#: The profile that every namespace has.
BUILTIN_PROFILE = "balanced-recall-v1"

#: What it serves.
BUILTIN_CONSUMER_KIND = "recall"

#: How a profile learns.
PROFILE_STATE_CLASS = "Bayesian"

#: Any actor, namespace or consumer kind, in a binding.
PROFILE_WILDCARD = "*"

#: Records of a profile that brain.profile lists, newest first.
PROFILE_TARGETS_SHOWN = 20

#: What a value that is no wildcard adds to how specific a binding is.
BINDING_SPECIFICITY: dict[str, int] = {"actor": 4, "namespace": 2, "consumer_kind": 1}

#: What a profile believes of the weight of relevance at first.
RELEVANCE_PRIOR: dict[str, float] = {"alpha": 7.0, "beta": 3.0}

#: What a profile believes of the weight of salience at first.
SALIENCE_PRIOR: dict[str, float] = {"alpha": 2.0, "beta": 8.0}

#: What a profile believes of the weight of recency at first.
TEMPORAL_PRIOR: dict[str, float] = {"alpha": 1.0, "beta": 9.0}

#: What a profile believes of a record before the first feedback on it.
TARGET_PRIOR: dict[str, float] = {"alpha": 1.0, "beta": 1.0}

#: Records that one profile remembers feedback on; the one it met first gives way.
POSTERIOR_TARGETS_MAX = 10000

#: Time up to which a recall speaks for recency.
FAST_RECALL_US = 50000

#: What one signal adds; a negative number speaks against the record.
FEEDBACK_WEIGHT: dict[str, float] = {
    "useful": 1.0,
    "not_useful": -1.0,
    "wrong": -1.0,
    "explicit_positive": 1.5,
    "explicit_negative": -1.5,
    "implicit_positive": 0.1,
    "implicit_negative": -0.1,
    "correction": -2.0,
}

#: Signals that were concluded and not said; they are gated.
FEEDBACK_IMPLICIT: list[str] = ["implicit_positive", "implicit_negative"]

#: Signals that only a named caller gives.
FEEDBACK_ATTRIBUTED: list[str] = ["explicit_positive", "explicit_negative", "correction"]

#: Signals that also speak against the weight of relevance.
FEEDBACK_RELEVANCE: list[str] = ["correction"]

#: Implicit signals on one record count together no more than this.
IMPLICIT_MASS_CAP = 1.5

#: Rounding that the cap forgives.
IMPLICIT_MASS_TOLERANCE = 1e-09

#: Time after which half of the implicit signals on a record are forgotten by the cap.
IMPLICIT_HALF_LIFE_DAYS = 7.0

#: Days after the last implicit signal on a record when the cap forgets it: 31 halvings leave less than the
#: rounding it forgives.
IMPLICIT_KEPT_DAYS = 217.0

#: Forgotten records that one implicit signal removes at most.
IMPLICIT_SWEEP = 20

#: What is believed for the use of each section at first.
SECTION_PRIOR_ALPHA: dict[str, float] = {
    "overview": 2.0,
    "core_model": 4.0,
    "boundary_conditions": 2.0,
    "formalism": 1.5,
    "operational_guidance": 6.0,
    "examples": 5.0,
    "failure_modes": 3.0,
    "expert_lens": 3.0,
    "references": 2.0,
    "other": 2.0,
}

#: What is believed against the use of each section at first.
SECTION_PRIOR_BETA: dict[str, float] = {
    "overview": 2.0,
    "core_model": 2.0,
    "boundary_conditions": 3.0,
    "formalism": 4.0,
    "operational_guidance": 1.5,
    "examples": 2.0,
    "failure_modes": 2.0,
    "expert_lens": 2.0,
    "references": 2.0,
    "other": 2.0,
}

#: What a created profile believes of the sections that its seed does not name.
SECTION_FILL_PRIOR: dict[str, float] = {"alpha": 2.0, "beta": 2.0}

#: What one signal about a section adds.
SECTION_STEP: dict[str, float] = {"useful": 1.0, "not_useful": -1.0, "wrong": -2.0}

#: Evidence that a section keeps; beyond it, old and new evidence shrink together.
SECTION_EVIDENCE_CAP = 100.0

#: Feedbacks during which the weights of sections are drawn instead of computed.
SECTION_EPOCH_START = 50

#: Temperature of the weights at the first feedback; it falls with every one.
SECTION_EXPLORE_TEMPERATURE = 1.0

#: Lowest temperature of drawn weights.
SECTION_TEMPERATURE_MIN = 1e-06

#: Temperature of the weights once nothing is drawn any more.
SECTION_SETTLED_TEMPERATURE = 0.1

#: Least weight of a section.
SECTION_WEIGHT_FLOOR = 0.05

#: Times that the weights are evened out to keep the floor.
SECTION_FLOOR_ROUNDS = 20

#: Events that brain.event_counts looks at, the newest ones, unless it is exhaustive.
EVENT_COUNTS_PAGE = 10000

#: Audit events and other events that it looks at each when no kind is given.
EVENT_COUNTS_SHARE = 5000

#: Largest window of an exhaustive count.
EVENT_COUNTS_MAX = 2000000

#: Events that an exhaustive count reads at a time.
EVENT_COUNTS_STEP = 20000

#: Days for which it is kept what was served to whom.
SERVE_LEDGER_DAYS = 90

#: Older rows that one append removes at most.
SERVE_LEDGER_SWEEP = 200

#: Records of one answer that are noted at once.
SERVE_TARGETS_MAX = 1000

#: Version of the properties of a message.
MESSAGE_SCHEMA_VERSION = 1

#: Messages of an inbox page when no limit is given.
INBOX_DEFAULT = 20

#: Most messages of an inbox page.
INBOX_CAP = 200

#: Longest wait for a message.
INBOX_WAIT_MAX_MS = 30000

#: Unread messages that are counted; a count of this size is a lower bound.
UNREAD_COUNT_CAP = 1000

#: Characters of content in a preview.
MESSAGE_PREVIEW_CHARS = 200

#: Messages that one call marks read.
MESSAGE_MARKS_MAX = 500

#: Messages of a thread page when no limit is given.
THREAD_DEFAULT = 100

#: Most messages of a thread page.
THREAD_CAP = 500

#: Messages that one probe names.
PROBE_MESSAGES_MAX = 100

#: Age in minutes from which an unread message counts as stale.
PROBE_STALE_MINUTES = 20

#: Longest staleness window of a probe; ten years.
PROBE_STALE_MINUTES_MAX = 5256000

#: Channels of one health report.
HEALTH_CHANNELS_MAX = 200

#: Missed polls after which a channel is stalled.
CHANNEL_STALLED_POLLS = 3

#: Longest time between two polls of a channel; a year.
CHANNEL_POLL_INTERVAL_MAX_SECS = 31536000

#: Bytes of a channel kind or slug.
CHANNEL_NAME_MAX_BYTES = 255

#: Days after which a quarantined message of a channel may go.
QUARANTINE_DAYS = 14

#: Events of schedule.agenda when no limit is given.
AGENDA_DEFAULT = 20

#: Most events of one answer of schedule.agenda.
AGENDA_MAX = 200

#: Due events that the dispatcher reads at a time.
SCHEDULE_PAGE = 200

#: A dispatcher that gave no sign of life for this long may be replaced.
SCHEDULE_LEASE_MS = 5000

#: Bytes of a result that are kept with the outcome of an occurrence; of a larger one only the size.
SCHEDULE_RESULT_BYTES = 65536

#: Characters of the last error that a scheduled event keeps.
SCHEDULE_ERROR_CHARS = 500

#: Most sessions of a page.
SESSION_PAGE_MAX = 200
