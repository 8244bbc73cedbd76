"""New ids: version 4, never twice, and a process that forks shares none with its child."""

import os
import uuid

import pytest

from hivekeep.identity.ids import new_id


def test_new_ids_are_random_uuids_in_canonical_text_and_never_twice() -> None:
    """Each reads back as version 4 of the RFC variant, spelled as the standard library spells it."""
    made = [new_id() for _ in range(1000)]
    assert len(set(made)) == 1000
    for text in made:
        read = uuid.UUID(text)
        assert (read.version, read.variant, str(read)) == (4, uuid.RFC_4122, text)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
def test_a_forked_process_gives_out_ids_of_its_own() -> None:
    """The stock that the parent made before the fork is not in the child."""
    new_id()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, " ".join(new_id() for _ in range(40)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = set(os.read(reading, 65536).decode().split())
    os.close(reading)
    os.close(writing)
    assert len(theirs) == 40
    assert theirs.isdisjoint(new_id() for _ in range(200))
