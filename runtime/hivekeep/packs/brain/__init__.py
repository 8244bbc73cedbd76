"""The brain pack: tuning profiles, whom they serve, what feedback teaches them, and counts of events.

Invariant: one module a topic; the class only says which function answers which verb. Profiles and bindings are those of
the caller's own namespace, what is learned belongs to the namespace of the call.
"""

from hivekeep.packs.brain import adapters, auto_feedback, binding, event_counts, judging, lifecycle, serves, turns


class BrainPack:
    """The handlers that `hivekeep_contract.handlers.brain.BrainHandlers` asks for."""

    activate = staticmethod(lifecycle.activate)
    archive = staticmethod(lifecycle.archive)
    auto_feedback = staticmethod(auto_feedback.auto_feedback)
    bind = staticmethod(binding.bind)
    bindings = staticmethod(binding.bindings)
    create_profile = staticmethod(lifecycle.create_profile)
    deactivate = staticmethod(lifecycle.deactivate)
    event_counts = staticmethod(event_counts.event_counts)
    feedback = staticmethod(judging.feedback)
    mark_turn = staticmethod(turns.mark_turn)
    profile = staticmethod(lifecycle.profile)
    profiles = staticmethod(lifecycle.profiles)
    record_serve = staticmethod(serves.record_serve)
    register_adapter = staticmethod(adapters.register_adapter)
    reset = staticmethod(lifecycle.reset)
    resolve = staticmethod(binding.resolve)
    unbind = staticmethod(binding.unbind)
