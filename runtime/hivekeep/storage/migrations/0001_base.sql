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
-- Memories of one source, thread or session in the order in which they came: the expression is storage/threads.py's.
CREATE INDEX notes_by_thread ON notes (namespace, coalesce(
    json_extract(properties, '$.source_id'), json_extract(properties, '$.thread_id'),
    json_extract(properties, '$.thread'), json_extract(properties, '$.session_id'),
    json_extract(properties, '$.session')
)) WHERE kind = 'memory' AND deleted_at IS NULL;

-- Sessions as their pack lists them: the expressions are those of storage/sessions.py.
CREATE INDEX notes_sessions_provider ON notes (namespace, json_extract(properties, '$.provider'), created_at, id)
    WHERE kind = 'session' AND deleted_at IS NULL;
CREATE INDEX notes_sessions_agent ON notes (namespace, json_extract(properties, '$.agent_id'), created_at, id)
    WHERE kind = 'session' AND deleted_at IS NULL;

-- Tasks as their pack lists them: the expressions are those of storage/task_fields.py.
CREATE INDEX notes_tasks ON notes (namespace, CASE json_type(properties, '$.status') WHEN 'text' THEN
    json_extract(properties, '$.status') ELSE 'inbox' END, created_at DESC, id)
    WHERE kind = 'task' AND deleted_at IS NULL;
CREATE INDEX notes_tasks_assigned ON notes (namespace, json_extract(properties, '$.assignee'),
    CASE json_type(properties, '$.status') WHEN 'text' THEN json_extract(properties, '$.status') ELSE 'inbox' END,
    created_at DESC, id) WHERE kind = 'task' AND deleted_at IS NULL;
CREATE INDEX notes_tasks_next ON notes (namespace, CASE json_extract(properties, '$.priority') WHEN 'p0' THEN 0
    WHEN 'p1' THEN 1 WHEN 'p3' THEN 3 ELSE 2 END, created_at DESC, id)
    WHERE kind = 'task' AND deleted_at IS NULL AND CASE json_type(properties, '$.status') WHEN 'text' THEN
    json_extract(properties, '$.status') ELSE 'inbox' END IN ('next', 'active');
CREATE TABLE gtd_lifecycle_audit (
    seq INTEGER PRIMARY KEY,
    note_id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    from_state TEXT NOT NULL,
    to_state TEXT NOT NULL,
    note TEXT,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX gtd_lifecycle_audit_by_note ON gtd_lifecycle_audit (note_id, at);

-- Scheduled events by the moment they are due: the expressions are those of storage/schedules.py.
CREATE INDEX notes_scheduled ON notes (namespace, json_extract(properties, '$.trigger_us'), id)
    WHERE kind = 'scheduled_event' AND deleted_at IS NULL AND json_extract(properties, '$.status') = 'pending';
CREATE INDEX notes_due ON notes (json_extract(properties, '$.trigger_us'), id)
    WHERE kind = 'scheduled_event' AND deleted_at IS NULL AND json_extract(properties, '$.status') = 'pending';
CREATE INDEX notes_firing ON notes (id)
    WHERE kind = 'scheduled_event' AND deleted_at IS NULL AND json_extract(properties, '$.status') = 'firing';

-- Messages as their pack lists them: the expressions are those of storage/message_fields.py.
CREATE INDEX notes_inbox ON notes (namespace, coalesce(json_extract(properties, '$.to_actor'), 'local'), created_at
    DESC, id) WHERE kind = 'message' AND deleted_at IS NULL AND json_extract(properties, '$.direction') = 'inbound';
CREATE INDEX notes_unread ON notes (namespace, coalesce(json_extract(properties, '$.to_actor'), 'local'), created_at
    DESC, id) WHERE kind = 'message' AND deleted_at IS NULL AND json_extract(properties, '$.direction') = 'inbound' AND
    json_type(properties, '$.read') IS NOT 'true';
CREATE INDEX notes_sent ON notes (namespace, coalesce(json_extract(properties, '$.from_actor'), 'local'), created_at
    DESC, id) WHERE kind = 'message' AND deleted_at IS NULL AND json_extract(properties, '$.direction') = 'outbound';
CREATE INDEX notes_conversations ON notes (namespace, json_extract(properties, '$.thread_id'), created_at, id) WHERE
    kind = 'message' AND deleted_at IS NULL;
CREATE INDEX notes_message_twins ON notes (namespace, json_extract(properties, '$.outbound_ref')) WHERE kind =
    'message' AND deleted_at IS NULL AND json_extract(properties, '$.direction') = 'inbound';
CREATE INDEX notes_external ON notes (namespace, json_extract(properties, '$.external_id')) WHERE kind = 'message'
    AND json_extract(properties, '$.external_id') IS NOT NULL;
CREATE INDEX notes_parked ON notes (namespace, json_extract(properties, '$.channel_kind'), json_extract(properties,
    '$.channel_slug')) WHERE kind = 'message' AND deleted_at IS NULL AND properties -> '$.quarantined' IN ('true',
    '"true"');
-- Arrivals in the order of their commits. A number is given once, so a cursor over them misses nothing.
CREATE TABLE message_arrivals (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    note_seq INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    actor TEXT NOT NULL
) STRICT;
CREATE INDEX message_arrivals_by_actor ON message_arrivals (namespace, actor, seq);
-- How far each channel to the outside was read.
CREATE TABLE channel_cursors (
    namespace TEXT NOT NULL,
    channel_kind TEXT NOT NULL,
    channel_slug TEXT NOT NULL,
    source TEXT NOT NULL,
    generation TEXT NOT NULL,
    high_water TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, channel_kind, channel_slug)
) STRICT, WITHOUT ROWID;

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

