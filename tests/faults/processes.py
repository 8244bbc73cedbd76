"""Programs that the fault tests run as processes of their own. First argument: which; second: the database.

`forever`   writes entities one by one and prints each id once its write is acknowledged
`times N B` writes N entities in transactions of one, numbered from B, and prints the counters
`fill`      writes large notes until the store refuses, prints the acknowledged ids and then the refusal
`open`      opens the store and prints the schema version
`embed`     takes what waits for a vector and ends as if killed: `before` the vectors are stored, `within` the
            transaction that stores them, `between` that and the one that takes their texts out of the queue
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from itertools import count

from hivekeep.storage import embedding_queue, entities, migrations, notes, vectors
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import open_store
from hivekeep_contract.errors import HivekeepError
from support.stores import OPTIONS, entity, note, record_id

_FILE_LIMIT = 3 * 1024 * 1024


def _say(line: str) -> None:
    """One line to who started this process, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def forever(path: str) -> None:
    """Until somebody kills it."""
    engine = open_store(path, OPTIONS, threaded="threaded" in sys.argv)
    first = int(sys.argv[3])
    for number in count(first):
        engine.run_write(lambda tx, n=number: entities.insert(tx, entity(n)))
        _say(record_id(number))


def times(path: str) -> None:
    """A fixed number of writes."""
    engine = open_store(path, OPTIONS)
    how_many, base = int(sys.argv[3]), int(sys.argv[4])
    for number in range(base, base + how_many):
        engine.run_write(lambda tx, n=number: entities.insert(tx, entity(n)))
    _say(json.dumps(engine.counters()))
    engine.close()


def fill(path: str) -> None:
    """The operating system lets no file of this process grow beyond a limit."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_LIMIT, _FILE_LIMIT))
    engine = open_store(path, OPTIONS)
    for number in count(1):
        row = note(number, content="x" * 20_000)
        try:
            engine.run_write(lambda tx, row=row: notes.insert(tx, row))
        except HivekeepError as refusal:
            _say(json.dumps(refusal.body()))
            break
        _say(row.id)


def opened(path: str) -> None:
    """Create or open, nothing more."""
    engine = open_store(path, OPTIONS)
    _say(str(migrations.file_state(path, OPTIONS).version))
    engine.close()


def embed(path: str) -> None:
    """Every vector is the same: which one it is does not matter here."""
    engine = open_store(path, OPTIONS)
    moment = sys.argv[3]

    def die(now: str) -> None:
        if moment == now:
            os.kill(os.getpid(), signal.SIGKILL)

    def store(tx: Tx) -> None:
        model = vectors.register_model(tx, "small", "1", 8, 1)
        vectors.put_many(tx, model, (vectors.VectorRow(*row[1:6], b"\0\0\0?" * 8) for row in taken))
        die("within")

    with engine.read() as tx:
        taken = embedding_queue.take(tx, 1, 99)
    die("before")
    engine.run_write(store)
    die("between")
    engine.run_write(lambda tx: embedding_queue.done(tx, taken))
    engine.close()


if __name__ == "__main__":
    {"forever": forever, "times": times, "fill": fill, "open": opened, "embed": embed}[sys.argv[1]](sys.argv[2])
