import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { expect, it } from 'vitest';
import { examine } from './examine.js';

it.each([
  [
    'models/demo',
    /^recall model: qwen3, \d+ parameters/,
    /^weights [0-9a-f]{32}\nmemory in bf16: \d+ bytes of a token$/m,
  ],
  ['test/fixtures/folders/bert-prompts', /^embedding model/, /prompts: passage, query/],
  ['test/fixtures/folders/qwen3-reranker', /^relevance by a classifier/, /served: yes/],
])('says what is served, with the lines of the start: %s', async (path, what, more) => {
  const { lines, isServed } = await examine(path);
  expect(lines[0]).toMatch(what);
  expect(lines.join('\n')).toMatch(more);
  expect(lines.at(-1)).toBe('served: yes');
  expect(isServed).toBe(true);
});

it('says what the service says of modules over a classifier of many labels', async () => {
  const folder = temporaryFolder({});
  cpSync('test/fixtures/folders/qwen3-model', folder.path, { recursive: true });
  const path = join(folder.path, 'config.json');
  const config = JSON.parse(readFileSync(path, 'utf8'));
  const architectures = ['Qwen3ForSequenceClassification'];
  writeFileSync(path, JSON.stringify(Object.assign(config, { architectures })));
  const { lines } = await examine(folder.path);
  expect(lines.join('\n')).toMatch(/relevance.path would refuse it: .*\nembedding model/s);
  expect(lines.at(-1)).toBe('served: yes');
  folder.remove();
});

it('names the import where it sees an encoder-decoder of another library', async () => {
  const said = async (path: string) => (await examine(path)).lines.join('\n');
  expect(await said('test/fixtures/parity/t5-tied')).toMatch(
    /python -m trainer import.*prompt.json/,
  );
  const folder = temporaryFolder({ 'checkpoints/last.ckpt': '' });
  expect(await said(folder.path)).toMatch(/served: no.*python -m trainer import.*Lightning/);
  folder.remove();
});

it.each([
  ['that says so', { model_type: 'CrossEncoder' }],
  ['of one label', {}],
])('says of a cross-encoder %s that the service refuses no word of vectors', async (_, own) => {
  const folder = temporaryFolder({});
  cpSync('test/fixtures/folders/qwen3-reranker', folder.path, { recursive: true });
  const path = join(folder.path, 'config_sentence_transformers.json');
  const named = { ...own, activation_fn: 'torch.nn.modules.Softplus' };
  writeFileSync(path, JSON.stringify(named));
  const modules = [{ idx: 0, name: '0', path: '', type: 'sentence_transformers.base.Transformer' }];
  writeFileSync(join(folder.path, 'modules.json'), JSON.stringify(modules));
  const { lines, isServed } = await examine(folder.path);
  expect(isServed).toBe(false);
  expect(lines.join('\n')).toMatch(
    /^relevance by a classifier.*served: no; MODEL_INVALID.*activation_fn/s,
  );
  expect(lines.join('\n')).not.toContain('embedding model');
  folder.remove();
});

it.each([
  ['models/demo', /^all tokens are as likely: are the weights/],
  ['test/fixtures/folders/qwen3-model', /^all texts have one vector: are the weights/],
])('asks about a model whose weights are all zero: %s', async (model, asked) => {
  const folder = temporaryFolder({});
  cpSync(model, folder.path, { recursive: true });
  const path = join(folder.path, 'model.safetensors');
  const content = readFileSync(path);
  writeFileSync(path, content.fill(0, 8 + Number(content.readBigUInt64LE(0))));
  expect((await examine(folder.path)).lines).toContainEqual(expect.stringMatching(asked));
  expect((await examine(model)).lines).not.toContainEqual(expect.stringMatching(asked));
  folder.remove();
});

it('takes a folder with relevance.json for a model that judges', async () => {
  const folder = temporaryFolder({});
  cpSync('test/fixtures/relevance', folder.path, { recursive: true });
  cpSync(join(folder.path, 'short.json'), join(folder.path, 'relevance.json'));
  const { lines } = await examine(folder.path);
  expect(lines).toEqual([
    expect.stringMatching(/^relevance by a language model: qwen3/),
    expect.stringMatching(/^template /),
    'served: yes',
  ]);
  folder.remove();
});

it('checks an adapter against its model', async () => {
  const adapter = 'test/fixtures/adapters/all-linear';
  const { lines, isServed } = await examine(adapter, { base: 'test/fixtures/parity/qwen3-tied' });
  expect(lines).toEqual([
    'adapter: LORA, of qwen3-tied',
    expect.stringMatching(/^rank 4/),
    'served: yes',
  ]);
  expect(isServed).toBe(true);
  const alone = await examine(adapter);
  expect(alone.lines.at(-1)).toMatch(/--base: expected the folder of its model/);
});

it('reads a catalogue and users', async () => {
  const folder = temporaryFolder({
    'items.jsonl': '{"item_id": "a", "sid": [0, 1]}\n{"item_id": "b", "sid": [0, 2]}',
    'users.json': { u: ['a'], v: ['b', 'a'] },
    'bad.jsonl': '{"item_id": 1',
  });
  const lineOf = async (name: string) => (await examine(`${folder.path}/${name}`)).lines;
  expect(await lineOf('items.jsonl')).toEqual([
    expect.stringMatching(/^catalogue: 2 items in 2 semantic IDs/),
    'served: yes',
  ]);
  expect(await lineOf('users.json')).toEqual(['behaviours of 2 users', 'served: yes']);
  expect(await lineOf('bad.jsonl')).toEqual([
    expect.stringMatching(/^served: no; CATALOGUE_INVALID/),
  ]);
  expect(await lineOf('none')).toEqual([expect.stringMatching(/^served: no; IO_FAILED/)]);
  folder.remove();
});

const PYTHON = process.env.TRAINER_PYTHON ?? 'python3';
const hasTrainer = spawnSync(PYTHON, ['-c', 'import trainer.logs']).status === 0;
if (!hasTrainer) console.log('examine.spec: the trainer is absent: pip install, or TRAINER_PYTHON');

it('has clicks read by the trainer, or says what that needs', async () => {
  const folder = temporaryFolder({
    'clicks.tsv': 'user\titem\ttime\nu\ta\t1700000000\nv\ta\t1700000001\n',
    'late.tsv': 'user\titem\ttime\nu\ta\t1700000000000\n',
  });
  const lineOf = async (name: string) =>
    (await examine(`${folder.path}/${name}`, { python: PYTHON })).lines.join('; ');
  const [clicks, late] = [await lineOf('clicks.tsv'), await lineOf('late.tsv')];
  expect(clicks).toMatch(hasTrainer ? /^2 clicks of 2 users; served: yes$/ : /expected a Python/);
  expect(late).toMatch(hasTrainer ? /served: no.*line 2: time.*milliseconds/ : /expected a Python/);
  folder.remove();
});
