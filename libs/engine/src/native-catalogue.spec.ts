import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChangingCatalogue, type GivenChange, NO_ITEM } from './catalogue.js';
import type { Clause } from './index.js';
import { buildCatalogue, openCatalogue } from './native-catalogue.js';

const ITEMS = [
  { item_id: 'a', sid: [0, 0] },
  { item_id: 'b', sid: [0, 1] },
  { item_id: 'c', sid: [1, 0] },
];

const folder = temporaryFolder({
  'items.jsonl': ITEMS.map((item) => JSON.stringify(item)).join('\n'),
});
let catalogue: ChangingCatalogue;

beforeAll(async () => {
  const source = join(folder.path, 'items.jsonl');
  const outputPath = join(folder.path, 'catalogue.snapshot');
  const sources = [{ path: source, domain: '' }];
  await buildCatalogue(
    { sources, titlesPath: '', levelSizes: [2, 2], outputPath },
    () => undefined,
  );
  catalogue = await openCatalogue(outputPath);
});

afterAll(() => {
  catalogue.close();
  folder.remove();
});

describe('changes of a catalogue', () => {
  it('brings every member of a patch across', async () => {
    const attributes = () => catalogue.view().items(catalogue.view().find(['c']))[0]?.attributes;
    const set = '{"t":"x","n":1,"l":["a","b"],"gone":1}';
    await catalogue.apply([[{ op: 'set_attributes', itemId: 'c', attributes: set }]]);
    const patch = {
      set: '{"t":"y"}',
      unset: ['gone'],
      add: [{ attribute: 'more', texts: ['z'] }],
      take: [{ attribute: 'l', texts: ['a'] }],
      delta: [{ attribute: 'n', delta: -0.5 }],
    };
    const predicate: Clause = {
      kind: 'range',
      attribute: 'n',
      values: [],
      min: 1,
      max: Number.POSITIVE_INFINITY,
      clauses: [],
    };
    const applied = await catalogue.apply([
      [{ op: 'patch_attributes', itemId: '', predicate, patch }],
      [{ op: 'pause', itemId: '', predicate }],
    ]);
    expect(applied).toMatchObject({ sequence: 2, changeCount: 1, matched: Uint32Array.of(1, 0) });
    expect(attributes()).toBe('{"t":"y","n":0.5,"l":["b"],"more":["z"]}');
    const pace = (text: string) => ({ attribute: 't', text, factor: 0.5 });
    const paced = await catalogue.apply([
      ['y', 'nosuch'].map((text) => ({ op: 'set_pace', itemId: '', pace: pace(text) })),
    ]);
    expect(paced).toMatchObject({ paced: Uint32Array.of(1, 0), unvalued: [] });
    expect(catalogue.view().knows(['t', 'nosuch', 'more'])).toEqual(Uint32Array.of(1, 0, 1));
  });
});

