import { describe, expect, it } from 'vitest';
import { servedSpans } from './timeline.js';

const [A, B, C] = ['a', 'b', 'c'].map((digit) => digit.repeat(64)) as [string, string, string];
const ALL = { fromMs: 0, toMs: 1000 };

const change = (timeMs: number, action: string, digest: string, detail: string, own = {}) =>
  Object.assign(
    { timeMs, action, actor: 'trainer', name: 'main', digest, outcome: 'OK', detail },
    own,
  );
const version = (digest: string, state: 'active' | 'canary' | 'retired', own = {}) =>
  Object.assign(
    { name: 'main', digest, state, reason: '', changedMs: 5, share: 0.5, holder: 'follow' },
    { learnedUntilMs: 3 },
    own,
  );
const shown = (spans: ReturnType<typeof servedSpans>) =>
  spans.map(({ digest, as, fromMs, toMs, reason }) => [digest[0], as, fromMs, toMs, reason]);

describe('the spans in which versions served', () => {
  it('are none of an empty store', () => {
    expect(servedSpans([], [], ALL)).toEqual([]);
  });

  it('follow canaries, activations and rollbacks, with their reasons', () => {
    const log = [
      change(10, 'activate', A, 'share 1, holder follow'),
      change(20, 'activate', B, 'share 0.5, holder follow'),
      change(30, 'activate', B, 'share 1'),
      change(40, 'activate', C, 'share 0.2'),
      change(45, 'activate', C, 'refused', { outcome: 'ADAPTER_STATE' }),
      change(50, 'rollback', C, 'clicks: expected more, got less', { actor: 'canary' }),
      change(60, 'rollback', B, `serves ${A}`),
    ].toReversed();
    const versions = [version(A, 'active'), version(B, 'retired'), version(C, 'retired')];
    const spans = servedSpans(log, versions, ALL);
    expect(shown(spans)).toEqual([
      ['a', 'active', 10, 30, ''],
      ['b', 'canary', 20, 30, ''],
      ['b', 'active', 30, 60, 'rolled back by trainer'],
      ['c', 'canary', 40, 50, 'clicks: expected more, got less'],
      ['a', 'active', 60, undefined, ''],
    ]);
    expect(spans.map(({ isRolledBack }) => isRolledBack)).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
    expect(spans[0]).toMatchObject({ holder: 'follow', learnedUntilMs: 3, share: 1 });
    expect(shown(servedSpans(log, versions, { fromMs: 55, toMs: 58 }))).toEqual([
      ['b', 'active', 30, 60, 'rolled back by trainer'],
    ]);
  });

  it('are known by the states of versions where the log has no line of them', () => {
    const ended = version(B, 'retired', { changedMs: 70, reason: 'of another node' });
    const log = [change(20, 'activate', B, 'share 0.5')];
    expect(shown(servedSpans(log, [version(A, 'active'), ended], ALL))).toEqual([
      ['a', 'active', 5, undefined, ''],
      ['b', 'canary', 20, 70, 'of another node'],
    ]);
  });

  it('are the newest of hundreds', () => {
    const log = Array.from({ length: 900 }, (_, at) =>
      change(at, 'activate', at % 2 === 0 ? A : B, 'share 1, holder follow'),
    );
    const spans = servedSpans(log, [], ALL);
    expect(spans).toHaveLength(500);
    expect(spans.at(-1)).toMatchObject({ fromMs: 899, toMs: undefined, holder: 'follow' });
  });
});
