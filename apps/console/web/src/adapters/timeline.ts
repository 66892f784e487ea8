/** Spans in which versions served, as the change log and the versions' states tell them. */

import type { AdapterChange, AdapterView } from '../../../src/api-types.js';

export interface ServedSpan {
  readonly name: string;
  readonly digest: string;
  readonly as: 'active' | 'canary';
  /** Share of the users, 0..1. */
  readonly share: number;
  readonly fromMs: number;
  /** Undefined: it serves still. */
  readonly toMs: number | undefined;
  readonly isRolledBack: boolean;
  /** Why it ended; '' where another version took its place, or it serves still. */
  readonly reason: string;
  /** '' where a person pushed it. */
  readonly holder: string;
  /** 0: not known. */
  readonly learnedUntilMs: number;
}

/** The newest; a chart of more would be read by nobody. */
const SPANS_MAX = 500;

type As = ServedSpan['as'];
type Change = Pick<
  AdapterChange,
  'timeMs' | 'action' | 'actor' | 'name' | 'digest' | 'outcome' | 'detail'
>;
type Version = Pick<
  AdapterView,
  'name' | 'digest' | 'state' | 'reason' | 'changedMs' | 'share' | 'holder' | 'learnedUntilMs'
>;

/** Spans of one name, which are opened and closed in the order of time. */
class Spans {
  readonly closed: ServedSpan[] = [];
  readonly open = new Map<As, ServedSpan>();

  constructor(
    private readonly name: string,
    private readonly versions: readonly Version[],
  ) {}

  begin(as: As, digest: string, fromMs: number, share: number, by = ''): void {
    const before = this.open.get(as);
    if (before?.digest === digest && as === 'active') return;
    this.end(as, fromMs);
    const version = this.versions.find((one) => one.digest === digest);
    const { holder = by, learnedUntilMs = 0 } = version ?? {};
    const { name } = this;
    const rest = { toMs: undefined, isRolledBack: false, reason: '', holder, learnedUntilMs };
    this.open.set(as, { name, digest, as, share, fromMs, ...rest });
  }

  end(as: As, toMs: number, rolledBack?: string): void {
    const span = this.open.get(as);
    if (span === undefined) return;
    this.open.delete(as);
    const end = { toMs, isRolledBack: rolledBack !== undefined, reason: rolledBack ?? '' };
    this.closed.push({ ...span, ...end });
  }

  change({ timeMs, action, actor, digest, detail }: Change): void {
    const isIt = (as: As) => this.open.get(as)?.digest === digest;
    const as = isIt('canary') ? 'canary' : isIt('active') ? 'active' : undefined;
    if (action === 'activate') {
      const share = Number(/^share ([\d.]+)/.exec(detail)?.[1] ?? 1);
      if (share >= 1) this.end('canary', timeMs);
      const by = /holder (\S+)$/.exec(detail)?.[1];
      this.begin(share < 1 ? 'canary' : 'active', digest, timeMs, share, by);
    } else if (action === 'rollback' && as !== undefined) {
      this.end(as, timeMs, actor === 'canary' ? detail : `rolled back by ${actor}`);
      const serves = /serves ([0-9a-f]{64})/.exec(detail)?.[1];
      if (as === 'active' && serves !== undefined) this.begin('active', serves, timeMs, 1);
    } else if ((action === 'lost' || action === 'waits') && as !== undefined) {
      this.end(as, timeMs, detail);
    }
  }

  /** The log is of one node, and its oldest lines are not asked for: the states have the rest. */
  settle(): readonly ServedSpan[] {
    for (const span of [...this.open.values()]) {
      const version = this.versions.find(({ digest }) => digest === span.digest);
      if (version === undefined || version.state === span.as) continue;
      const isLater = version.changedMs >= span.fromMs;
      this.end(span.as, isLater ? version.changedMs : span.fromMs, version.reason || undefined);
    }
    for (const { digest, state, changedMs, share } of this.versions) {
      if (state !== 'active' && state !== 'canary') continue;
      if (this.open.has(state)) continue;
      this.begin(state, digest, changedMs, state === 'canary' ? share : 1);
    }
    return [...this.closed, ...this.open.values()];
  }
}

/** Oldest first; of those that served in the span of time alone. */
export function servedSpans(
  changes: readonly Change[],
  versions: readonly Version[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): readonly ServedSpan[] {
  const done = changes.filter(({ outcome }) => outcome === 'OK');
  const names = new Set([...done, ...versions].map(({ name }) => name));
  const all = [...names].flatMap((name) => {
    const spans = new Spans(
      name,
      versions.filter((version) => version.name === name),
    );
    const own = done.filter((change) => change.name === name);
    for (const change of own.sort((a, b) => a.timeMs - b.timeMs)) spans.change(change);
    return spans.settle();
  });
  return all
    .filter((span) => span.fromMs < toMs && (span.toMs ?? toMs) > fromMs)
    .sort((a, b) => a.fromMs - b.fromMs)
    .slice(-SPANS_MAX);
}