describe('marks of batches and digests', () => {
  const opened = async (name: string) => {
    const source = join(folder.path, 'items.jsonl');
    const outputPath = join(folder.path, `${name}.snapshot`);
    const sources = [{ path: source, domain: '' }];
    await buildCatalogue(
      { sources, titlesPath: '', levelSizes: [2, 2], outputPath },
      () => undefined,
    );
    return openCatalogue(outputPath);
  };
  const kept = async (name: string) => {
    const one = await opened(name);
    const changes = join(folder.path, `${name}-changes`);
    await one.keep({ folder: changes, sync: 'never', levelSizes: [], reserveBytes: 0 });
    return one;
  };

  it('are there again after a start, a compaction and a roll-back', async () => {
    let one = await kept('marked');
    const before = await one.digest();
    expect(before).toMatchObject({ sequence: 0, mark: '' });
    expect(before.digest).toMatch(/^[0-9a-f]{32}$/);
    await one.apply([[{ op: 'pause', itemId: 'a' }]], 'at 7 – ü');
    await one.apply([[{ op: 'resume', itemId: 'b' }]]);
    expect(one.state()).toMatchObject({ sequence: 2, mark: 'at 7 – ü' });
    const paused = await one.digest();
    expect(paused.digest).not.toBe(before.digest);
    expect(await one.apply([[]], 'at 9')).toMatchObject({ sequence: 2, changeCount: 0 });
    await one.compact();
    expect(await one.digest()).toEqual({ sequence: 2, mark: 'at 9', digest: paused.digest });
    const unkept = { code: 'CATALOGUE_NOT_FOUND', field: 'sequence' };
    await expect(one.rollBack(99)).rejects.toMatchObject(unkept);
    await one.rollBack(0);
    one.close();
    one = await kept('marked');
    expect(await one.digest()).toEqual({ sequence: 3, mark: 'at 9', digest: before.digest });
    one.close();
  });

  it('are of the items alone, in whatever order they came', async () => {
    const [one, other] = [await opened('one'), await opened('other')];
    const changes: GivenChange[] = [
      { op: 'upsert', itemId: 'new', sid: [1, 1], title: 't', attributes: '{"n":1}', priority: 2 },
      { op: 'remove', itemId: 'a' },
    ];
    await one.apply([changes]);
    for (const change of changes.toReversed()) await other.apply([[change]]);
    expect((await other.digest()).digest).toBe((await one.digest()).digest);
    one.close();
    other.close();
  });

  it('are refused beyond their length, with the changes they come with', async () => {
    const before = catalogue.state();
    const refused = catalogue.apply([[{ op: 'pause', itemId: 'a' }]], 'x'.repeat(4097));
    await expect(refused).rejects.toMatchObject({
      code: 'CATALOGUE_INVALID',
      message: 'mark: expected at most 4096 bytes, got 4097',
    });
    expect(catalogue.state()).toEqual(before);
  });
});

describe('attributes with a number that is no double', () => {
  const NO_PATCH = { set: '', unset: [], add: [], take: [], delta: [] };
  const priority = 0;
  const attributes = '{"bid":[1,1e400]}';
  const changes: GivenChange[] = [
    { op: 'upsert', itemId: 'c', sid: [1], title: '', attributes, priority },
    { op: 'set_attributes', itemId: 'c', attributes: '{"bid":-1e400}' },
    { op: 'patch_attributes', itemId: 'c', patch: { ...NO_PATCH, set: '{"bid":1e400}' } },
    {
      op: 'patch_attributes',
      itemId: 'c',
      patch: { ...NO_PATCH, delta: [{ attribute: 'bid', delta: Number.POSITIVE_INFINITY }] },
    },
  ];

  it.each(changes)('are refused of $op, and nothing of the batch is applied', async (change) => {
    const before = catalogue.state().sequence;
    await expect(catalogue.apply([[{ op: 'pause', itemId: 'c' }, change]])).rejects.toMatchObject({
      code: 'CATALOGUE_INVALID',
      message: expect.stringMatching(/^changes\[1\]\./),
    });
    expect(catalogue.state().sequence).toBe(before);
  });
});

describe('a view of a catalogue', () => {
  it('says what its version said, whichever versions others ask for meanwhile', async () => {
    const before = catalogue.view();
    const ordinals = before.find(['a', 'b', 'new']);
    expect(ordinals[2]).toBe(NO_ITEM);
    await catalogue.apply([
      [
        { op: 'upsert', itemId: 'a', sid: [1, 1] },
        { op: 'upsert', itemId: 'new', sid: [0, 0] },
      ],
    ]);
    const after = catalogue.view();
    const moved = after.find(['a', 'new']);
    const own = ordinals.subarray(0, 2);
    expect(before.sids(own)).toEqual([
      [0, 0],
      [0, 1],
    ]);
    expect(after.sids(moved)).toEqual([
      [1, 1],
      [0, 0],
    ]);
    expect([...before.find(['new'])]).toEqual([NO_ITEM]);
    expect(() => before.items(moved)).toThrow(/expected an ordinal/);
  });
});
