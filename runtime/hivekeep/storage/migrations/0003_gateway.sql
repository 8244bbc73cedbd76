-- The agent event gateway: runs, their intake and ledger, what was delivered to them, and what they said of it.
-- Moments are microseconds like everywhere, in whole milliseconds: the gateway's timestamps have no more digits.
CREATE TABLE agent_runs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    workspace TEXT NOT NULL,
    client_kind TEXT NOT NULL,
    client_version TEXT,
    client_session_id TEXT,
    capture_profile TEXT NOT NULL,
    coverage TEXT NOT NULL,
    status TEXT NOT NULL,
    title TEXT NOT NULL,
    task TEXT NOT NULL,
    task_hash TEXT NOT NULL,
    metadata TEXT NOT NULL,
    binding_digest TEXT,
    parent_run_id TEXT,
    last_sequence INTEGER NOT NULL,
    last_source_sequence INTEGER,
    last_event_hash TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX agent_runs_id ON agent_runs (id);
-- A page of runs walks one of these, newest first; ties are in the order of their ids.
CREATE INDEX agent_runs_listed ON agent_runs (workspace, created_at DESC, id);
CREATE INDEX agent_runs_by_status ON agent_runs (workspace, status, created_at DESC, id);
CREATE INDEX agent_runs_by_client ON agent_runs (workspace, client_kind, created_at DESC, id);

CREATE TABLE agent_intakes (
    run_seq INTEGER PRIMARY KEY REFERENCES agent_runs (seq),
    session_id TEXT NOT NULL,
    policy_version TEXT NOT NULL,
    profile_version INTEGER NOT NULL,
    status TEXT NOT NULL,
    question_count INTEGER NOT NULL,
    profile TEXT NOT NULL,
    sources TEXT NOT NULL,
    declined TEXT NOT NULL,
    tags TEXT NOT NULL,
    profile_hash TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    finalised_at INTEGER
) STRICT;
CREATE UNIQUE INDEX agent_intakes_session ON agent_intakes (session_id);
CREATE TABLE agent_answers (
    run_seq INTEGER NOT NULL REFERENCES agent_runs (seq),
    position INTEGER NOT NULL,
    question_id TEXT NOT NULL,
    value TEXT NOT NULL,
    answered_at INTEGER NOT NULL,
    PRIMARY KEY (run_seq, position)
) STRICT, WITHOUT ROWID;

