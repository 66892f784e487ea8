/** Prompts that the trainer wrote (`python -m trainer prompt-fixtures`) are what we write. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { TesseraError } from '@tessera/errors';
import { CompiledTemplate, loadTokenizer, type PromptItem, parseTemplate } from '@tessera/prompt';
import { describe, expect, it } from 'vitest';

const FOLDER = fileURLToPath(new URL('../../../../test/fixtures/prompts/', import.meta.url));
/** Codes of each level, as the fixture's items have them at most. */
const LEVEL_SIZES = [9, 30, 7];

interface Case {
  readonly profile: Record<string, string>;
  readonly scene: Record<string, string>;
  readonly history: readonly { item: string; action: string; time: number }[];
  readonly tokens?: readonly number[];
  /** Place in the history, and tokens of the prompt through the item. */
  readonly shown?: readonly (readonly [number, number])[];
  /** Field for which the prompt is refused. */
  readonly refused?: string;
}

interface CaseSet {
  readonly template: { readonly name: string };
  readonly items: Record<string, { sid: number[]; domain: string }>;
  readonly tokensMax: number;
  readonly cases: readonly Case[];
}

const sets = JSON.parse(readFileSync(`${FOLDER}cases.json`, 'utf8')) as CaseSet[];

function answerOf(compiled: CompiledTemplate, set: CaseSet, given: Case): object {
  const { profile, scene } = given;
  const history = given.history.map(({ item, action, time }): PromptItem => {
    return { ...(set.items[item] as CaseSet['items'][string]), action, time };
  });
  try {
    const { tokens, shown } = compiled.render({ profile, scene, history }, set.tokensMax);
    return {
      tokens: [...tokens],
      shown: shown.map(({ place, endToken }) => [place, endToken]),
    };
  } catch (thrown) {
    const { code, field } = TesseraError.from(thrown);
    expect(code).toBe('REQUEST_INVALID');
    return { refused: field };
  }
}

describe('a prompt that the trainer writes', () => {
  it.each(sets.map((set) => [set.template.name, set] as const))(
    'has the tokens that the service writes: %s',
    async (_name, set) => {
      const tokenizer = await loadTokenizer(FOLDER);
      const compiled = new CompiledTemplate(parseTemplate(set.template), tokenizer, LEVEL_SIZES);
      for (const given of set.cases) {
        const { tokens, shown, refused } = given;
        const expected = refused === undefined ? { tokens, shown } : { refused };
        expect(answerOf(compiled, set, given)).toEqual(expected);
      }
    },
  );
});
