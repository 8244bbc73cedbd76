"""Numbers the server keeps.

Printed from registry/limits.yaml and the constants of registry/packs/ and registry/gateway/ by `make generate`; do not
edit.
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

#: Records of the namespaces and kind of a search up to which words count as rare by how many of these have
#: them, where the index holds others; beyond, by how many of all have them.
TEXT_SCOPE_RECORDS_MAX = 4000

#: The same for the product of the records and the phrases of the query: a hit is looked at once for each
#: phrase.
TEXT_SCOPE_WORK_MAX = 60000

#: Times that more neighbors of a vector are read, each time twice as many, while too few of them meet the
#: filters; then the vectors of all records that do are compared.
VECTOR_ROUNDS = 3

#: English words that say nothing about a subject. any_term leaves them out while another term is left;
#: all_terms keeps them.
STOP_WORDS: list[str] = [
    "a",
    "about",
    "aint",
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
    "cant",
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
    "shant",
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
    "wont",
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

#: Searches of an unchanged namespace and kind after which its vectors are held in memory: about what reading
#: them costs.
VECTOR_SCANS_BEFORE_HELD = 4

#: Size of the vectors that one process holds in memory.
VECTOR_MEMORY_MAX_BYTES = 67108864

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

#: Events of one request; also the entries of each list of a checkpoint.
GATEWAY_BATCH_MAX = 200

#: Events that one closing takes; the end of the run is one more.
GATEWAY_CLOSE_BATCH_MAX = 199

#: Bytes of one sanitised payload, task, answer or metadata object as canonical JSON.
GATEWAY_PAYLOAD_MAX_BYTES = 65536

#: Depth of arrays and objects in a request.
GATEWAY_NESTING_MAX = 64

#: UTF-16 units of an id that a client chooses.
GATEWAY_ID_MAX_UNITS = 256

#: UTF-16 units of a text.
GATEWAY_TEXT_MAX_UNITS = 16384

#: UTF-16 units of a goal, step, path, signature or open item of a checkpoint.
GATEWAY_STEP_MAX_UNITS = 4096

#: Bytes of an Idempotency-Key.
GATEWAY_KEY_MAX_BYTES = 256

#: Items of one page, also when no limit is given.
GATEWAY_PAGE_MAX = 100

#: Bytes after which a page of events ends early.
GATEWAY_PAGE_MAX_BYTES = 1048576

#: Bytes of one response.
GATEWAY_RESPONSE_MAX_BYTES = 2097152

#: Bytes of a comment of feedback, after sanitising.
GATEWAY_COMMENT_MAX_BYTES = 4096

#: Seconds that a refused write is asked to wait.
GATEWAY_RETRY_AFTER_S = 1

#: Most seconds that a refused write is asked to wait.
GATEWAY_RETRY_AFTER_MAX_S = 60

#: Characters of context when the request names no budget.
CONTEXT_BUDGET_CHARS = 8000

#: Most characters of context.
CONTEXT_BUDGET_MAX_CHARS = 100000

#: Most items of one context.
CONTEXT_ITEMS = 20

#: The form of a stored projection; one of another form is folded again from the first event.
PROJECTION_VERSION = 1

#: Where the profile of a checkpoint comes from.
PROJECTED_PROFILE_SOURCE = "akinator+ledger-revisions"

#: Event ids of one recommendation; also its references.
RECOMMENDATION_IDS_MAX = 16

#: The rules of nudges.
NUDGE_POLICY_VERSION = "nudges.v1"

#: Nudges of one run.
NUDGES_PER_RUN = 3

#: Local sequences between two nudges of the same code.
NUDGE_DISTANCE = 3

#: Items of a capability catalog; later ones are dropped.
CATALOG_ITEMS_MAX = 200

#: Code points of the name of a capability.
CATALOG_NAME_MAX = 300

#: Code points of a description as it was sent; a longer one is left out and its item kept.
CATALOG_DESCRIPTION_RAW_MAX = 64000

#: Code points of a description that are kept; the last one of a shortened description is an ellipsis.
CATALOG_DESCRIPTION_MAX = 2000

#: Code points of all names and descriptions of a catalog as they were sent; what goes beyond is dropped.
CATALOG_RAW_MAX = 512000

#: Version of the catalog digest, stored beside it in the metadata of a run.
CATALOG_BINDING_VERSION = 3

#: Key of the metadata of a run that belongs to the gateway and names the catalog that the run was opened
#: with.
CATALOG_BINDING_KEY = "kiokukoCapabilityCatalogBinding"

#: The Skill that every answer with memory needs; matched by its exact name.
SOUL_SKILL = "kiokuko-soul"

#: The Skill that memory for building and debugging needs; matched by its exact name.
MEMORY_SKILL = "memory-reasoning"

#: The Skill recommended for work on a user interface.
UI_SKILL = "kiokuko-ui-design-soul"

#: The Skill recommended for writing code.
FUNCTIONS_SKILL = "kiokuko-single-purpose-functions"

#: A recommended tag that begins so names a Skill.
SKILL_TAG_PREFIX = "skill:"

#: Points of a catalog item for each word that it shares with the task.
SIMILAR_TASK_WEIGHT = 3

#: Points of a catalog item for each word that it shares with the role of the task type.
SIMILAR_ROLE_WEIGHT = 1

#: Points from which a catalog item is similar to the task; one word of the task is enough, of the role it
#: takes three.
SIMILAR_SCORE_MIN = 3

#: Characters below which a word of Latin letters says too little to make two texts similar.
SIMILAR_WORD_MIN = 3

#: Catalog items that are recommended for their similarity.
SIMILAR_ITEMS_MAX = 5

#: Characters of the title of an entry.
ENTRY_TITLE_MAX = 2000

#: Characters of the summary of an entry.
ENTRY_SUMMARY_MAX = 4000

#: Characters of the body of an entry.
ENTRY_BODY_MAX = 100000

#: Tags of an entry.
ENTRY_TAGS_MAX = 100

#: Characters of one tag of an entry.
ENTRY_TAG_MAX = 200

#: Bytes of the scope of an entry as canonical JSON.
ENTRY_SCOPE_MAX_BYTES = 65536

#: Depth of arrays and objects in the scope of an entry.
ENTRY_SCOPE_DEPTH_MAX = 6

#: Items of each list of a structured scope.
ENTRY_SCOPE_ITEMS_MAX = 100

#: Characters of each text of a structured scope.
ENTRY_SCOPE_TEXT_MAX = 500

#: The version of the structured scope; a scope that names a version must have this one.
ENTRY_SCOPE_VERSION = 2

#: Characters of the reference of a provenance.
ENTRY_REFERENCE_MAX = 16384

#: Source paths of a provenance; also its evidence ids.
ENTRY_PATHS_MAX = 200

#: Where an entry stands when it was recorded.
ENTRY_STATUS_DEFAULT = "candidate"

#: Who vouches for an entry that a person records.
ENTRY_TRUST_DEFAULT = "user_asserted"

#: Confidence in an entry that a person records.
ENTRY_CONFIDENCE_DEFAULT = 1.0

#: Who records on the command line when no actor is named.
ENTRY_AUTHOR_DEFAULT = "hivekeep-cli"

#: Who vouches for an entry of a managed source.
SOURCE_TRUST = "source_verified"

#: Confidence in an entry of a managed source that names none.
SOURCE_CONFIDENCE = 1.0

#: The type of the provenance of an entry of a managed source.
SOURCE_PROVENANCE_TYPE = "managed_source"

#: Characters of what a managed source calls one of its entries.
SOURCE_MAPPING_MAX = 1000

#: Kind of an entry that is read from a Markdown file which names none.
SOURCE_KIND_DEFAULT = "reference"

#: Files of a folder that is imported as a source.
SOURCE_FILES_MAX = 10000

#: Bytes of one file of such a folder.
SOURCE_FILE_MAX_BYTES = 1048576

#: The workspace that holds for every repository.
GLOBAL_WORKSPACE = "global"

#: The repository id of that workspace.
GLOBAL_REPOSITORY = "hivekeep_global"

#: How the id of a repository begins that is known by its folder alone.
LOCAL_REPOSITORY_PREFIX = "repo_local_"

#: How the id of a repository begins that is known by its remote.
REMOTE_REPOSITORY_PREFIX = "repo_git_"

#: Hex digits of a hash in the id of a repository.
REPOSITORY_DIGITS = 12

#: The version of the form of a project file.
PROJECT_FILE_VERSION = 1

#: The largest project file that is read.
PROJECT_FILE_MAX_BYTES = 65536

#: Entries of one answer of a search when no limit is given.
CURATED_LIST_DEFAULT = 20

#: Most entries of one answer of a search.
CURATED_LIST_MAX = 200

#: What the manifest of an exported file calls itself.
ARCHIVE_FORMAT = "hivekeep-curated"

#: The version of the form of an exported file.
ARCHIVE_VERSION = 2

#: Lines of an exported file.
ARCHIVE_LINES_MAX = 1000000

#: Bytes of one line of an exported file.
ARCHIVE_LINE_MAX_BYTES = 2097152

#: Bytes of an exported file.
ARCHIVE_MAX_BYTES = 268435456

#: The tag of a memory that was copied from an entry.
COPIED_TAG = "curated"

#: The idempotency key of such a memory.
COPIED_KEY = "curated:{entry}:{revision}"

#: The tag that names the entry.
COPIED_ORIGIN = "curated:{entry}"

#: The tag that names the revision.
COPIED_REVISION = "curated-revision:{revision}"

#: The rules of the intake; kept beside each session.
INTAKE_POLICY_VERSION = "v2"

#: The form of a task profile; kept beside each session.
INTAKE_PROFILE_VERSION = 1

#: Questions of one intake.
INTAKE_QUESTION_BUDGET = 3

#: The answer, in any case, that leaves a slot open and spends the question.
INTAKE_UNKNOWN_ANSWER = "unknown"

#: Findings that one inspection of ledgers tells.
LEDGER_FINDINGS_MAX = 100

#: Open failures that a projection names, and so many unknown outcomes; of more than these the newest.
PROJECTION_OPEN_MAX = 2000

#: Abandoned runs that one purge removes.
LEDGER_PURGE_MAX = 1000

#: The largest runtime descriptor or lock record that is read.
RUNTIME_FILE_MAX_BYTES = 65536

#: Milliseconds that a client of this machine waits for a connection, and for an answer to a health probe.
CLIENT_CONNECT_TIMEOUT_MS = 2000

#: Milliseconds that a client of this machine waits for the answer to a gateway request.
CLIENT_TIMEOUT_MS = 60000

#: Writes that wait on disk for a server, those that it refused included.
SPOOL_ENTRIES_MAX = 1000

#: Bytes that these writes take.
SPOOL_MAX_BYTES = 67108864

#: Characters of the one text of all parts of a task that memory is searched for.
RETRIEVAL_TEXT_MAX = 16384

#: Characters of one part of a task that memory is searched for.
RETRIEVAL_PART_MAX = 2000

#: Terms of one text; later ones are ignored.
RETRIEVAL_TERMS_MAX = 64

#: Characters of one term.
RETRIEVAL_TERM_MAX = 512

#: Different terms of one question that are shorter than what an index holds, such as one character of
#: Chinese; later ones are ignored, because entries may have to be compared for each.
RETRIEVAL_SHORT_TERMS_MAX = 16

#: Paths, errors, symbols, packages, commands and tags of one question that are looked up exactly.
RETRIEVAL_VALUES_MAX = 400

#: Entries of a workspace that are read for one term, the newest.
RETRIEVAL_POSTINGS_MAX = 600

#: Entries that one way of searching gives for one text, the best.
RETRIEVAL_LANE_MAX = 120

#: Entries that all ways of searching together give for one text.
RETRIEVAL_MERGED_MAX = 1000

#: Entries that one text finds.
RETRIEVAL_HITS_MAX = 500

#: An entry at rank r of a lane gets the weight of the lane divided by this number plus r.
RETRIEVAL_RANK_OFFSET = 60

#: Different words of one text that an entry holds to be a lexical match.
LEXICAL_MATCH_WORDS = 2

#: Entries that are ranked; of more than that the best found.
RANKING_CANDIDATES_MAX = 500

#: Tags of an entry; one with more is not ranked.
RANKING_TAGS_MAX = 500

#: Points of full confidence.
RANKING_CONFIDENCE_POINTS = 20

#: Points when the kind or a tag of an entry fits the sort of task.
RANKING_AFFINITY_POINTS = 12

#: Points for each recommended tag.
RANKING_TAG_POINTS = 10

#: Most points for recommended tags.
RANKING_TAG_POINTS_MAX = 20

#: Points when an entry shares a word with the target or a changed path.
RANKING_PATH_POINTS = 12

#: Points for each error signature that an entry names.
RANKING_ERROR_POINTS = 15

#: Most points for error signatures.
RANKING_ERROR_POINTS_MAX = 30

#: Most points that feedback adds, or takes away.
RANKING_FEEDBACK_MAX = 4

#: Runs that count for one verdict on an entry.
RANKING_FEEDBACK_RUNS_MAX = 2

#: Most points for being newer than the oldest candidate, one a day.
RANKING_RECENCY_MAX = 5

#: Characters below which a word of a path or target tells nothing.
RANKING_WORD_MIN = 3

#: The rules of ranking and advice that a delivery followed.
CONTEXT_POLICY = "context-ranking-v1+recommendations.v1"

#: What the id of a delivery begins with.
DELIVERY_ID_PREFIX = "context-"

#: Entries, pairs of entries or proposals that advice looks at: one more than it shows.
DELIVERY_REFERENCES_MAX = 17

#: Who gave feedback when the request names nobody.
FEEDBACK_ACTOR = "hivekeep-feedback"

#: Between the key of a checkpoint and the number of one of its judgements, in the key of that judgement.
CHECKPOINT_FEEDBACK_MARK = "#"

#: Confidence of an entry that was made of a proposal.
PROMOTION_CONFIDENCE = 0.25

#: Who vouches for an entry that was made of a proposal.
PROMOTION_TRUST = "untrusted"

#: Where an entry stands that was made of a proposal.
PROMOTION_STATUS = "candidate"

#: The provenance of an entry that was made of a proposal.
PROMOTION_PROVENANCE = "ledger_promotion"

#: Stands for a value whose key says that it is a credential.
REDACTION_MARK = "[REDACTED]"

#: Stands for the home folder of the server at the front of a path.
REDACTION_HOME_MARK = "<HOME>"

#: Ends an output that was cut.
REDACTION_ELLIPSIS = "…"

#: Bytes of an output that are kept, with the ellipsis.
REDACTION_PREVIEW_MAX_BYTES = 4096

#: Characters of the redaction list of one value; what needs more is refused.
REDACTION_LIST_MAX_CHARS = 65536
