import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadTokenizer, type Tokenizer } from '@tessera/prompt';
import { byteLevelTokenizer, levelTokenTexts, temporaryFolder } from '@tessera/testing';
import fc from 'fast-check';
import { Tokenizer as RustTokenizer } from 'tokenizers';
import { afterAll, describe, expect, it } from 'vitest';
import { tokenizerDocuments } from './domain/tokenizer-documents.js';

const QWEN2 = fileURLToPath(
  new URL('../../../../../shared/data/tokenizer-qwen2/', import.meta.url),
);
const QWEN2_ABSENT = existsSync(QWEN2)
  ? ''
  : ' (skipped: ../shared/data/tokenizer-qwen2 is absent)';
const LEVELS = ['<a_{code}>', '<b_{code}>'];
const folders: { remove: () => void }[] = [];

afterAll(() => {
  for (const folder of folders) folder.remove();
});

async function load(files: Record<string, unknown>): Promise<Tokenizer> {
  const folder = temporaryFolder(files);
  folders.push(folder);
  return await loadTokenizer(folder.path);
}

/** Texts that byte-level BPE finds awkward: spaces, marks, scripts, pieces of added tokens. */
const awkwardText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ' ',
        '  ',
        '\n',
        '\r\n',
        '\t',
        ': ',
        "it's",
        'hello the',
        '<a_',
        '<a_3>',
        '12',
        '1①2',
        '½',
        '٣4',
      ),
      fc.constantFrom('é', 'e\u0301', '用户', '🎧', '\u3000', '\u00a0', 'ﬁ', '가', '<b_1>', '>'),
      fc.string({ maxLength: 6, unit: 'binary' }),
    ),
    { maxLength: 12 },
  )
  // The two sides are of different Unicode versions: what is new to one is a letter to the other.
  .map((parts) => parts.join('').replace(/\p{Cn}|[\u{30000}-\u{3ffff}]/gu, ''));

const SEED = 31;

/** Of the words a, b, c as 1, 2, 3, with these texts added under these ids. */
function wordLevel(added: readonly (readonly [text: string, id: number])[]): object {
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  return {
    version: '1.0',
    added_tokens: added.map(([content, id]) =>
      Object.assign({ id, content, special: true }, flags),
    ),
    normalizer: null,
    pre_tokenizer: { type: 'Whitespace' },
    post_processor: null,
    decoder: null,
    model: { type: 'WordLevel', vocab: { '<unk>': 0, a: 1, b: 2, c: 3 }, unk_token: '<unk>' },
  };
}

function attempt<Result>(act: () => Result): Result | Error {
  try {
    return act();
  } catch (error) {
    return error as Error;
  }
}

function expectSameAsRust(tokenizer: Tokenizer, document: object): Promise<void> {
  const oracle = RustTokenizer.fromString(JSON.stringify(document));
  return fc.assert(
    fc.asyncProperty(awkwardText, async (text) => {
      const expected = await oracle.encode(text, null, { addSpecialTokens: false });
      expect(tokenizer.encode(text)).toEqual(expected.getIds());
    }),
    { numRuns: 500, verbose: 1, seed: SEED },
  );
}

