import type { HistorySegment, PromptTemplate, TimeGap } from './prompt-template.js';

/** An item of the history as the template needs it. */
export interface PromptItem {
  readonly sid: readonly number[];
  /** '' where the caller gave items without actions. */
  readonly action: string;
  readonly domain: string;
  /** Seconds since 1970; 0 where it is not known. */
  readonly time: number;
}

/** Which items each history segment shows before the prompt is cut to its limit. */
export interface HistoryPlan {
  /** Per history segment, indices into the history, ascending. */
  readonly shown: ReadonlyMap<HistorySegment, readonly number[]>;
  /** Indices that some segment shows, ascending: trimming drops from the front of these. */
  readonly used: readonly number[];
  /** Items that some segment would show were it not for its maxItems; repeats left out. */
  readonly matchedCount: number;
}

/**
 * An item without an action matches the last history segment alone (that accepts its domain): the
 * prompt would otherwise show it once per segment.
 */
export function planHistory(template: PromptTemplate, history: readonly PromptItem[]): HistoryPlan {
  const segments = template.segments.filter((segment) => segment.kind === 'history');
  const matched = new Map<HistorySegment, number[]>(segments.map((segment) => [segment, []]));
  history.forEach((item, index) => {
    const accepting = segments.filter((segment) => accepts(segment, item));
    const taking = item.action === '' ? accepting.slice(-1) : accepting;
    for (const segment of taking) matched.get(segment)?.push(index);
  });
  const merged = [...matched].map(
    ([segment, indices]) => [segment, withoutRepeats(segment, indices, history)] as const,
  );
  const matchedCount = new Set(merged.flatMap(([, indices]) => indices)).size;
  const shown = new Map(
    merged.map(([segment, indices]) => [
      segment,
      indices.slice(excess(indices.length, segment.itemsMax, template.trimStep)),
    ]),
  );
  const used = [...new Set([...shown.values()].flat())].sort((a, b) => a - b);
  return { shown, used, matchedCount };
}

/**
 * The first of each run of repeats stays, so that what comes later never changes what an earlier
 * prompt of the user began with.
 */
function withoutRepeats(
  { mergeRepeatsS }: HistorySegment,
  indices: readonly number[],
  history: readonly PromptItem[],
): number[] {
  if (mergeRepeatsS === undefined) return [...indices];
  const kept: number[] = [];
  for (const index of indices) {
    const item = history[index] as PromptItem;
    const before = history[kept.at(-1) ?? -1];
    if (before === undefined || !repeats(before, item, mergeRepeatsS)) kept.push(index);
  }
  return kept;
}

function repeats(before: PromptItem, item: PromptItem, withinS: number): boolean {
  return (
    before.action === item.action &&
    before.domain === item.domain &&
    before.time > 0 &&
    item.time - before.time <= withinS &&
    before.sid.length === item.sid.length &&
    before.sid.every((code, level) => code === item.sid[level])
  );
}

/** Text between two items that follow each other; '' where a time is not known. */
export function gapText(gaps: readonly TimeGap[], before: PromptItem, item: PromptItem): string {
  if (before.time === 0 || item.time === 0) return '';
  const seconds = item.time - before.time;
  return gaps.findLast((gap) => seconds >= gap.atLeastS)?.text ?? '';
}

function accepts(segment: HistorySegment, item: PromptItem): boolean {
  if (segment.domains !== undefined && !segment.domains.has(item.domain)) return false;
  return item.action === '' || segment.actions === undefined || segment.actions.has(item.action);
}

/** Items to drop so that at most `max` stay, in whole steps. */
function excess(count: number, max: number, step: number): number {
  return count <= max ? 0 : Math.ceil((count - max) / step) * step;
}
