import { join } from 'node:path';
import { mayBeHad, randomAttributes, randomEligibility, temporaryFolder } from '@tessera/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addon } from './addon.js';
import {
  type Catalogue,
  type Clause,
  type CountedCap,
  EVERY_ITEM,
  NO_ELIGIBILITY,
  NO_POLICY,
  REACH_LIMITS,
  type ReachRequest,
} from './index.js';
import { buildCatalogue, NativeCatalogue, openCatalogue } from './native-catalogue.js';

const SEED = 20261123;
const ITEMS = fc.sample(randomAttributes, { seed: SEED, numRuns: 24 }).map((attributes, i) => ({
  item_id: `i${i}`,
  sid: [i % 4, i % 3],
  attributes,
}));
const IDS = ITEMS.map((item) => item.item_id);
type Item = (typeof ITEMS)[number];

const folder = temporaryFolder({
  'items.jsonl': ITEMS.map((item) => JSON.stringify(item)).join('\n'),
});
let catalogue: Catalogue;

beforeAll(async () => {
  const outputPath = join(folder.path, 'catalogue.snapshot');
  const sources = [{ path: join(folder.path, 'items.jsonl'), domain: '' }];
  await buildCatalogue({ sources, titlesPath: '', levelSizes: [], outputPath }, () => undefined);
  catalogue = await openCatalogue(outputPath);
});

afterAll(() => {
  catalogue.close();
  folder.remove();
});

const counts = fc.uniqueArray(
  fc.tuple(fc.constantFrom(...IDS, 'never-was'), fc.integer({ min: 1, max: 3 })),
  { selector: ([itemId]) => itemId, maxLength: 6 },
);
const randomCaps = fc.array(
  fc.tuple(fc.constantFrom('', 'country'), fc.integer({ min: 1, max: 5 }), counts).map(
    ([attribute, maxBehaviours, counted]): CountedCap => ({
      path: 'frequencyCaps[0]',
      attribute,
      maxBehaviours,
      itemIds: counted.map(([itemId]) => itemId),
      behaviours: Uint32Array.from(counted, ([, count]) => count),
    }),
  ),
  { maxLength: 3 },
);

/** By the rules of docs/concepts/eligibility.md. */
function isFull({ attribute, maxBehaviours, itemIds, behaviours }: CountedCap, item: Item) {
  const { country } = item.attributes;
  const counting = [...itemIds.keys()].filter((i) => {
    if (attribute === '') return itemIds[i] === item.item_id;
    const other = ITEMS.find(({ item_id }) => item_id === itemIds[i]);
    return country !== undefined && other?.attributes.country === country;
  });
  return counting.reduce((sum, i) => sum + (behaviours[i] ?? 0), 0) >= maxBehaviours;
}

describe('an eligibility that has crossed', () => {
  it('lets the same items pass as the clauses and caps before they crossed', async () => {
    const drawn = fc.tuple(randomEligibility(IDS), randomCaps);
    const property = fc.asyncProperty(drawn, async ([eligibility, caps]) => {
      const request = { eligibility: { ...eligibility, caps }, itemPolicy: NO_POLICY };
      const judged = await Promise.all(
        IDS.map((itemId) => catalogue.judge({ request, itemId, sequence: undefined })),
      );
      const passed = IDS.filter((_, i) => judged[i]?.verdict === 'open');
      const uncapped = ITEMS.filter((item) => mayBeHad(eligibility, item.item_id, item.attributes));
      const expected = uncapped.filter((item) => !caps.some((cap) => isFull(cap, item)));
      expect(passed).toEqual(expected.map((item) => item.item_id));
      const cappedItems = uncapped.length - expected.length;
      expect(await catalogue.reach(request)).toMatchObject({ sequence: 0, cappedItems });
    });
    await fc.assert(property, { seed: SEED, numRuns: 120 });
  });
});