describe('a tokenizer folder', () => {
  it('with tokenizer.json encodes as the Rust tokenizers package does', async () => {
    const document = byteLevelTokenizer(['<|bos|>', ...levelTokenTexts(LEVELS, [20, 20])]);
    await expectSameAsRust(await load({ 'tokenizer.json': document }), document);
  });

  it.each([
    ['normalizer.type', { normalizer: { type: 'Precompiled', precompiled_charsmap: 'AA==' } }],
    [
      'normalizer.normalizers[1].type',
      { normalizer: { type: 'Sequence', normalizers: [{ type: 'NFC' }, { type: 'Nmt' }] } },
    ],
    ['pre_tokenizer.type', { pre_tokenizer: { type: 'UnicodeScripts' } }],
    ['model.dropout', { model: { dropout: 0.1 } }],
    ['model.continuing_subword_prefix', { model: { continuing_subword_prefix: '##' } }],
  ])('refuses what is computed otherwise in the library: %s', async (field, change) => {
    const document = byteLevelTokenizer([]);
    const model = Object.assign({}, document.model, 'model' in change ? change.model : {});
    const changed = Object.assign({}, document, change, { model });
    await expect(load({ 'tokenizer.json': changed })).rejects.toMatchObject({
      code: 'TOKENIZER_INVALID',
      field,
    });
  });

  it('is not taken from pointers of Git LFS', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 9\n';
    await expect(load({ 'tokenizer.json': pointer })).rejects.toThrow(
      /tokenizer.json: expected the file, got a Git LFS pointer to it \(git lfs pull\)/,
    );
  });

  it('gets the added tokens that only the files beside tokenizer.json have', async () => {
    const document = byteLevelTokenizer(['<a_0>']);
    const [{ id }] = document.added_tokens as [{ id: number }];
    const tokenizer = await load({
      'tokenizer.json': document,
      'tokenizer_config.json': { added_tokens_decoder: { [id + 1]: { content: '<b_0>' } } },
      'added_tokens.json': { '<d_0>': id + 3, '<c_0>': id + 2 },
      'special_tokens_map.json': { eos_token: { content: '<c_0>' } },
    });
    expect(tokenizer.encode('<a_0><b_0><c_0><d_0>')).toEqual([id, id + 1, id + 2, id + 3]);
    expect(tokenizer.vocabSize).toBe(id + 4);
    expect(tokenizer.addedTokensIn('x <b_0> y')[0]).toMatchObject({ start: 2, end: 7 });
    expect(tokenizer.addedTokensIn('x <b_ 0> y')).toEqual([]);
  });

  it.each([
    // A text of the vocabulary has its id there; the others come after the vocabulary, in order.
    [[['b', 7]], 'added_tokens[0].id: expected 2, its id in the vocabulary, which'],
    [[['x', 9]], 'added_tokens[0].id: expected 4, the next free id, which'],
    [
      [
        ['x', 4],
        ['b', 5],
      ],
      'added_tokens[1].id: expected 2, its id in the vocabulary, which',
    ],
    [
      [
        ['x', 4],
        ['x', 5],
      ],
      'added_tokens[1].id: expected 4, the id that its text has already',
    ],
  ] as const)(
    'refuses added tokens %j, whose ids are others in the Rust package',
    async (added, reason) => {
      const refused = expect(load({ 'tokenizer.json': wordLevel(added) })).rejects;
      await refused.toMatchObject({
        code: 'TOKENIZER_INVALID',
        message: expect.stringContaining(reason),
      });
    },
  );

  it('takes the added tokens whose ids are those of the Rust package, and no others', async () => {
    const token = fc.tuple(
      fc.constantFrom('a', 'b', 'c', 'x', 'y', 'z'),
      fc.integer({ min: 1, max: 7 }),
    );
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(token, { maxLength: 4 }), async (added) => {
        const document = wordLevel(added);
        const oracle = RustTokenizer.fromString(JSON.stringify(document));
        const given = attempt(() => tokenizerDocuments({ tokenizer: document }));
        const isSame = added.every(([text, id]) => oracle.tokenToId(text) === id);
        expect(!(given instanceof Error)).toBe(isSame);
        if (given instanceof Error) return;
        taken += 1;
        const tokenizer = await load({ 'tokenizer.json': document });
        const text = ['a', ...added.map(([text]) => text), 'b', 'c'].join(' ');
        const expected = await oracle.encode(text, null, { addSpecialTokens: false });
        expect(tokenizer.encode(text)).toEqual(expected.getIds());
      }),
      { numRuns: 1000, verbose: 1, seed: SEED },
    );
    expect(taken).toBeGreaterThan(100);
  });

  it.each([true, false])('takes all numbers as Digits, each alone: %s', async (individual) => {
    const document = byteLevelTokenizer(['<a_0>']);
    const bytes = (document.pre_tokenizer as { pretokenizers: object[] }).pretokenizers[1];
    const digits = { type: 'Digits', individual_digits: individual };
    document.pre_tokenizer = { type: 'Sequence', pretokenizers: [digits, bytes] };
    await expectSameAsRust(await load({ 'tokenizer.json': document }), document);
  });

  it('finds single_word tokens as the Rust package does, or refuses', async () => {
    const document = byteLevelTokenizer(['<a_0>', 'word']);
    const added = document.added_tokens as { single_word: boolean }[];
    (added[1] as { single_word: boolean }).single_word = true;
    const tokenizer = await load({ 'tokenizer.json': document });
    const oracle = RustTokenizer.fromString(JSON.stringify(document));
    const neighbour = fc.constantFrom(
      '',
      ' ',
      'a',
      '_',
      '7',
      '用',
      '𝒜',
      '\u0301',
      '<a_0>',
      '-',
      '①',
    );
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(neighbour, neighbour, async (before, after) => {
        const text = `${before}word${after}`;
        const expected = (await oracle.encode(text, null, { addSpecialTokens: false })).getIds();
        const given = attempt(() => tokenizer.encode(text));
        if (given instanceof Error) {
          refused += 1;
          expect(given).toMatchObject({ code: 'TOKENIZER_INVALID', field: 'tokenizer' });
          expect(expected).not.toContain(tokenizer.tokenId('word'));
        } else expect(given).toEqual(expected);
      }),
      { numRuns: 200, seed: SEED },
    );
    expect(refused).toBeGreaterThan(0);
  });

  it.skipIf(QWEN2_ABSENT)(`of Qwen2 gives all recorded encodings${QWEN2_ABSENT}`, async () => {
    const tokenizer = await loadTokenizer(QWEN2);
    const text = readFileSync(`${QWEN2}vectors.json`, 'utf8');
    const vectors = JSON.parse(text) as { text: string; ids: number[] }[];
    expect(vectors.length).toBeGreaterThan(0);
    for (const { text: input, ids } of vectors) expect(tokenizer.encode(input)).toEqual(ids);
  });

  it.skipIf(QWEN2_ABSENT)(`of Qwen2 encodes as the Rust package does${QWEN2_ABSENT}`, async () => {
    const read = (name: string) => readFileSync(`${QWEN2}${name}`, 'utf8');
    const documents = tokenizerDocuments({
      vocabulary: JSON.parse(read('vocab.json')),
      merges: read('merges.txt'),
      config: JSON.parse(read('tokenizer_config.json')),
    });
    await expectSameAsRust(await loadTokenizer(QWEN2), documents.tokenizer);
  });
});
