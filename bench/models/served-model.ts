import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import type { ModelShape } from './model-shape.js';
import { BENCH_CACHE, randomModel } from './random-model.js';

/** Part of the folder's name: a change of what is written makes new folders. */
const RECIPE = 1;
const DEMO = join(repositoryRoot, 'models', 'demo');
const FROM_DEMO = ['tokenizer.json', 'tokenizer_config.json', 'catalogue.jsonl'];
const FROM_RANDOM = ['config.json', 'model.safetensors'];
const DAYPARTS = ['morning', 'afternoon', 'evening', 'night'] as const;

const PROMPT_TOKENS_MAX = 1536;
/** Items that leave a full prompt at once: rarely, so that it mostly begins as it did before. */
const TRIM_STEP = 64;

/** Prompts that grow with the history, the scene last: the KV pool keeps their beginning. */
const TEMPLATE = {
  version: 1,
  name: 'streams',
  levels: ['<a_{code}>', '<b_{code}>', '<c_{code}>'],
  segments: [
    { text: '<|bos|>' },
    { slot: 'history', separator: '' },
    {
      slot: 'scene',
      key: 'daypart',
      before: '<|daypart_',
      after: '|>',
      values: Object.fromEntries(DAYPARTS.map((part) => [part, part])),
      default: 'morning',
    },
  ],
  maxPromptTokens: PROMPT_TOKENS_MAX,
  trimStep: TRIM_STEP,
};

/**
 * Folder of a model that can be served: random weights of the shape with tokenizer and items of the
 * demo, made where it is absent.
 */
export function servedModel(shape: ModelShape, say: (line: string) => void): string {
  const folder = join(BENCH_CACHE, `streams-${shape.name}-${RECIPE}`);
  if (existsSync(join(folder, 'prompt.json'))) return folder;
  const weights = randomModel(shape, say);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of FROM_RANDOM) symlinkSync(join(weights, name), join(folder, name));
  for (const name of FROM_DEMO) copyFileSync(join(DEMO, name), join(folder, name));
  writeFileSync(join(folder, 'prompt.json'), `${JSON.stringify(TEMPLATE, null, 2)}\n`);
  return folder;
}
