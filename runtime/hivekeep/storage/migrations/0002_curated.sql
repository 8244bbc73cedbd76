-- Curated memory behind the agent gateway: entries with immutable revisions. No verb reads these tables.

-- Which checkout belongs to which repository, and the workspace that all of them share.
CREATE TABLE agent_repositories (
    id TEXT NOT NULL,
    workspace TEXT NOT NULL,
    remote_key TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX agent_repositories_by_remote ON agent_repositories (remote_key) WHERE remote_key IS NOT NULL;
CREATE INDEX agent_repositories_by_workspace ON agent_repositories (workspace);
CREATE TABLE agent_repository_places (
    path TEXT NOT NULL,
    repository_id TEXT NOT NULL REFERENCES agent_repositories (id),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (path)
) STRICT, WITHOUT ROWID;

-- External collections that manage entries: what an import brought, what the next one no longer had.
CREATE TABLE agent_sources (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    checksum TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    refreshed_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

-- A number is never given twice: a snapshot may hold one whose entry was purged.
CREATE TABLE agent_entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    workspace TEXT NOT NULL,
    status TEXT NOT NULL,
    trust_level TEXT NOT NULL,
    confidence REAL NOT NULL,
    revision INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    superseded_by TEXT,
    disabled INTEGER NOT NULL,
    source_id TEXT,
    source_mapping TEXT,
    source_state TEXT,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    verified_at INTEGER,
    retrievable INTEGER GENERATED ALWAYS AS (
        status <> 'superseded' AND disabled = 0 AND coalesce(source_state, 'active') = 'active'
    ) VIRTUAL,
    CHECK ((status = 'superseded') = (superseded_by IS NOT NULL)),
    CHECK ((source_id IS NULL) = (source_state IS NULL) AND (source_id IS NULL) = (source_mapping IS NULL))
) STRICT;
CREATE UNIQUE INDEX agent_entries_id ON agent_entries (id);
CREATE UNIQUE INDEX agent_entries_content ON agent_entries (workspace, content_hash);
CREATE UNIQUE INDEX agent_entries_managed ON agent_entries (workspace, source_id, source_mapping)
    WHERE source_id IS NOT NULL;
CREATE INDEX agent_entries_listed ON agent_entries (workspace, created_at, id);

-- What an entry said at each revision. A revision goes only with its entry.
CREATE TABLE agent_entry_revisions (
    seq INTEGER PRIMARY KEY,
    entry_seq INTEGER NOT NULL REFERENCES agent_entries (seq),
    revision INTEGER NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    summary TEXT,
    scope TEXT NOT NULL,
    provenance TEXT NOT NULL,
    tags TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX agent_entry_revisions_natural ON agent_entry_revisions (entry_seq, revision);
CREATE TRIGGER agent_entry_revisions_never_change BEFORE UPDATE ON agent_entry_revisions
BEGIN SELECT raise(ABORT, 'revisions are immutable'); END;

-- How entries of the current revision are found, the workspace first: the size of others costs nothing.
CREATE TABLE agent_entry_tags (
    workspace TEXT NOT NULL,
    tag_key TEXT NOT NULL,
    entry_seq INTEGER NOT NULL REFERENCES agent_entries (seq),
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace, tag_key, entry_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_entry_tags_by_entry ON agent_entry_tags (entry_seq);
CREATE TABLE agent_entry_signals (
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    value_key TEXT NOT NULL,
    entry_seq INTEGER NOT NULL REFERENCES agent_entries (seq),
    revision INTEGER NOT NULL,
    PRIMARY KEY (workspace, kind, value_key, entry_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_entry_signals_by_entry ON agent_entry_signals (entry_seq);

CREATE TABLE agent_entry_links (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    from_seq INTEGER NOT NULL REFERENCES agent_entries (seq),
    to_seq INTEGER NOT NULL REFERENCES agent_entries (seq),
    relation TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX agent_entry_links_id ON agent_entry_links (id);
CREATE UNIQUE INDEX agent_entry_links_natural ON agent_entry_links (from_seq, relation, to_seq);
CREATE INDEX agent_entry_links_by_target ON agent_entry_links (to_seq, relation);

-- What was done to entries. A purge takes the rows of its entry along and leaves one that holds no content.
CREATE TABLE agent_entry_audit (
    seq INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL,
    operation TEXT NOT NULL,
    entry_id TEXT,
    revision INTEGER,
    other_id TEXT,
    actor TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX agent_entry_audit_by_entry ON agent_entry_audit (entry_id, seq) WHERE entry_id IS NOT NULL;
CREATE INDEX agent_entry_audit_listed ON agent_entry_audit (workspace, seq);

-- Text of the current revisions. rowid = place of the entry (storage/text_places.py) in its workspace, so a search reads
-- the part of an index that is of its workspaces; no text is kept here.
CREATE VIRTUAL TABLE agent_entries_words USING fts5 (
    title, summary, body, tags, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE agent_entries_trigrams USING fts5 (
    title, summary, body, tags, content = '', contentless_delete = 1, tokenize = 'trigram remove_diacritics 1'
);
CREATE VIRTUAL TABLE agent_entries_trigram_terms USING fts5vocab (agent_entries_trigrams, row);