-- No task waits for itself, neither by its property nor by edges. The pack refuses it before, with a sentence; these keep
-- it out of the file whatever writes there. A new task needs none: nothing waits for an id that did not exist. Edges are
-- followed against their direction, so one from a new task is looked at alone. Graphs that are larger are refused.
CREATE TRIGGER notes_tasks_wait_in_no_circle AFTER UPDATE OF properties, deleted_at ON notes
WHEN NEW.kind = 'task' AND NEW.deleted_at IS NULL AND json_type(NEW.properties, '$.depends_on') = 'array'
    AND (OLD.deleted_at IS NOT NULL OR NEW.properties -> '$.depends_on' IS NOT OLD.properties -> '$.depends_on')
BEGIN
    SELECT raise(ABORT, 'a task may not wait for itself') WHERE (
        WITH RECURSIVE waits (id) AS (
            SELECT lower(value) FROM json_each(NEW.properties, '$.depends_on') WHERE type = 'text'
            UNION SELECT lower(d.value) FROM waits CROSS JOIN notes AS t ON t.id = waits.id
                CROSS JOIN json_each(CASE json_type(t.properties, '$.depends_on') WHEN 'array' THEN t.properties
                    ELSE '{}' END, '$.depends_on') AS d
                WHERE t.kind = 'task' AND t.deleted_at IS NULL AND d.type = 'text'
            LIMIT 20002
        ) SELECT count(*) > 20001 OR max(id = NEW.id) FROM waits
    );
END;
CREATE TRIGGER edges_tasks_wait_in_no_circle AFTER INSERT ON edges
WHEN NEW.relation = 'depends_on' AND NEW.deleted_at IS NULL
    AND EXISTS (SELECT 1 FROM notes WHERE id = NEW.source_id AND kind = 'task')
BEGIN
    SELECT raise(ABORT, 'a task may not wait for itself') WHERE (
        WITH RECURSIVE waiting (id) AS (
            SELECT NEW.source_id
            UNION SELECT e.source_id FROM waiting CROSS JOIN edges AS e ON e.target_id = waiting.id
                AND e.relation = 'depends_on' AND e.deleted_at IS NULL
                CROSS JOIN notes AS t ON t.id = e.source_id WHERE t.kind = 'task' AND t.deleted_at IS NULL
            LIMIT 20002
        ) SELECT count(*) > 20001 OR max(id = NEW.target_id) FROM waiting
    );
