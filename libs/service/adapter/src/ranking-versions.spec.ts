import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { FakeAdapterEngine, partsOf, pushOf, temporaryFolder } from '@tessera/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { type AdapterProbe, Adapters, CANARY_RULES, fetchedParts, ranksApart } from './index.js';

const folder = temporaryFolder({});
let opened: Adapters | undefined;
afterEach(async () => {
  await opened?.close();
  opened = undefined;
  folder.remove();
});

const probed: (string | undefined)[] = [];
const probe: AdapterProbe = {
  recall: async (_, adapter) => {
    probed.push(adapter?.digest);
    return { itemIds: ['a'], isShort: false };
  },
  warm: async () => undefined,
  sampleUserIds: async () => ['ann'],
};
/** A token for each character. */
const tokenizer = { encode: (text: string) => [...text].map((one) => one.charCodeAt(0)) };

async function open(): Promise<Adapters> {
  probed.length = 0;
  const limits = { rankMax: 8, normMax: 10, versionBytesMax: 1e6, diskBytesMax: 1e6 };
  const registry = { folder: join(folder.path, 'adapters'), defaultName: 'main', limits };
  const golden = { path: '', userCount: 1 };
  const rollout = { golden, watch: { rules: CANARY_RULES }, warmUsers: 3, warmMs: 1000 };
  const settings = { registry, rollout, onEvent: () => undefined };
  opened = await Adapters.open(new FakeAdapterEngine(), probe, settings, tokenizer);
  return opened;
}

const RANKING = { version: 1, item: '<{sid}>', heads: [{ name: 'click' }] };
const ranks = (change: object = {}) => ({
  'ranking.json': JSON.stringify({ ...RANKING, ...change }),
  'heads.safetensors': 'heads',
});
const factors = (config: object = {}) => ({
  'adapter_config.json': JSON.stringify(config),
  'adapter_model.safetensors': 'factors',
});
const alora = (...tokens: number[]) => factors({ alora_invocation_tokens: tokens });

async function refusal(files: Readonly<Record<string, string>>): Promise<string> {
  const adapters = await open();
  const error = await adapters.push(partsOf(pushOf('ranking', files))).then(
    () => undefined,
    (thrown: unknown) => TesseraError.from(thrown),
  );
  return `${error?.code} ${error?.message}`;
}

describe('a version that ranks', () => {
  it.each([
    ['heads alone', ranks(), true],
    ['heads and factors', { ...factors(), ...ranks() }, false],
    ['heads and an activated adapter', { ...ranks(), ...alora('<'.charCodeAt(0)) }, true],
  ])('has %s, is tried, chosen and has its item at hand', async (_, files, isApart) => {
    const adapters = await open();
    const { version } = await adapters.push(partsOf(pushOf('ranking', files)));
    expect(version).toMatchObject({ state: 'validated', name: 'ranking' });
    expect(version.files).toHaveLength(Object.keys(files).length);
    expect(probed).toEqual([version.digest]);
    await adapters.activate('ranking', version.digest, {
      share: 1,
      isCompared: true,
      isWarmed: true,
    });
    const { adapter, release } = adapters.choose('ranking', 'ann');
    expect(adapter?.reading?.item.prefix).toEqual(Int32Array.of('<'.charCodeAt(0)));
    expect(adapter && ranksApart(adapter.engine)).toBe(isApart);
    release();
  });

  it('has a digest of all its files, in whichever order they came', async () => {
    const adapters = await open();
    const there = { ...factors(), ...ranks() };
    const back = { ...ranks(), ...factors() };
    const { version } = await adapters.push(partsOf(pushOf('ranking', there)));
    expect((await adapters.push(partsOf(pushOf('other', back)))).version.digest).toBe(
      version.digest,
    );
  });

  it.each([
    [{}, 'ADAPTER_INVALID files: expected adapter_config.json, got a push without it'],
    [
      { 'ranking.json': '{}' },
      'ADAPTER_INVALID files: expected heads.safetensors, got a push without it',
    ],
    [
      { ...ranks(), 'adapter_config.json': '{}' },
      'ADAPTER_INVALID files: expected adapter_model.safetensors, got a push without it',
    ],
    [{ ...ranks(), 'readme.md': 'x' }, 'ADAPTER_INVALID files[2].name: expected adapter_config'],
    [ranks({ item: 'x' }), 'ADAPTER_INVALID ranking.json: item: expected {sid} once'],
    [ranks({ items: 'x' }), 'ADAPTER_INVALID ranking.json: items: expected no such key'],
    [
      ranks({ heads: [{ name: 'click', scoreWeight: '1' }] }),
      'ADAPTER_INVALID ranking.json: heads[0].scoreWeight: expected a number, got "1"',
    ],
    [ranks({ version: 2 }), 'ADAPTER_INVALID ranking.json: version: expected an integer in 1..1'],
    [
      ranks({ model: 'other' }),
      'ADAPTER_INVALID ranking.json: model: expected \'fake-model\', which is served, got "other"',
    ],
    [
      { ...ranks(), ...alora(7, 8) },
      'ADAPTER_INVALID ranking.json: item: expected a text of the tokens 7, 8 first',
    ],
  ])('%j is refused', async (files, message) => {
    expect(await refusal(files)).toContain(message);
    expect(opened?.list('ranking').filter(({ isLoaded }) => isLoaded)).toEqual([]);
  });

  it('is watched by its clicks beside the canary of the own adapter, and not counted', async () => {
    const adapters = await open();
    const all = { share: 1, isCompared: false, isWarmed: false };
    const canaries = [];
    for (const [name, files] of [['main', factors] as const, ['ranking', ranks] as const]) {
      for (const share of [1, 0.5]) {
        const { version } = await adapters.push(partsOf(pushOf(name, files({ name: `${share}` }))));
        canaries.push((await adapters.activate(name, version.digest, { ...all, share })).version);
      }
    }
    const [own, ranker] = ['main', 'ranking'].map((name) => adapters.choose(name, 'ann'));
    if (own === undefined || ranker === undefined) throw new Error('expected two versions');
    const outcome = { items: [{ itemId: 'a', score: 0.5 }], isShort: false };
    const again = async () => ({ itemIds: ['a'], isShort: false });
    adapters.observe(own, { userId: 'ann', ms: 1, outcome, again });
    adapters.observeRanking(ranker, { userId: 'ann', ms: 1, outcome, again });
    adapters.clicked('ann', 'a');
    for (const version of canaries.filter(({ share }) => share < 1 && share > 0)) {
      const { canary, active } = adapters.comparisonOf(version) ?? {};
      expect((canary?.clicks ?? 0) + (active?.clicks ?? 0), version.name).toBe(1);
    }
    const { recalls } = adapters.counts();
    expect(recalls.active + recalls.canary).toBe(1);
    for (const lease of [own, ranker]) lease.release();
  });

  it('is fetched from a folder with both pairs, and with half of one not at all', async () => {
    const source = temporaryFolder({
      'whole/ranking.json': ranks()['ranking.json'],
      'whole/heads.safetensors': 'heads',
      'half/ranking.json': '{}',
      'half/adapter_config.json': '{}',
      'half/adapter_model.safetensors': 'factors',
    });
    const announced = { name: 'ranking', baseModel: 'fake-model', sha256: {} };
    const parts = (location: string) => fetchedParts(source.path, { ...announced, location });
    const adapters = await open();
    expect((await adapters.push(parts('whole'))).version.files).toHaveLength(2);
    await expect(adapters.push(parts('half'))).rejects.toMatchObject({
      code: 'ADAPTER_NOT_FOUND',
    });
    source.remove();
  });
});
