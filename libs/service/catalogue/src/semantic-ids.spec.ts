import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CatalogueChanges } from './catalogue-changes.js';
import { parseSource } from './domain/catalogue-source.js';
import type { CatalogueChange } from './domain/change.js';
import { ChangeBatch } from './domain/change-batch.js';
import { parseChangeLine } from './domain/change-line.js';
import type { TextEmbedder } from './domain/text-embedder.js';
import { wordsOf } from './domain/words.js';
import { type CodebookFolder, readCodebookFolder } from './outside/codebook-folder.js';
import { prepareCatalogue } from './prepare-catalogue.js';

/** `python -m trainer.semantic_ids.fixtures` wrote it: texts, and what the trainer made of them. */
const FIXTURE = 'test/fixtures/sids';
const { digest, cases } = JSON.parse(readFileSync(join(FIXTURE, 'cases.json'), 'utf8')) as {
  readonly digest: string;
  readonly cases: readonly { text: string; vector: number[]; codes: number[] }[];
};
const [first] = cases as [(typeof cases)[number]];
const NO_ENCODERS = { find: () => undefined };
/** Of the fixture's codebooks. */
const CAPACITY = 2;

const ITEMS = ['a', 'b'].map((id, i) => JSON.stringify({ item_id: id, sid: [i, i, i] }));
const levelSizes = [8, 8, 8];
let folder = temporaryFolder({});
let ids: CodebookFolder;
let changes: CatalogueChanges;
let close: () => void;

beforeEach(async () => {
  folder = temporaryFolder({ 'items.jsonl': ITEMS.join('\n') });
  ids = await readCodebookFolder(FIXTURE, NO_ENCODERS);
  changes = await opened(ids);
});
afterEach(() => {
  close();
  folder.remove();
});

async function opened(semanticIds: CodebookFolder | undefined): Promise<CatalogueChanges> {
  const { catalogue } = await prepareCatalogue({
    sources: [parseSource(join(folder.path, 'items.jsonl'))],
    titlesPath: '',
    cacheDir: join(folder.path, 'cache'),
    onProgress: () => undefined,
  });
  const kept = join(folder.path, 'changes');
  await catalogue.keep({ folder: kept, sync: 'commit', levelSizes, reserveBytes: 0 });
  if (semanticIds !== undefined) await catalogue.quantiseBy(semanticIds.codebooks);
  close = () => catalogue.close();
  const onCompacted = () => undefined;
  const options = { folder: kept, compactAfterChanges: 0, onCompacted, semanticIds };
  return new CatalogueChanges(catalogue, options);
}

function upsert(itemId: string, source: object): CatalogueChange {
  const nothing = { sid: [], title: '', attributes: '', priority: 0 };
  return Object.assign({ op: 'upsert' as const, itemId }, nothing, source);
}

/** SIDs of items that came with vectors or texts. */
async function placedOf(given: readonly CatalogueChange[]): Promise<number[][]> {
  const { placed } = await changes.apply(given);
  return Array.from({ length: given.length }, (_, i) => [
    ...placed.codes.subarray(placed.offsets[i], placed.offsets[i + 1]),
  ]);
}

/** A file of zeros. */
function codebooksFile(shapes: Readonly<Record<string, readonly number[]>>): Buffer {
  const metadata = { 'tessera-codebooks': '{"version": 1, "capacity": 1}' };
  const header: Record<string, object> = { __metadata__: metadata };
  let end = 0;
  for (const [name, shape] of Object.entries(shapes)) {
    const first = end;
    end += 4 * shape.reduce((product, size) => product * size, 1);
    header[name] = { dtype: 'F32', shape, data_offsets: [first, end] };
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, Buffer.alloc(end)]);
}

describe('texts', () => {
  it('become the vectors that the trainer makes of them, bit for bit', async () => {
    const texts = cases.map(({ text }) => text);
    const vectors = (await ids.embedder?.embed(texts, String)) ?? [];
    expect(vectors.map((vector) => [...vector])).toEqual(cases.map(({ vector }) => vector));
  });

  it.each([
    ["L'Oréal Paris, 2.5 OZ", ['l', 'oréal', 'paris', '2', '5', 'oz']],
    ['ﬁne-toothed COMB', ['fine', 'toothed', 'comb']],
    ['口红 no.5 口', ['口红', 'no', '5', '口']],
    ['保湿面膜10片', ['保湿', '湿面', '面膜', '10', '片']],
    ['हिन्दी', ['हिन्दी']],
    ['ครีม', ['คร', 'รี', 'ีม']],
    [' -- ', []],
  ])('%s has words', (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });
});

