import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { expect, it } from 'vitest';
import { configNote, READ_FIELDS } from './config-note.js';

it('names what nobody reads, and nothing of the models that are served', async () => {
  const folder = temporaryFolder({
    'config.json': { model_type: 'qwen3', auto_map: { AutoModel: 'x.X' }, logit_scale: 2, a: null },
  });
  expect(await configNote(folder.path)).toMatch(/fields that are not read: auto_map, logit_scale$/);
  folder.remove();
  const models = ['models', 'test/fixtures'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => /(?<!_Dense|_LayerNorm)\/model\.safetensors$/.test(path))
      .map((path) => join(root, path)),
  );
  expect(models.length).toBeGreaterThan(30);
  for (const path of models) expect(await configNote(dirname(path)), path).toBeUndefined();
});

it('reads the part that describes the decoder', async () => {
  const folder = temporaryFolder({
    'config.json': {
      model_type: 'qwen3_5',
      vision_config: { depth: 1 },
      text_config: { linear_key_head_dim: 8, logit_scale: 2, vocab_size: 9, eos_token_id: 9 },
    },
  });
  expect(await configNote(folder.path)).toMatch(
    /not read: logit_scale; eos_token_id: no token of the 9, and not used$/,
  );
  folder.remove();
});

it('names tokens that a trimmed vocabulary has not', async () => {
  const folder = temporaryFolder({
    'config.json': { vocab_size: 90, eos_token_id: [3, 151645], bos_token_id: 1, pad_token_id: 90 },
  });
  expect(await configNote(folder.path)).toMatch(
    /: eos_token_id, pad_token_id: no token of the 90, and not used$/,
  );
  folder.remove();
});

it('knows the fields that the engine reads', () => {
  const names = ['model_config', 'rope_config', 'mixture_config', 'encoder_config', 'delta_config'];
  const sources = names.map((name) => readFileSync(`native/src/model/${name}.cc`, 'utf8'));
  const read = [
    ...sources.join('\n').matchAll(/reader\.(?:whole|number|boolean|text|find)\(\s*"(\w+)"/g),
  ].map(([, name]) => name as string);
  expect(read.length).toBeGreaterThan(30);
  expect(read.filter((name) => !READ_FIELDS.has(name))).toEqual([]);
});