END;
CREATE TRIGGER edges_tasks_wait_in_no_new_circle AFTER UPDATE OF source_id, target_id, relation, deleted_at ON edges
WHEN NEW.relation = 'depends_on' AND NEW.deleted_at IS NULL
    AND (OLD.deleted_at IS NOT NULL OR OLD.relation <> NEW.relation OR OLD.source_id <> NEW.source_id
        OR OLD.target_id <> NEW.target_id)
    AND EXISTS (SELECT 1 FROM notes WHERE id = NEW.source_id AND kind = 'task')
BEGIN
    SELECT raise(ABORT, 'a task may not wait for itself') WHERE (
        WITH RECURSIVE waiting (id) AS (
            SELECT NEW.source_id
            UNION SELECT e.source_id FROM waiting CROSS JOIN edges AS e ON e.target_id = waiting.id
                AND e.relation = 'depends_on' AND e.deleted_at IS NULL
                CROSS JOIN notes AS t ON t.id = e.source_id WHERE t.kind = 'task' AND t.deleted_at IS NULL
            LIMIT 20002
        ) SELECT count(*) > 20001 OR max(id = NEW.target_id) FROM waiting
    );
END;

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
-- What happened to records, newest first, without walking over audit rows.
CREATE INDEX events_told ON events (namespace, created_at, id) WHERE kind <> 'audit';

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

