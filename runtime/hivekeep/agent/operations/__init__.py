"""What the operations of the gateway do, one module an operation, behind the one class that dispatch is given."""

from hivekeep.agent.operations import reads
from hivekeep.agent.operations.answer import answer
from hivekeep.agent.operations.checkpoint import checkpoint
from hivekeep.agent.operations.close import close
from hivekeep.agent.operations.events import append_events
from hivekeep.agent.operations.feedback import feedback
from hivekeep.agent.operations.open import open_run
from hivekeep.agent.operations.promotions import promotions


class GatewayOperations:
    """The implementation of the printed Protocol `GatewayHandlers`, by the names of the contract."""

    open = staticmethod(open_run)
    answer = staticmethod(answer)
    events = staticmethod(append_events)
    checkpoint = staticmethod(checkpoint)
    close = staticmethod(close)
    feedback = staticmethod(feedback)
    promotions = staticmethod(promotions)
    runs_list = staticmethod(reads.runs_list)
    run_read = staticmethod(reads.run_read)
    intake_read = staticmethod(reads.intake_read)
    events_list = staticmethod(reads.events_list)
