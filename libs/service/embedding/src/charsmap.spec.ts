import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { temporaryFolder } from '@tessera/testing';
import { describe, expect, it } from 'vitest';
import { readTextFolder } from './outside/text-folder.js';

const FIXTURES = 'test/fixtures/charsmaps';

interface Recorded {
  readonly tokenizer: object;
  readonly cases: readonly { readonly text: string; readonly tokens: readonly number[] }[];
}

/** Recording of `python test/folders/charsmaps.py`. */
function recorded(rule: string): Recorded {
  const bytes = readFileSync(join(FIXTURES, `${rule}.json.gz`));
  return JSON.parse(gunzipSync(bytes).toString()) as Recorded;
}

describe.each(['nmt_nfkc', 'nmt_nfkc_cf'])('a tokenizer with the charsmap %s', (rule) => {
  it('makes the tokens that its model was trained with', async () => {
    const { tokenizer: document, cases } = recorded(rule);
    const folder = temporaryFolder({ 'tokenizer.json': document });
    const { tokenizer } = await readTextFolder(folder.path);
    folder.remove();
    expect(cases.length).toBeGreaterThan(400);
    for (const { text, tokens } of cases) {
      expect(await tokenizer.encodeWhole(text), text).toEqual(tokens);
    }
  });
});
