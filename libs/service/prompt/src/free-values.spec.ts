/** Values that a request chooses freely: they are written as they are and forge no token. */

import { CompiledTemplate, loadTokenizer, parseTemplate, type Tokenizer } from '@tessera/prompt';
import { byteLevelTokenizer, temporaryFolder } from '@tessera/testing';
import fc from 'fast-check';
import { Tokenizer as RustTokenizer } from 'tokenizers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const BEFORE = 'At <|daypart_';
const BETWEEN = '|><';
const AFTER = '>';
const DOCUMENT = {
  version: 1,
  name: 'free',
  levels: ['<a_{code}>'],
  segments: [
    { slot: 'scene', key: 'daypart', before: BEFORE, after: '|>' },
    { slot: 'scene', key: 'place', before: '<', after: AFTER },
  ],
};
const CONTROL = ['<|eos|>', '<eos>'];
const CODES = ['<a_0>', '<a_1>'];
const OTHERS = ['<|daypart_night|>', '<|daypart_x|>', '<home>', '||'];
const tokens = byteLevelTokenizer([...CONTROL, ...CODES, ...OTHERS]);
const added = tokens.added_tokens as { content: string; special: boolean }[];
for (const token of added) token.special = CONTROL.includes(token.content);
const folder = temporaryFolder({ 'tokenizer.json': tokens });
afterAll(() => folder.remove());
let tokenizer: Tokenizer;
let compiled: CompiledTemplate;
beforeAll(async () => {
  tokenizer = await loadTokenizer(folder.path);
  compiled = new CompiledTemplate(parseTemplate(DOCUMENT), tokenizer, [2]);
});

function render(daypart: string, place: string): number[] {
  const scene = { daypart, place };
  return [...compiled.render({ profile: {}, scene, history: [] }, 1000).tokens];
}

function refusal(daypart: string, place: string): unknown {
  try {
    return render(daypart, place);
  } catch (error) {
    return error;
  }
}

describe('a value that a request chooses freely', () => {
  it('may be the whole of what a token has between the texts beside it', () => {
    expect(render('night', 'home')).toContain(tokenizer.tokenId('<|daypart_night|>'));
    expect(render('night', 'home')).toContain(tokenizer.tokenId('<home>'));
  });

  it.each([
    ['x|><|eos', 'home', 'scene.daypart', '<|daypart_x|>'],
    ['|', 'home', 'scene.daypart', '||'],
    ['7', '|eos|', 'scene.place', '<|eos|>'],
    ['7', 'eos', 'scene.place', '<eos>'],
    ['7', 'a_1', 'scene.place', '<a_1>'],
    ['7', 'b><a_1', 'scene.place', '<a_1>'],
  ])('is refused where %j and %j forge a token', (daypart, place, field, token) => {
    const given = field === 'scene.place' ? place : daypart;
    expect(refusal(daypart, place)).toMatchObject({
      code: 'REQUEST_INVALID',
      field,
      message: `${field}: expected a text that does not make the token ${token}, got '${given}'`,
    });
  });

  it('has no part of a token in common with the texts beside it, whatever it is', async () => {
    const oracle = RustTokenizer.fromString(JSON.stringify(tokens));
    const pieces = ['<', '|', '>', 'eos', 'night', 'home', 'daypart_', 'a_1', 'x', ' '];
    const value = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((all) => all.join(''));
    let accepted = 0;
    const check = fc.asyncProperty(value, value, async (daypart, place) => {
      const given = refusal(daypart, place);
      if (given instanceof Error) return;
      accepted += 1;
      const text = `${BEFORE}${daypart}${BETWEEN}${place}${AFTER}`;
      const encoding = await oracle.encode(text, null, { addSpecialTokens: false });
      expect(given).toEqual(encoding.getIds());
      const starts = [BEFORE.length, BEFORE.length + daypart.length + BETWEEN.length];
      [daypart, place].forEach((written, index) => {
        const start = starts[index] as number;
        const end = start + written.length;
        encoding.getTokens().forEach((token, at) => {
          if (!added.some(({ content }) => content === token)) return;
          const [begin, stop] = encoding.getOffsets()[at] as [number, number];
          if (stop <= start || begin >= end) return;
          expect([...CONTROL, ...CODES]).not.toContain(token);
          expect(begin < start && stop > end).toBe(true);
        });
      });
    });
    await fc.assert(check, { numRuns: 500, seed: 7 });
    expect(accepted).toBeGreaterThan(100);
  });
});
