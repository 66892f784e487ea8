import { readFileSync } from 'node:fs';
import { TesseraError } from '@tessera/errors';
import { loadTemplate, loadTokenizer } from '@tessera/prompt';
import { byteLevelTokenizer, levelTokenTexts, temporaryFolder } from '@tessera/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const template = JSON.parse(
  readFileSync(new URL('../templates/onereason-ad.json', import.meta.url), 'utf8'),
) as object;
const tokenizer = byteLevelTokenizer(levelTokenTexts(['<a_{code}>'], [4]));

/** A value that a careless or hostile file could have in any place. */
const oddValue = fc.oneof(
  fc.constantFrom(null, true, -1, 0, 1.5, 1e300, 2 ** 31, '', '\ud800', '{code}', [], {}),
  fc.jsonValue({ maxDepth: 3 }),
);

/** The document with one node replaced or removed. */
function mutated(document: object, path: readonly number[], value: unknown): unknown {
  const copy = structuredClone(document) as Record<string, unknown>;
  let node: Record<string, unknown> = copy;
  for (const [depth, choice] of path.entries()) {
    const keys = Object.keys(node);
    const key = keys[choice % Math.max(keys.length, 1)];
    if (key === undefined) break;
    const child = node[key];
    const last = depth === path.length - 1;
    if (last || typeof child !== 'object' || child === null) {
      if (value === undefined) delete node[key];
      else node[key] = value;
      break;
    }
    node = child as Record<string, unknown>;
  }
  return copy;
}

const mutation = fc.record({
  path: fc.array(fc.nat(1000), { minLength: 1, maxLength: 5 }),
  value: fc.oneof(
    { weight: 4, arbitrary: oddValue },
    { weight: 1, arbitrary: fc.constant(undefined) },
  ),
});

/** Runs a reader on a folder of the files: it loads or throws a TesseraError of the code. */
async function expectLoadsOrRefuses(
  read: (folder: string) => Promise<unknown>,
  files: Record<string, unknown>,
  code: string,
): Promise<boolean> {
  const folder = temporaryFolder(files);
  try {
    await read(folder.path);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(TesseraError);
    expect((error as TesseraError).code).toBe(code);
    expect((error as TesseraError).field).toBeTruthy();
    return false;
  } finally {
    folder.remove();
  }
}

describe('a malformed file', () => {
  it('prompt.json loads or is refused by a typed error, whatever node is changed', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(mutation, async ({ path, value }) => {
        const files = { 'prompt.json': JSON.stringify(mutated(template, path, value)) };
        const loaded = await expectLoadsOrRefuses(loadTemplate, files, 'PROMPT_TEMPLATE_INVALID');
        if (!loaded) refused += 1;
      }),
      { numRuns: 300, verbose: 1 },
    );
    expect(refused).toBeGreaterThan(20);
  });

  it('tokenizer.json loads or is refused by a typed error, whatever node is changed', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(mutation, async ({ path, value }) => {
        const files = { 'tokenizer.json': JSON.stringify(mutated(tokenizer, path, value)) };
        const loaded = await expectLoadsOrRefuses(loadTokenizer, files, 'TOKENIZER_INVALID');
        if (!loaded) refused += 1;
      }),
      { numRuns: 300, verbose: 1 },
    );
    expect(refused).toBeGreaterThan(20);
  });

  it('loads or is refused by a typed error, whatever byte is changed or cut', async () => {
    const whole = Buffer.from(JSON.stringify(tokenizer));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.nat(255),
        fc.boolean(),
        async (at, byte, cut) => {
          const bytes = Buffer.from(cut ? whole.subarray(0, at) : whole);
          if (!cut) bytes[at] = byte;
          const files = { 'tokenizer.json': bytes };
          await expectLoadsOrRefuses(loadTokenizer, files, 'TOKENIZER_INVALID');
        },
      ),
      { numRuns: 150, verbose: 1 },
    );
  });

  it('vocab.json with merges.txt loads or is refused by a typed error', async () => {
    const { vocab } = tokenizer.model as { vocab: object };
    await fc.assert(
      fc.asyncProperty(
        mutation,
        fc.string({ unit: 'binary', maxLength: 40 }),
        async ({ path, value }, line) => {
          const files = {
            'vocab.json': JSON.stringify(mutated(vocab, path, value)),
            'merges.txt': `#version: 0.2\nh e\n${line}\n`,
            'tokenizer_config.json': { tokenizer_class: 'Qwen2TokenizerFast' },
          };
          await expectLoadsOrRefuses(loadTokenizer, files, 'TOKENIZER_INVALID');
        },
      ),
      { numRuns: 150, verbose: 1 },
    );
  });

  it.each([
    [{ version: 2 }, 'prompt.json: version: expected an integer in 1..1, got 2'],
    [{ levels: ['<a>'] }, 'prompt.json: levels[0]: expected a text with one {code}, got "<a>"'],
    [{ trimStep: 0 }, 'prompt.json: trimStep: expected an integer in 1..100000, got 0'],
    [{ extra: 1 }, /prompt.json: extra: expected no such key/],
    [{ segments: [{ slot: 'item' }] }, /prompt.json: segments\[0\].slot: expected "profile"/],
    [{ answer: { terminal: [''] } }, /prompt.json: answer.terminal\[0\]: expected a text/],
  ])('prompt.json with %j is refused by the path of the field', async (change, message) => {
    const folder = temporaryFolder({ 'prompt.json': { ...template, ...change } });
    await expect(loadTemplate(folder.path)).rejects.toThrow(message);
    folder.remove();
  });
});
