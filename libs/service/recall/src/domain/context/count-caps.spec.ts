import { type Behaviour, parseRetention } from '@tessera/behaviour';
import { expecting, type TesseraError } from '@tessera/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkFrequencyCaps, parseFrequencyCaps } from '../request/frequency-caps.js';
import type { FrequencyCap } from '../request/request-types.js';
import { areCut, countCaps } from './count-caps.js';
import { SEEN_ACTIONS_MAX, SeenActions } from './seen-actions.js';

const SEED = 20261123;
const NOW_MS = 1_700_000_000_123;
const ACTIONS = ['impression', 'click', ''];

/** Milliseconds around the ends of windows; some are to come. */
const ageMs = fc.oneof(
  fc.integer({ min: -2, max: 6 }).map((seconds) => seconds * 1000),
  fc.integer({ min: -300, max: 6000 }),
);
const behaviours = fc
  .array(
    fc.record({
      itemId: fc.constantFrom('a', 'b', 'c'),
      action: fc.constantFrom(...ACTIONS),
      ageMs,
    }),
    { maxLength: 24 },
  )
  .map((list) => list.sort((a, b) => b.ageMs - a.ageMs));
const caps = fc.array(
  fc.record<FrequencyCap>({
    action: fc.constantFrom('impression', 'click'),
    maxBehaviours: fc.integer({ min: 1, max: 6 }),
    windowSeconds: fc.integer({ min: 1, max: 5 }),
    attribute: fc.constantFrom('', 'campaign'),
  }),
  { maxLength: 3 },
);

function stored(list: readonly { itemId: string; action: string; ageMs: number }[]): Behaviour[] {
  return list.map(({ itemId, action, ageMs: age }) => ({
    itemId,
    action,
    time: (NOW_MS - age) / 1000,
  }));
}

describe('frequency caps', () => {
  it('count every behaviour of their action in their window, and no other', () => {
    const property = fc.property(behaviours, caps, (drawn, asked) => {
      const counted = countCaps(asked, 'frequencyCaps', stored(drawn), NOW_MS);
      asked.forEach(({ action, maxBehaviours, windowSeconds, attribute }, index) => {
        const own = drawn.filter(
          (each) => each.action === action && each.ageMs < windowSeconds * 1000,
        );
        const expected = new Map<string, number>();
        for (const itemId of ['a', 'b', 'c']) {
          const count = own.filter((each) => each.itemId === itemId).length;
          const isTold = attribute === '' ? count >= maxBehaviours : own.length >= maxBehaviours;
          if (isTold && count > 0) expected.set(itemId, count);
        }
        const { itemIds = [], behaviours: counts = [], ...cap } = counted[index] ?? {};
        expect(new Map(itemIds.map((itemId, i) => [itemId, counts[i]]))).toEqual(expected);
        expect(cap).toEqual({ path: `frequencyCaps[${index}]`, attribute, maxBehaviours });
      });
    });
    fc.assert(property, { seed: SEED, numRuns: 400 });
  });

  it('of all actions leave out whatever the user has already', () => {
    const [cap] = parseFrequencyCaps('*=1,36500d') as [FrequencyCap];
    const had = stored([
      { itemId: 'a', action: 'impression', ageMs: 1000 },
      { itemId: 'b', action: '', ageMs: 2000 },
      { itemId: 'a', action: 'buy', ageMs: 3e9 },
    ]);
    const [counted] = countCaps([cap], 'recall.frequencyCaps', had, NOW_MS);
    expect(counted?.itemIds.toSorted()).toEqual(['a', 'b']);
    const parts = (retention: string) => ({
      historyItemsMax: 50,
      retention: parseRetention(retention),
    });
    expect(areCut([cap], parts('buy=1; *=9'), had, NOW_MS)).toBe(true);
    expect(areCut([cap], parts('buy=2; *=9'), had, NOW_MS)).toBe(false);
    const refuse = expecting('CONFIG_INVALID');
    expect(() => checkFrequencyCaps([cap], 'caps', parts('buy=1,1d; *=9'), refuse)).not.toThrow();
  });

  it('of an action that nobody has done are told, until somebody has', () => {
    const seenActions = new SeenActions();
    const asked = parseFrequencyCaps('impression=1,5s; *=9,5s; click=1,5s');
    const told = (...actions: string[]) => {
      const had = stored(actions.map((action) => ({ itemId: 'a', action, ageMs: 9e9 })));
      return seenActions.unseen(asked, 'caps', had);
    };
    expect(told('view')).toEqual(['caps[0].action: impression', 'caps[2].action: click']);
    expect(told('click')).toEqual(['caps[0].action: impression']);
    expect(told('impression', 'view')).toEqual([]);
    expect(told()).toEqual([]);
    const many = Array.from({ length: SEEN_ACTIONS_MAX }, (_, index) => `action${index}`);
    const capsOf = (actions: readonly string[]) => {
      return actions.map((action) => ({
        action,
        attribute: '',
        maxBehaviours: 1,
        windowSeconds: 5,
      }));
    };
    const other = new SeenActions();
    const had = stored(many.map((action) => ({ itemId: 'a', action, ageMs: 9e9 })));
    expect(other.unseen(capsOf(['view']), 'caps', had)).toEqual(['caps[0].action: view']);
    other.unseen(capsOf(many), 'caps', had);
    expect(other.unseen(capsOf(['view']), 'caps', [])).toEqual([]);
  });

  it('are cut where older behaviours of a window may not have been read or kept', () => {
    const [cap] = parseFrequencyCaps('impression=1,5s') as [FrequencyCap];
    const seen = (...ages: number[]) =>
      stored(ages.map((age) => ({ itemId: 'a', action: 'impression', ageMs: age * 1000 })));
    const cut = (list: Behaviour[], most: number, retention?: string) => {
      const kept = retention === undefined ? undefined : parseRetention(retention);
      return areCut([cap], { historyItemsMax: most, retention: kept }, list, NOW_MS);
    };
    expect(cut(seen(4, 3), 2)).toBe(true);
    expect(cut(seen(4, 3), 3)).toBe(false);
    expect(cut(seen(6, 3), 2)).toBe(false);
    expect(cut([], 1)).toBe(false);
    expect(cut(seen(4, 3), 9, 'impression=2; *=9')).toBe(true);
    expect(cut(seen(4, 3), 9, 'impression=3; *=2')).toBe(false);
    expect(cut(seen(6, 3), 9, 'impression=2; *=9')).toBe(false);
  });
});

