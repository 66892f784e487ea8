import type { HistorySegment, PromptTemplate } from './prompt-template.js';

/** An item of the history as the template needs it. */
export interface PromptItem {
  readonly sid: readonly number[];
  /** '' where the caller gave items without actions. */
  readonly action: string;
  readonly domain: string;
}

/** Which items each history segment shows before the prompt is cut to its limit. */
export interface HistoryPlan {
  /** Per history segment, indices into the history, ascending. */
  readonly shown: ReadonlyMap<HistorySegment, readonly number[]>;
  /** Indices that some segment shows, ascending: trimming drops from the front of these. */
  readonly used: readonly number[];
  /** Items that some segment would show were it not for its maxItems. */
  readonly matchedCount: number;
}

/**
 * An item without an action matches the last history segment alone (that accepts its domain): the
 * prompt would otherwise show it once per segment.
 */
export function planHistory(template: PromptTemplate, history: readonly PromptItem[]): HistoryPlan {
  const segments = template.segments.filter((segment) => segment.kind === 'history');
  const matched = new Map<HistorySegment, number[]>(segments.map((segment) => [segment, []]));
  let matchedCount = 0;
  history.forEach((item, index) => {
    const accepting = segments.filter((segment) => accepts(segment, item));
    const taking = item.action === '' ? accepting.slice(-1) : accepting;
    for (const segment of taking) matched.get(segment)?.push(index);
    if (taking.length > 0) matchedCount += 1;
  });
  const shown = new Map(
    [...matched].map(([segment, indices]) => [
      segment,
      indices.slice(excess(indices.length, segment.itemsMax, template.trimStep)),
    ]),
  );
  const used = [...new Set([...shown.values()].flat())].sort((a, b) => a - b);
  return { shown, used, matchedCount };
}

function accepts(segment: HistorySegment, item: PromptItem): boolean {
  if (segment.domains !== undefined && !segment.domains.has(item.domain)) return false;
  return item.action === '' || segment.actions === undefined || segment.actions.has(item.action);
}

/** Items to drop so that at most `max` stay, in whole steps. */
function excess(count: number, max: number, step: number): number {
  return count <= max ? 0 : Math.ceil((count - max) / step) * step;
}
