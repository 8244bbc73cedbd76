-- The base schema. Text ids, integer microseconds, JSON as text. `namespace` leads every index a namespace filter uses.

CREATE TABLE schema_migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;

-- Insertion sequences. A row stays after its record is hard-deleted, so a number never comes back.
CREATE TABLE entity_ledger (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL) STRICT;
CREATE TABLE note_ledger (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL) STRICT;
CREATE TABLE edge_ledger (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL) STRICT;

CREATE TABLE entities (
    seq INTEGER PRIMARY KEY REFERENCES entity_ledger (seq),
    id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    kind TEXT NOT NULL,
    entity_type TEXT,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    description TEXT,
    properties TEXT NOT NULL,
    tags TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    merged_into TEXT,
    merge_event_id TEXT,
    version INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX entities_id ON entities (id);
CREATE INDEX entities_deleted ON entities (id) WHERE deleted_at IS NOT NULL;
CREATE INDEX entities_listed ON entities (namespace, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX entities_by_kind ON entities (namespace, kind, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX entities_by_name ON entities (namespace, name_key) WHERE deleted_at IS NULL;

CREATE TABLE notes (
    seq INTEGER PRIMARY KEY REFERENCES note_ledger (seq),
    id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    name TEXT,
    content TEXT NOT NULL,
    salience REAL,
    decay_factor REAL,
    expires_at INTEGER,
    properties TEXT NOT NULL,
    key TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    merged_into TEXT,
    merge_event_id TEXT,
    version INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX notes_id ON notes (id);
CREATE INDEX notes_deleted ON notes (id) WHERE deleted_at IS NOT NULL;
CREATE INDEX notes_listed ON notes (namespace, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX notes_by_kind ON notes (namespace, kind, created_at, id) WHERE deleted_at IS NULL;
-- A deleted holder frees its key.
CREATE UNIQUE INDEX notes_by_key ON notes (namespace, kind, key) WHERE deleted_at IS NULL AND key IS NOT NULL;

CREATE TABLE edges (
    seq INTEGER PRIMARY KEY REFERENCES edge_ledger (seq),
    id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    source_id TEXT NOT NULL,
    target_id TEXT NOT NULL,
    relation TEXT NOT NULL,
    weight REAL NOT NULL,
    metadata TEXT,
    target_backend TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    version INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX edges_id ON edges (id);
-- The natural key holds over live and deleted edges: a deleted edge is resurrected, never doubled.
CREATE UNIQUE INDEX edges_natural ON edges (namespace, source_id, target_id, relation);
CREATE INDEX edges_deleted ON edges (id) WHERE deleted_at IS NOT NULL;
CREATE INDEX edges_listed ON edges (namespace, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX edges_by_source ON edges (source_id, relation);
CREATE INDEX edges_by_target ON edges (target_id, relation);

CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    verb TEXT NOT NULL,
    substrate TEXT NOT NULL,
    actor TEXT NOT NULL,
    kind TEXT NOT NULL,
    outcome TEXT NOT NULL,
    payload TEXT NOT NULL,
    payload_schema_version INTEGER NOT NULL,
    profile_state_version INTEGER,
    duration_us INTEGER,
    target_id TEXT,
    session_id TEXT,
    aggregate_kind TEXT,
    aggregate_id TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_id ON events (id);
CREATE INDEX events_listed ON events (namespace, created_at, id);
CREATE INDEX events_by_target ON events (namespace, target_id, created_at, id) WHERE target_id IS NOT NULL;
-- Nearly every event is the audit row of a success; what is not is found without walking over those.
CREATE INDEX events_by_kind ON events (namespace, kind, created_at, id) WHERE kind <> 'audit';
CREATE INDEX events_failed ON events (namespace, outcome, created_at, id) WHERE outcome <> 'success';

CREATE TABLE event_observations (
    event_id TEXT NOT NULL REFERENCES events (id),
    role TEXT NOT NULL,
    position INTEGER NOT NULL,
    referent_id TEXT NOT NULL,
    PRIMARY KEY (event_id, role, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_observations_by_referent ON event_observations (referent_id, role);

CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN SELECT raise(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_never_go BEFORE DELETE ON events
BEGIN SELECT raise(ABORT, 'events are append-only'); END;

-- Where each proposal stands. What was proposed is in the payload of its proposal_created event, which cannot change.
CREATE TABLE proposals (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    proposer_kind TEXT NOT NULL,
    proposer_id TEXT NOT NULL,
    title TEXT NOT NULL,
    status TEXT NOT NULL,
    expiry INTEGER,
    created_event_id TEXT NOT NULL REFERENCES events (id),
    last_decision TEXT,
    review_count INTEGER NOT NULL,
    approve_count INTEGER NOT NULL,
    reject_count INTEGER NOT NULL,
    apply_error TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX proposals_id ON proposals (id);
CREATE INDEX proposals_listed ON proposals (namespace, created_at, id);
CREATE INDEX proposals_by_status ON proposals (namespace, status, created_at, id);

-- Text indexes. rowid = seq of the record; rows are written with the record, live records only.
CREATE VIRTUAL TABLE entity_words USING fts5 (
    title, body, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE entity_trigrams USING fts5 (
    title, body, content = '', contentless_delete = 1, tokenize = 'trigram remove_diacritics 1'
);
CREATE VIRTUAL TABLE note_words USING fts5 (
    title, body, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE note_trigrams USING fts5 (
    title, body, content = '', contentless_delete = 1, tokenize = 'trigram remove_diacritics 1'
);
-- The trigrams that occur, as a table: how terms shorter than a trigram are looked up. They store nothing.
CREATE VIRTUAL TABLE entity_trigram_terms USING fts5vocab (entity_trigrams, row);
CREATE VIRTUAL TABLE note_trigram_terms USING fts5vocab (note_trigrams, row);