-- The ledger. Rows are only ever added, and go with their run alone.
CREATE TABLE agent_events (
    seq INTEGER PRIMARY KEY,
    run_seq INTEGER NOT NULL REFERENCES agent_runs (seq),
    sequence INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    source_event_id TEXT,
    source_sequence INTEGER,
    event_type TEXT NOT NULL,
    source_type TEXT,
    actor TEXT NOT NULL,
    outcome TEXT,
    occurred_at INTEGER NOT NULL,
    ingested_at INTEGER NOT NULL,
    payload TEXT NOT NULL,
    redaction TEXT NOT NULL,
    previous_hash TEXT NOT NULL,
    event_hash TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX agent_events_listed ON agent_events (run_seq, sequence);
CREATE UNIQUE INDEX agent_events_id ON agent_events (event_id);
CREATE UNIQUE INDEX agent_events_source ON agent_events (run_seq, source_event_id) WHERE source_event_id IS NOT NULL;
CREATE INDEX agent_events_by_type ON agent_events (run_seq, event_type, sequence);
-- The state that the events of a run add up to, folded through that sequence.
CREATE TABLE agent_projections (
    run_seq INTEGER PRIMARY KEY REFERENCES agent_runs (seq),
    through_sequence INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT;

-- What was answered to each key. The key itself is not kept, and the row goes with its run.
CREATE TABLE agent_idempotency (
    scope TEXT NOT NULL,
    key_hash TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    response TEXT NOT NULL,
    run_seq INTEGER NOT NULL REFERENCES agent_runs (seq),
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX agent_idempotency_key ON agent_idempotency (scope, key_hash);
CREATE INDEX agent_idempotency_of_run ON agent_idempotency (run_seq);

-- What was delivered: entries and exact revisions, no copies of their texts.
CREATE TABLE agent_deliveries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    run_seq INTEGER NOT NULL REFERENCES agent_runs (seq),
    through_sequence INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    profile_hash TEXT NOT NULL,
    query_hash TEXT NOT NULL,
    history_hash TEXT NOT NULL,
    policy_version TEXT NOT NULL,
    character_budget INTEGER NOT NULL,
    character_count INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX agent_deliveries_id ON agent_deliveries (id);
CREATE INDEX agent_deliveries_of_run ON agent_deliveries (run_seq, query_hash);
-- The newest one of a run, however many it had.
CREATE INDEX agent_deliveries_in_order ON agent_deliveries (run_seq);
CREATE TABLE agent_delivery_items (
    delivery_seq INTEGER NOT NULL REFERENCES agent_deliveries (seq),
    rank INTEGER NOT NULL,
    entry_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    origin TEXT NOT NULL,
    score_components TEXT NOT NULL,
    selection_reasons TEXT NOT NULL,
    character_count INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    PRIMARY KEY (delivery_seq, rank)
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_delivery_items_by_entry ON agent_delivery_items (entry_id, delivery_seq);

-- What agents said of deliveries, recommendations, questions and outcomes; a field has a value in the categories it is of.
CREATE TABLE agent_feedback (
    seq INTEGER PRIMARY KEY,
    category TEXT NOT NULL,
    feedback_id TEXT NOT NULL,
    run_seq INTEGER NOT NULL REFERENCES agent_runs (seq),
    actor TEXT NOT NULL,
    key_hash TEXT NOT NULL,
    delivery_id TEXT,
    entry_id TEXT,
    entry_revision INTEGER,
    verdict TEXT,
    recommendation_code TEXT,
    recommendation_verdict TEXT,
    outcome TEXT,
    rating INTEGER,
    question_id TEXT,
    profile_field TEXT,
    session_id TEXT,
    comment TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX agent_feedback_id ON agent_feedback (category, feedback_id);
CREATE UNIQUE INDEX agent_feedback_key ON agent_feedback (run_seq, actor, key_hash);
-- Which runs gave a verdict on an exact revision: two of them are looked at, however many there are.
CREATE INDEX agent_feedback_by_entry ON agent_feedback (entry_id, entry_revision, verdict, run_seq)
    WHERE entry_id IS NOT NULL;

CREATE TABLE agent_nudges (
    seq INTEGER PRIMARY KEY,
    run_seq INTEGER NOT NULL REFERENCES agent_runs (seq),
    policy_version TEXT NOT NULL,
    code TEXT NOT NULL,
    occurrence_id TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    through_sequence INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    evidence_event_ids TEXT NOT NULL,
    reference_ids TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX agent_nudges_occurrence ON agent_nudges (run_seq, occurrence_id);
CREATE UNIQUE INDEX agent_nudges_checkpoint ON agent_nudges (checkpoint_id);

-- Which proposal became which entry.
CREATE TABLE agent_memory_links (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    run_seq INTEGER NOT NULL REFERENCES agent_runs (seq),
    event_id TEXT NOT NULL,
    delivery_id TEXT,
    entry_id TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX agent_memory_links_id ON agent_memory_links (id);
CREATE UNIQUE INDEX agent_memory_links_event ON agent_memory_links (event_id);
CREATE INDEX agent_memory_links_by_run ON agent_memory_links (run_seq);

-- That a run was purged, without anything of its content: what its ledger ended with, and which key opened it, so that
-- the open is not carried out once more. Until `erased_at` the file may hold bytes of the run in unused places.
CREATE TABLE agent_run_purges (
    seq INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL,
    event_count INTEGER NOT NULL,
    last_event_hash TEXT NOT NULL,
    open_key_hash TEXT,
    actor TEXT NOT NULL,
    purged_at INTEGER NOT NULL,
    erased_at INTEGER
) STRICT;
CREATE UNIQUE INDEX agent_run_purges_run ON agent_run_purges (run_id);
CREATE UNIQUE INDEX agent_run_purges_open_key ON agent_run_purges (open_key_hash);
CREATE INDEX agent_run_purges_unerased ON agent_run_purges (seq) WHERE erased_at IS NULL;
