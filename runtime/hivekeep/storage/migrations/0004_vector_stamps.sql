-- Which state the vectors of one partition have: another random number after every change, so that what a process holds
-- in memory is known to be what its snapshot has, whichever process wrote.
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
