-- Which state the vectors of one partition have: another random number after every change, so that what a process holds
-- in memory is known to be what its snapshot has. Triggers write them, so a process that does not know them does so too.
CREATE TABLE vector_stamps (
    namespace TEXT NOT NULL,
    model_id INTEGER NOT NULL REFERENCES embedding_models (id),
    substrate TEXT NOT NULL,
    kind TEXT NOT NULL,
    stamp INTEGER NOT NULL,
    PRIMARY KEY (namespace, model_id, substrate, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO vector_stamps (namespace, model_id, substrate, kind, stamp)
    SELECT namespace, model_id, substrate, kind, random() FROM vectors GROUP BY namespace, model_id, substrate, kind;

CREATE TRIGGER vectors_inserted AFTER INSERT ON vectors BEGIN
    INSERT INTO vector_stamps (namespace, model_id, substrate, kind, stamp)
        VALUES (new.namespace, new.model_id, new.substrate, new.kind, random())
        ON CONFLICT (namespace, model_id, substrate, kind) DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER vectors_updated AFTER UPDATE ON vectors BEGIN
    INSERT INTO vector_stamps (namespace, model_id, substrate, kind, stamp)
        VALUES (new.namespace, new.model_id, new.substrate, new.kind, random())
        ON CONFLICT (namespace, model_id, substrate, kind) DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER vectors_moved AFTER UPDATE ON vectors
    WHEN old.namespace <> new.namespace OR old.kind <> new.kind OR old.substrate <> new.substrate BEGIN
    UPDATE vector_stamps SET stamp = random() WHERE namespace = old.namespace AND model_id = old.model_id
        AND substrate = old.substrate AND kind = old.kind;
    DELETE FROM vector_stamps WHERE namespace = old.namespace AND model_id = old.model_id
        AND substrate = old.substrate AND kind = old.kind AND NOT EXISTS (SELECT 1 FROM vectors AS v
        WHERE v.namespace = old.namespace AND v.model_id = old.model_id AND v.substrate = old.substrate
        AND v.kind = old.kind);
END;
CREATE TRIGGER vectors_deleted AFTER DELETE ON vectors BEGIN
    UPDATE vector_stamps SET stamp = random() WHERE namespace = old.namespace AND model_id = old.model_id
        AND substrate = old.substrate AND kind = old.kind;
    DELETE FROM vector_stamps WHERE namespace = old.namespace AND model_id = old.model_id
        AND substrate = old.substrate AND kind = old.kind AND NOT EXISTS (SELECT 1 FROM vectors AS v
        WHERE v.namespace = old.namespace AND v.model_id = old.model_id AND v.substrate = old.substrate
        AND v.kind = old.kind);
END;
