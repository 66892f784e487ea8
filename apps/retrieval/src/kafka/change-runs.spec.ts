import { clauseOf, MESSAGE_CHANGES_MAX } from '@tessera/catalogue';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChangeSet, changeRuns } from './change-runs.js';

const message = fc.record({
  catalogue: fc.constantFrom('', 'ads'),
  changes: fc
    .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 3 })
    .chain((items) =>
      fc.tuple(
        ...items.map((itemId) => fc.constantFrom('pause', 'resume').map((op) => ({ op, itemId }))),
      ),
    ),
}) as fc.Arbitrary<ChangeSet>;

describe('runs of changes', () => {
  it('keeps every message in its order and no item twice in a run', () => {
    fc.assert(
      fc.property(fc.array(message), (messages) => {
        const runs = changeRuns(messages);
        expect(runs.flat()).toEqual(messages);
        for (const run of runs) {
          const items = run.flatMap(({ changes }) => changes.map((change) => change.itemId));
          expect(new Set(items).size).toBe(items.length);
          expect(new Set(run.map(({ catalogue }) => catalogue)).size).toBe(1);
        }
      }),
    );
  });

  it('joins neighbours of one catalogue that share no item', () => {
    const of = (itemId: string, catalogue = ''): ChangeSet => ({
      catalogue,
      changes: [{ op: 'pause', itemId }],
    });
    const runs = changeRuns([of('a'), of('b'), of('a'), of('c', 'ads'), of('d', 'ads')]);
    expect(runs.map((run) => run.length)).toEqual([2, 1, 2]);
  });

  it('joins changes by predicates with any others: they take effect in their order', () => {
    const all: ChangeSet = {
      catalogue: '',
      changes: [{ op: 'pause', itemId: '', predicate: clauseOf('all', {}) }],
    };
    const one: ChangeSet = { catalogue: '', changes: [{ op: 'resume', itemId: 'a' }] };
    expect(changeRuns([all, one, all, one]).map((run) => run.length)).toEqual([3, 1]);
  });

  it('does not exceed what the engine takes at once', () => {
    const changes = Array.from({ length: MESSAGE_CHANGES_MAX }, (_, i) => ({
      op: 'pause' as const,
      itemId: String(i),
    }));
    const more = { catalogue: '', changes: [{ op: 'pause' as const, itemId: 'x' }] };
    expect(changeRuns([{ catalogue: '', changes }, more])).toHaveLength(2);
  });
});