const CAP: FrequencyCap = { action: 'view', maxBehaviours: 3, windowSeconds: 60, attribute: '' };
const KEPT = { historyItemsMax: 50, retention: parseRetention('view=20,1h; *=100') };

function refusalOf(caps: readonly FrequencyCap[]): string {
  try {
    checkFrequencyCaps(caps, 'frequencyCaps', KEPT, expecting('REQUEST_INVALID'));
    return '';
  } catch (thrown) {
    const { code, message } = thrown as TesseraError;
    expect(code).toBe('REQUEST_INVALID');
    return message;
  }
}

describe('a list of frequency caps', () => {
  const refused: readonly (readonly [Partial<FrequencyCap>, string])[] = [
    [{ action: '' }, 'action: expected 1..64 characters, got 0'],
    [{ action: 'a'.repeat(65) }, 'action: expected 1..64 characters, got 65'],
    [{ attribute: 'a'.repeat(257) }, 'attribute: expected 0..256 characters, got 257'],
    [{ maxBehaviours: 0 }, 'maxBehaviours: expected 1..50, which a recall reads'],
    [{ action: 'click', maxBehaviours: 51 }, 'maxBehaviours: expected 1..50, which a recall reads'],
    [{ windowSeconds: 0 }, 'windowSeconds: expected 1..'],
    [{ windowSeconds: 0.5 }, 'windowSeconds: expected 1..'],
    [{ maxBehaviours: 21 }, 'maxBehaviours: expected 1..20, which behaviours.retention keeps'],
    [{ windowSeconds: 3601 }, 'windowSeconds: expected 1..3600, which behaviours.retention keeps'],
  ];

  it.each(refused)('is refused for %j, which could never be proven', (change, message) => {
    expect(refusalOf([CAP, Object.assign({}, CAP, change)])).toContain(
      `frequencyCaps[1].${message}`,
    );
  });

  it('is refused where there are too many, and taken just within the bounds', () => {
    expect(refusalOf(new Array(9).fill(CAP))).toBe('frequencyCaps: expected at most 8 caps, got 9');
    const widest = {
      action: 'view',
      maxBehaviours: 20,
      windowSeconds: 3600,
      attribute: 'campaign',
    };
    expect(
      refusalOf([widest, { action: 'x', maxBehaviours: 50, windowSeconds: 1e9, attribute: '' }]),
    ).toBe('');
  });

  it('is read from the configuration', () => {
    expect(parseFrequencyCaps(' impression=3,1d; a|b = 10 , 90m, campaign id ;')).toEqual([
      { action: 'impression', maxBehaviours: 3, windowSeconds: 86_400, attribute: '' },
      { action: 'a|b', maxBehaviours: 10, windowSeconds: 5400, attribute: 'campaign id' },
    ]);
    for (const text of ['impression', 'impression=3', '=3,1d', 'impression=3,1w', 'a=3,1d,']) {
      expect(() => parseFrequencyCaps(text)).toThrow('recall.frequencyCaps: expected ACTION=');
    }
  });
});
