"""auto_feedback: feedback on one result of a recall, with what the recall said of who served it.

Invariant: the caller says which result it means; its place in the list decides nothing.
"""

from collections.abc import Mapping
from typing import Any, cast, get_args

from hivekeep.identity.ids import classify
from hivekeep.packs.brain import judging
from hivekeep.packs.brain.judging import Judgement
from hivekeep.packs.context import Context
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.models import brain as models
from hivekeep_contract.models.memory import ServeAttribution

_SERVED_BY = "served_by_profile_id"
_ATTRIBUTION = "serve_attribution"
_ATTRIBUTIONS = get_args(ServeAttribution)


def auto_feedback(ctx: Context, args: models.AutoFeedbackArgs) -> models.AutoFeedbackResult:
    """What became of it; raises InvalidInput for a target that is not exactly one of the results, as feedback does."""
    for index, result in enumerate(args.results):
        _check_result(ctx, index, result)
    if not args.results:
        return {"emitted": False, "verb": ctx.verb, "reason": "no_results"}
    if args.signal is None:
        return {
            "emitted": False,
            "verb": ctx.verb,
            "reason": "no_signal",
            "result_count": len(args.results),
        }
    chosen = _chosen(ctx, args)
    served_by, attribution = _served(args, chosen)
    said = Judgement(
        target=str(chosen.get("full_id") or chosen["id"]),
        signal=args.signal,
        served_by=served_by,
        attribution=attribution,
        section_signals={},
        scorer_run_id=args.scorer_run_id,
        serve_ledger_id=args.serve_ledger_id,
    )
    answer = cast("models.AutoFeedbackResult", judging.judge(ctx, said, ctx.verb))
    answer["feedback_verb"] = judging.VERB
    answer["result_count"] = len(args.results)
    return answer


def _check_result(ctx: Context, index: int, result: Mapping[str, Any]) -> None:
    """Refuse a result without an id, or with members that a recall never gives; raises InvalidInput."""
    where = f"{ctx.verb}: results[{index}]"
    if not isinstance(result.get("id"), str) or not result["id"].strip():
        raise InvalidInput(f"{where} must have an 'id' that is a string and not blank")
    for name in ("full_id", _SERVED_BY):
        if not isinstance(result.get(name), str | None):
            raise InvalidInput(f"{where}.{name} must be a string")
    if result.get(_ATTRIBUTION) not in (None, *_ATTRIBUTIONS):
        raise InvalidInput(f"{where}.{_ATTRIBUTION} must be one of {', '.join(_ATTRIBUTIONS)}")


def _chosen(ctx: Context, args: models.AutoFeedbackArgs) -> Mapping[str, Any]:
    """The result that the target names; raises InvalidInput for none or several."""
    if args.target_id is None:
        raise InvalidInput(
            f"{ctx.verb}: 'target_id' is required with a signal; it must be the id of one of the results"
        )
    wanted = classify(args.target_id).text
    fitting = [result for result in args.results if wanted in _ids(result)]
    if len(fitting) != 1:
        raise InvalidInput(
            f"{ctx.verb}: 'target_id' must be the id of exactly one of the results; "
            f"{args.target_id!r} is that of {len(fitting)}"
        )
    return fitting[0]


def _ids(result: Mapping[str, Any]) -> set[str]:
    return {classify(str(result[name])).text for name in ("id", "full_id") if result.get(name)}


def _served(args: models.AutoFeedbackArgs, result: Mapping[str, Any]) -> tuple[str | None, ServeAttribution | None]:
    """Who served: both facts from the arguments when either is there, else both from the result."""
    if args.served_by_profile_id is not None or args.serve_attribution is not None:
        return args.served_by_profile_id, args.serve_attribution
    return result.get(_SERVED_BY), cast("ServeAttribution | None", result.get(_ATTRIBUTION))