describe('an item with a text', () => {
  it("gets the trainer's codes while there is room, and the next ones then", async () => {
    const given = cases.map(({ text }, i) => upsert(`n${i}`, { text }));
    const placed = await placedOf(given);
    const taken = new Map<string, number>();
    for (const [i, { codes }] of cases.entries()) {
      const count = taken.get(codes.join()) ?? 0;
      if (count < CAPACITY) expect(placed[i]).toEqual(codes);
      const mine = placed[i]?.join() ?? '';
      taken.set(mine, (taken.get(mine) ?? 0) + 1);
    }
    expect(Math.max(...taken.values())).toBe(CAPACITY);
  });

  it('has the SID of its vector, which stays through further texts and a restart', async () => {
    const [placed] = await placedOf([upsert('n', { vector: first.vector })]);
    expect(placed).toEqual(first.codes);
    expect(await placedOf([upsert('n', { text: cases[1]?.text })])).toEqual([placed]);
    close();
    changes = await opened(ids);
    expect(await placedOf([upsert('n', { text: cases[2]?.text, codebooks: digest })])).toEqual([
      placed,
    ]);
  });

  it('comes by lines of a file too', async () => {
    const line = JSON.stringify({ item_id: 'n', text: first.text, title: 'new' });
    expect(await placedOf([parseChangeLine(line, 1)])).toEqual([first.codes]);
  });

  it.each([
    [{ item_id: 'n', text: 'a', vector: [1] }, 'line 1: vector: expected one of sid, vector'],
    [{ item_id: 'n', text: 'a', sid: [1] }, 'line 1: sid: expected one of sid, vector and text'],
    [{ item_id: 'n', text: '' }, 'line 1: text: expected a text that is not empty, got ""'],
    [{ item_id: 'n', vector: [] }, 'line 1: vector: expected a list of finite numbers'],
  ])('is refused in a line where it is not one: %j', (members, message) => {
    expect(() => parseChangeLine(JSON.stringify(members), 1)).toThrow(message);
  });

  it.each([
    [
      { text: '-- !' },
      'changes[1].text: expected a text with a word, or a part of one, of the vocabulary, got -- !',
    ],
    [{ text: 'cream', sid: [1, 1, 1] }, 'changes[1].text: expected none beside a sid or vector'],
    [{ text: 'cream', codebooks: 'f00' }, `changes[1].codebooks: expected ${digest}, got f00`],
    [{ vector: [1, 2] }, 'changes[1].vector: expected 12 numbers, as the codebooks have, got 2'],
    [
      { vector: Array.from({ length: 12 }, () => Number.NaN) },
      'changes[1].vector[0]: expected a number of at most 1e15, got nan',
    ],
    [{}, 'changes[1].sid: expected codes, or a vector or text in place of them, got none'],
  ])('is refused with its field and nothing applied: %j', async (source, message) => {
    const good = upsert('good', { vector: first.vector });
    await expect(changes.apply([good, upsert('n', source)])).rejects.toThrow(message);
    expect(changes.state().sequence).toBe(0);
  });
});

describe('a landing', () => {
  it('shows codes, distances and items near, by text or vector, and changes nothing', async () => {
    await changes.apply([upsert('n', { text: first.text, title: 'near' })]);
    const by = { text: first.text, codebooks: digest };
    const landing = await changes.landing(by, 2);
    expect(landing).toMatchObject({ codes: first.codes, sid: first.codes, codebooks: digest });
    expect(landing).toMatchObject({ sequence: 1, neighbours: [{ itemId: 'n' }, {}] });
    expect(landing.neighbours[0]).toMatchObject({ sharedLevels: 3, title: 'near' });
    const { distances } = landing;
    expect(distances.every((distance) => Math.fround(distance) === distance)).toBe(true);
    expect(await changes.landing({ vector: first.vector }, 2)).toEqual(landing);
    expect(changes.state().sequence).toBe(1);
  });

  it('is refused without codebooks, or without an embedding where a text is given', async () => {
    close();
    const bare = await opened(undefined);
    const none = 'expected none, since the catalogue has no codebooks';
    await expect(bare.landing({ vector: [1] }, 1)).rejects.toThrow(`vector: ${none}`);
    await expect(bare.landing({ text: 'a' }, 1)).rejects.toThrow(`text: ${none}`);
    await expect(bare.apply([upsert('n', { text: 'a' })])).rejects.toThrow(`changes[0].text`);
  });
});

/** The vectors of the fixture's texts, as if a model had made them. */
class RecordedEncoder implements TextEmbedder {
  readonly name = 'recorded';
  readonly calls: number[] = [];
  constructor(readonly dimension = first.vector.length) {}

  embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    this.calls.push(texts.length);
    const vectorOf = (text: string) => cases.find((one) => one.text === text)?.vector ?? [];
    return Promise.resolve(texts.map((text) => Float32Array.from(vectorOf(text))));
  }
}

