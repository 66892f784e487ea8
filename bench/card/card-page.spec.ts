import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Parameters, layers, key-value heads and their size, as the models' pages say. */
const MODELS: Readonly<Record<string, readonly [number, number, number, number]>> = {
  'Qwen3-0.6B': [0.6e9, 28, 8, 128],
  'Qwen3-1.7B': [1.72e9, 28, 8, 128],
  'Qwen3-8B': [8.19e9, 36, 8, 128],
};
const CARDS = [80e9, 141e9];
const PROMPTS = [1024, 5120];
const BF16_BYTES = 2;
const PASSES_BYTES = 2e9;
/** Share of the rest that prompts may have: kBeamShare in native/src/cuda/engine/open_on_card.h. */
const PROMPT_SHARE = 3 / 4;

it('tells how many users fit on a card as its formula says', () => {
  const page = readFileSync('docs/operate/card.md', 'utf8');
  for (const [name, [parameters, layers, heads, size]] of Object.entries(MODELS)) {
    const tokenBytes = layers * 2 * heads * size * BF16_BYTES;
    const weights = parameters * BF16_BYTES;
    const users = CARDS.flatMap((card) =>
      PROMPTS.map((tokens) =>
        Math.floor((PROMPT_SHARE * (card - weights - PASSES_BYTES)) / (tokens * tokenBytes)),
      ),
    );
    const cells = [name, (weights / 1e9).toFixed(1), tokenBytes.toLocaleString('en-GB'), ...users];
    expect(page).toContain(`| ${cells.join(' | ')} |`);
  }
});