const LEAF: Clause = {
  kind: 'range',
  attribute: 'bid',
  values: [],
  min: 0,
  max: Number.POSITIVE_INFINITY,
  clauses: [],
};
const joined = (kind: 'all' | 'not', clauses: readonly Clause[]): Clause => ({
  ...LEAF,
  kind,
  clauses,
});
const asked = (predicate: Clause): ReachRequest => ({
  eligibility: { ...NO_ELIGIBILITY, predicate },
  itemPolicy: NO_POLICY,
});
const ofDrawn = (drawn: Clause): ReachRequest => ({
  eligibility: { ...NO_ELIGIBILITY, drawn },
  itemPolicy: NO_POLICY,
});
const deep = (depth: number): Clause => (depth === 1 ? LEAF : joined('not', [deep(depth - 1)]));
const listed = (list: 'allowed' | 'denied' | 'seen'): ReachRequest => {
  const items = new Array<string>(REACH_LIMITS.listItems + 1).fill('i1');
  return { eligibility: { ...NO_ELIGIBILITY, [list]: items }, itemPolicy: NO_POLICY };
};
const capped = (diversity: ReachRequest['itemPolicy']['diversity']): ReachRequest => ({
  eligibility: NO_ELIGIBILITY,
  itemPolicy: { orderBy: '', diversity },
});
const counted = (cap: Partial<CountedCap>, times = 1): ReachRequest => {
  const none = { path: 'frequencyCaps[0]', attribute: '', maxBehaviours: 1, itemIds: [] };
  const full = Object.assign({ behaviours: Uint32Array.of() }, none, cap);
  const caps = new Array<CountedCap>(times).fill(full);
  return { eligibility: { ...NO_ELIGIBILITY, caps }, itemPolicy: NO_POLICY };
};
const CAP = { attribute: 'country', maxItems: 1 };
const PREDICATE = 'eligibility.predicate';

/** Path, and a request at fault there, which no edge has looked at. */
const REFUSED: readonly (readonly [string, ReachRequest])[] = [
  [PREDICATE + '.not'.repeat(REACH_LIMITS.clauseDepth), asked(deep(17))],
  [`${PREDICATE}.all[255]`, asked(joined('all', new Array(256).fill(LEAF)))],
  [PREDICATE, asked({ ...LEAF, kind: 'in', values: new Array(4097).fill('a') })],
  [PREDICATE, asked({ ...LEAF, kind: 'in', values: ['ä'.repeat(131_072)] })],
  [`${PREDICATE}.not`, asked(joined('not', []))],
  [`${PREDICATE}.not`, asked(joined('not', [LEAF, LEAF]))],
  [`${PREDICATE}.all[0].attribute`, asked(joined('all', [{ ...LEAF, attribute: '' }]))],
  [PREDICATE, asked({ ...LEAF, min: Number.NEGATIVE_INFINITY })],
  [PREDICATE, asked({ ...LEAF, min: Number.NaN })],
  ['eligibility.drawn', ofDrawn({ ...LEAF, kind: 'in', values: new Array(4097).fill('a') })],
  ['eligibility.allowed', listed('allowed')],
  ['eligibility.denied', listed('denied')],
  ['eligibility.seen', listed('seen')],
  [
    'itemPolicy.diversity',
    capped(['a', 'b', 'c', 'd', 'e'].map((attribute) => ({ ...CAP, attribute }))),
  ],
  ['itemPolicy.diversity[1].attribute', capped([CAP, CAP])],
  ['itemPolicy.diversity[0].maxItems', capped([{ ...CAP, maxItems: 0 }])],
  ['itemPolicy', capped([{ ...CAP, attribute: 'a'.repeat(4097) }])],
  ['frequencyCaps', counted({}, REACH_LIMITS.frequencyCaps + 1)],
  ['frequencyCaps[0].maxBehaviours', counted({ maxBehaviours: 0 })],
  ['frequencyCaps[0]', counted({ itemIds: ['i1', 'i2'], behaviours: Uint32Array.of(1) })],
  ['frequencyCaps[0].attribute', counted({ attribute: 'bid' })],
  // Deeper than any record: no request at all.
  ['eligibility', asked(deep(100))],
];

describe('the engine', () => {
  it.each(REFUSED)('refuses at %s what is beyond a limit or has no form', async (path, request) => {
    await expect(catalogue.reach(request)).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    await expect(catalogue.reach(request)).rejects.toThrow(`${path}: expected `);
  });

  it('takes what is just within the limits', async () => {
    await catalogue.reach(asked(deep(16)));
    await catalogue.reach(asked(joined('all', new Array(255).fill(LEAF))));
    await catalogue.reach(counted({ attribute: 'no-such' }, REACH_LIMITS.frequencyCaps));
    await catalogue.reach(EVERY_ITEM);
  });

  it('refuses words that are no request', async () => {
    const { handle } = catalogue as NativeCatalogue;
    const words = new Uint32Array([9, 9, 9, 9, 9]);
    await expect(addon().catalogueReach(handle, words, 5, 0)).rejects.toThrow('native/abi');
    expect(() => addon().catalogueReach(handle, words, 6, 0)).toThrow('catalogueReach.words');
    expect(() => addon().catalogueReach(handle, {} as never, 0, 0)).toThrow('catalogueReach.words');
  });
});