-- Tuning. Profiles and bindings belong to the namespace of those who made them; what a profile learned is kept for each
-- namespace in which it was given feedback. `updated_at` of a state grows with every change of it.
CREATE TABLE brain_profiles (
    namespace TEXT NOT NULL,
    profile_id TEXT NOT NULL,
    description TEXT,
    consumer_kind TEXT NOT NULL,
    state_class TEXT NOT NULL,
    lifecycle TEXT NOT NULL,
    created_at INTEGER,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, profile_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE brain_bindings (
    namespace TEXT NOT NULL,
    actor TEXT NOT NULL,
    for_namespace TEXT NOT NULL,
    consumer_kind TEXT NOT NULL,
    profile_id TEXT NOT NULL,
    priority INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, actor, for_namespace, consumer_kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE brain_states (
    namespace TEXT NOT NULL,
    profile_id TEXT NOT NULL,
    relevance_alpha REAL NOT NULL,
    relevance_beta REAL NOT NULL,
    salience_alpha REAL NOT NULL,
    salience_beta REAL NOT NULL,
    temporal_alpha REAL NOT NULL,
    temporal_beta REAL NOT NULL,
    target_count INTEGER NOT NULL,
    total_events INTEGER NOT NULL,
    exploration_epoch INTEGER NOT NULL,
    section_events INTEGER NOT NULL,
    section_epoch INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, profile_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE brain_targets (
    seq INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    profile_id TEXT NOT NULL,
    target_id TEXT NOT NULL,
    alpha REAL NOT NULL,
    beta REAL NOT NULL
) STRICT;
CREATE UNIQUE INDEX brain_targets_natural ON brain_targets (namespace, profile_id, target_id);
CREATE INDEX brain_targets_oldest ON brain_targets (namespace, profile_id, seq);
CREATE TABLE brain_sections (
    namespace TEXT NOT NULL,
    profile_id TEXT NOT NULL,
    section TEXT NOT NULL,
    alpha REAL NOT NULL,
    beta REAL NOT NULL,
    prior_alpha REAL NOT NULL,
    prior_beta REAL NOT NULL,
    PRIMARY KEY (namespace, profile_id, section)
) STRICT, WITHOUT ROWID;
-- What changed each state, in order: its history outlives a reset.
CREATE TABLE brain_events (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    profile_id TEXT NOT NULL,
    event_kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX brain_events_id ON brain_events (id);
CREATE INDEX brain_events_listed ON brain_events (namespace, profile_id, created_at);
-- How much implicit feedback still counts against the cap.
CREATE TABLE brain_mass (
    namespace TEXT NOT NULL,
    profile_id TEXT NOT NULL,
    target_id TEXT NOT NULL,
    mass REAL NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, profile_id, target_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX brain_mass_oldest ON brain_mass (namespace, profile_id, updated_at);
-- Each pair of a scorer's pass and a served row counts once.
CREATE TABLE brain_scored (
    scorer_run_id TEXT NOT NULL,
    serve_ledger_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (serve_ledger_id, scorer_run_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE brain_serve_ledger (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    consumer_kind TEXT NOT NULL,
    served_by_profile_id TEXT,
    resolved_profile_id TEXT,
    resolved_at INTEGER,
    accounting_profile_id TEXT GENERATED ALWAYS AS (coalesce(served_by_profile_id, resolved_profile_id)) VIRTUAL,
    target_id TEXT NOT NULL,
    query_class TEXT NOT NULL,
    query_raw TEXT NOT NULL,
    served_at INTEGER NOT NULL,
    grade TEXT,
    graded_at INTEGER,
    scorer_run_id TEXT
) STRICT;
CREATE UNIQUE INDEX brain_serve_ledger_id ON brain_serve_ledger (id);
CREATE INDEX brain_serve_ledger_listed ON brain_serve_ledger (namespace, served_at);

-- Vectors. A row without `embedding` has its floats in the sqlite-vec tables of its model, which are made with the model.
CREATE TABLE embedding_models (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    revision TEXT NOT NULL,
    dims INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX embedding_models_natural ON embedding_models (name, revision);

CREATE TABLE vectors (
    model_id INTEGER NOT NULL REFERENCES embedding_models (id),
    place INTEGER NOT NULL,
    substrate TEXT NOT NULL,
    namespace TEXT NOT NULL,
    kind TEXT NOT NULL,
    source_hash INTEGER NOT NULL,
    embedding BLOB,
    PRIMARY KEY (model_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX vectors_by_scope ON vectors (namespace, model_id, substrate, kind);
-- One vector in 32, by which the size of a scope is guessed: the expression is storage/vector_layout.py's.
CREATE INDEX vectors_sampled ON vectors (namespace, model_id, substrate, kind)
    WHERE (place >> 1) * 2654435761 & 4294967295 < 134217728;
CREATE INDEX vectors_apart ON vectors (model_id, place) WHERE embedding IS NOT NULL;

-- Texts that wait for their vector, and who makes them.
CREATE TABLE embedding_queue (
    model_name TEXT NOT NULL,
    substrate TEXT NOT NULL,
    seq INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    kind TEXT NOT NULL,
    source_hash INTEGER NOT NULL,
    input TEXT NOT NULL,
    enqueued_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    error TEXT
) STRICT;
CREATE UNIQUE INDEX embedding_queue_natural ON embedding_queue (model_name, substrate, seq);
CREATE INDEX embedding_queue_by_scope ON embedding_queue (namespace, model_name, substrate, kind);
CREATE INDEX embedding_queue_due ON embedding_queue (not_before, enqueued_at, seq);

CREATE TABLE leases (
    name TEXT NOT NULL,
    owner TEXT NOT NULL,
    fence INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (name)
) STRICT, WITHOUT ROWID;

-- A mirror of local transcripts. A service of its own will fill it; see storage/session_mirror.py.
CREATE TABLE sessions (
    id TEXT NOT NULL,
    provider_session_id TEXT NOT NULL,
    source TEXT NOT NULL,
    cwd TEXT,
    git_branch TEXT,
    slug TEXT,
    message_count INTEGER NOT NULL,
    first_seen_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    namespace TEXT NOT NULL DEFAULT 'local',
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX sessions_natural ON sessions (namespace, source, provider_session_id);
CREATE TABLE session_messages (
    mirror_rowid INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    source TEXT NOT NULL,
    seq INTEGER NOT NULL,
    parent_uuid TEXT,
    is_sidechain INTEGER NOT NULL,
    role TEXT,
    msg_type TEXT NOT NULL,
    text TEXT NOT NULL,
    raw TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    namespace TEXT NOT NULL DEFAULT 'local'
) STRICT;
CREATE UNIQUE INDEX session_messages_natural ON session_messages (namespace, source, session_id, id);
CREATE TABLE session_mirror_cursor (
    file_path TEXT NOT NULL,
    session_id TEXT NOT NULL,
    byte_offset INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (file_path)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE session_messages_fts USING fts5 (
    text, content = 'session_messages', content_rowid = 'mirror_rowid',
    tokenize = 'porter unicode61 remove_diacritics 2'
);

-- Text indexes. rowid = place of the record (storage/text_places.py); rows are written with the record, live records only.
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