describe('codebooks of an encoder', () => {
  const modelDigest = 'ab'.repeat(32);
  const mark = { version: 1, kind: 'encoder', model_digest: modelDigest, compute_type: 'bf16' };
  let path: string;
  beforeEach(() => {
    path = join(folder.path, 'sids');
    cpSync(FIXTURE, path, { recursive: true });
    writeFileSync(join(path, 'text.json'), JSON.stringify(mark));
  });

  it('give texts the semantic IDs of its vectors, all of a batch at once', async () => {
    const encoder = new RecordedEncoder();
    const asked: object[] = [];
    const find = (sought: object) => {
      asked.push(sought);
      return encoder;
    };
    close();
    changes = await opened(await readCodebookFolder(path, { find }));
    expect(changes.textsBy).toBe('recorded');
    const { dimension } = encoder;
    const older = { modelDigest, tokensDigest: undefined, computeType: 'bf16', dimension };
    expect(asked).toEqual([older]);
    const tokensDigest = 'cd'.repeat(32);
    const whole = Object.assign({}, mark, { tokens_digest: tokensDigest });
    writeFileSync(join(path, 'text.json'), JSON.stringify(whole));
    await readCodebookFolder(path, { find });
    expect(asked[1]).toEqual(Object.assign({}, older, { tokensDigest }));
    const batch = new ChangeBatch();
    for (const [i, { text }] of cases.entries()) batch.add([upsert(`n${i}`, { text })]);
    await changes.applyBatch(batch);
    expect(encoder.calls).toEqual([cases.length]);
    const places = new Map<string, readonly number[]>();
    for (const page of (await changes.listItems()).pages) {
      for (const { itemId, sid } of page) places.set(itemId, [...sid]);
    }
    const alone = new Set(cases.map(({ codes }) => codes.join()));
    for (const [i, { codes }] of cases.entries()) {
      if (alone.delete(codes.join())) expect(places.get(`n${i}`)).toEqual(codes);
    }
  });

  it('refuse texts, not vectors, where the process does not have it', async () => {
    close();
    changes = await opened(await readCodebookFolder(path, NO_ENCODERS));
    const [sid] = await placedOf([upsert('n', { vector: first.vector })]);
    expect(sid).toEqual(first.codes);
    const refused = changes.apply([upsert('a', {}), upsert('m', { text: first.text })]);
    await expect(refused).rejects.toMatchObject({
      code: 'CATALOGUE_INVALID',
      message: expect.stringContaining(
        `changes[1].text: expected a vector, or model ${modelDigest}`,
      ),
    });
    expect(changes.textsBy).toContain(`embedding.models lacks model ${modelDigest} in bf16`);
    expect(changes.state().sequence).toBe(1);
  });

  it('are refused where its vectors have another dimension', async () => {
    const find = () => new RecordedEncoder(7);
    const reading = readCodebookFolder(path, { find });
    await expect(reading).rejects.toThrow('expected vectors of 7 numbers, as texts have by text');
  });
});

describe('a folder of codebooks', () => {
  const copied = () => {
    const path = join(folder.path, 'sids');
    cpSync(FIXTURE, path, { recursive: true });
    return path;
  };

  it('may say nothing of texts', async () => {
    const path = copied();
    rmSync(join(path, 'text.json'));
    expect(await readCodebookFolder(path, NO_ENCODERS)).toMatchObject({
      digest,
      embedder: undefined,
    });
  });

  it.each([
    ['codebooks.safetensors', '{}', 'expected a safetensors file, got 2 bytes'],
    ['text.json', '{"version": 2}', 'expected version 1, kind tfidf-svd or encoder'],
    ['text.json', '{"version": 1, "kind": "tfidf-svd"}', 'text.json: words: expected an array'],
    ['text.json', '{"version": 1, "kind": "encoder"}', 'model_digest: expected a SHA-256'],
    ['text.json', '{', 'text.json: expected JSON'],
    ['text.json', '{"version": 1, "kind": "tfidf-svd", "words": ["a"]}', 'components of 1 words'],
  ])('is refused where %s is %s', async (name, content, message) => {
    const path = copied();
    writeFileSync(join(path, name), content);
    await expect(readCodebookFolder(path, NO_ENCODERS)).rejects.toThrow(message);
  });

  it.each([
    [{ 'level.0': [2, 4], 'level.1': [4, 2] }, 'level.1: expected rows of 4 numbers, got 2'],
    [
      { 'encoder.0.weight': [3, 5], 'encoder.0.bias': [3], 'level.0': [2, 5] },
      'level.0: expected rows of 3 numbers, got 5',
    ],
    [{ 'level.0': [8] }, 'level.0: expected a matrix of F32, got [8]'],
    [{}, 'expected vectors of 12 numbers, as texts have by text.json, got 0'],
  ])('is refused where the matrices of %j do not fit', async (shapes, message) => {
    const path = copied();
    writeFileSync(join(path, 'codebooks.safetensors'), codebooksFile(shapes));
    close();
    const reading = readCodebookFolder(path, NO_ENCODERS).then((read) => opened(read));
    await expect(reading).rejects.toThrow(message);
  });

  it('is refused where there is none', async () => {
    const missing = readCodebookFolder(join(folder.path, 'none'), NO_ENCODERS);
    await expect(missing).rejects.toMatchObject({ code: 'CATALOGUE_NOT_FOUND' });
  });
});
