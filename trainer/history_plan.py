"""Behaviours that each history of a template shows (history-plan.ts of libs/service/prompt)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .history import Behaviour
from .template import HistorySegment, Template


class Item(Protocol):
    """Tokens of an item for a plan: equal tokens are equal SIDs."""

    @property
    def tokens(self) -> tuple[int, ...]: ...
    @property
    def domain(self) -> str: ...


@dataclass(frozen=True)
class HistoryPlan:
    """`shown`: places per history segment, ascending; `used`: of all of them, which trimming drops
    from the front."""

    shown: list[Sequence[int]]
    used: Sequence[int]


def plan_history(template: Template, history: Sequence[Behaviour],
                 items: Mapping[str, Item]) -> HistoryPlan:
    """A behaviour without an action goes to the last segment that accepts its domain."""
    segments = template.histories
    known = [place for place, behaviour in enumerate(history) if behaviour.item in items]
    if len(segments) == 1 and segments[0].takes_all:
        shown = known[_excess(len(known), segments[0].max_items, template.trim_step):]
        return HistoryPlan([shown], shown)
    matched: list[list[int]] = [[] for _ in segments]
    for place in known:
        behaviour = history[place]
        domain = items[behaviour.item].domain
        accepting = [number for number, segment in enumerate(segments)
                     if _accepts(segment, behaviour.action, domain)]
        for number in accepting if behaviour.action else accepting[-1:]:
            matched[number].append(place)
    shown = []
    for segment, places in zip(segments, matched, strict=True):
        kept = _without_repeats(segment, places, history, items)
        shown.append(kept[_excess(len(kept), segment.max_items, template.trim_step):])
    return HistoryPlan(list(shown), sorted({place for places in shown for place in places}))


def _accepts(segment: HistorySegment, action: str, domain: str) -> bool:
    if segment.domains is not None and domain not in segment.domains:
        return False
    return not action or segment.actions is None or action in segment.actions


def _without_repeats(segment: HistorySegment, places: list[int], history: Sequence[Behaviour],
                     items: Mapping[str, Item]) -> list[int]:
    within = segment.merge_repeats_s
    if within is None:
        return places
    kept: list[int] = []
    for place in places:
        one = history[place]
        before = history[kept[-1]] if kept else None
        if before is not None and before.time > 0 and one.time - before.time <= within:
            if before.action == one.action and items[before.item] == items[one.item]:
                continue
        kept.append(place)
    return kept


def _excess(count: int, most: int, step: int) -> int:
    return 0 if count <= most else -(-(count - most) // step) * step


def gap_text(gaps: tuple[tuple[int, str], ...], before: Behaviour, one: Behaviour) -> str:
    """Text between two behaviours by the time between them; "" where a time is not known."""
    if not gaps or before.time == 0 or one.time == 0:
        return ""
    seconds = one.time - before.time
    return next((text for least, text in reversed(gaps) if seconds >= least), "")
