/**
 * A hybrid with experts through the built service by the commands of any model: recalls and scores,
 * keys, values and states across kill -9, an adapter on experts, whole weights in place.
 */

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { CHOSEN_EXPERTS, SMALL, safetensors, writeRandomModel } from './random-model.js';
import { Service } from './service.js';

/** To compute a history takes longer than to load it. */
const MIXTURE = { ...SMALL, layers: 4, hidden: 128, experts: 6, isHybrid: true };
const RANK = 3;

interface Answer {
  readonly items: readonly { readonly itemId: string; readonly score: number }[];
  readonly promptTokens: number;
  readonly versions: { readonly adapter: string; readonly model: string };
  readonly kv: { readonly tokensByTier: { readonly device: number; readonly disk: number } };
}

const folder = temporaryFolder({});
const model = join(folder.path, 'model');
const variables = {
  TESSERA_MODEL_PATH: model,
  TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
  TESSERA_KV_DISK_BYTES: String(2 ** 28),
  TESSERA_KV_PATH: join(folder.path, 'kv'),
  TESSERA_ADAPTERS_PATH: join(folder.path, 'adapters'),
  TESSERA_WEIGHTS_PATH: join(folder.path, 'weights'),
};
let service: Service;
let first: Answer;

beforeAll(async () => {
  writeRandomModel(model, MIXTURE);
  const behaviours = Array.from({ length: 40 }, (_, time) => ({
    item_id: String((time * 37) % 200),
    time,
  }));
  writeFileSync(join(model, 'users.json'), JSON.stringify({ 1: { behaviours } }));
  service = await Service.start(variables);
});
afterAll(async () => {
  await service?.stop();
  folder.remove();
});

async function recall(): Promise<Answer> {
  const { status, json } = await service.post({ userId: '1', resultCount: 20 });
  expect(status, JSON.stringify(json)).toBe(200);
  return json as unknown as Answer;
}

/** `npm run NAME -- ...` against the service. */
async function command<Result>(name: string, ...words: string[]): Promise<Result> {
  const where = ['--address', service.grpcAddress, '--json'];
  if (name === 'adapter') where.push('--http', service.httpUrl);
  const all = [`dist/tools/${name}.js`, ...words, ...where];
  const { stdout } = await promisify(execFile)(process.execPath, all);
  return JSON.parse(stdout) as Result;
}

const shown = ({ items }: Answer) => items.map(({ itemId, score }) => [itemId, score]);

it('recalls, finds what it has kept and scores what it has recalled the same', async () => {
  first = await recall();
  expect(first.items).toHaveLength(20);
  const again = await recall();
  expect(shown(again)).toEqual(shown(first));
  expect(again.kv.tokensByTier.device).toBeGreaterThan(0);
  const itemIds = first.items.map(({ itemId }) => itemId);
  const { json } = await service.post({ userId: '1', items: itemIds }, undefined, '/v1/score');
  expect(shown(json as unknown as Answer)).toEqual(shown(first));
});

it('counts the experts that its passes touch', async () => {
  const passes = await service.metric('tessera_engine_forward_passes_total');
  const touched = await service.metric('tessera_engine_experts_touched_total');
  expect(touched).toBeGreaterThanOrEqual(passes * MIXTURE.layers * CHOSEN_EXPERTS);
  expect(touched).toBeLessThanOrEqual(passes * MIXTURE.layers * MIXTURE.experts);
  const padding = await service.metric('tessera_engine_expert_padding_ratio');
  expect(padding).toBeGreaterThanOrEqual(1);
});

it('answers from disk after kill -9 as before', async () => {
  for (;;) {
    const { json } = await service.post({ userId: '1' }, undefined, '/v1/kv/inspect');
    const [chain] = json.chains as { tokens: number; durableTokens: number }[];
    if (chain !== undefined && chain.durableTokens === chain.tokens) break;
  }
  service.child.kill('SIGKILL');
  await once(service.child, 'close');
  service = await Service.start(variables);
  const after = await recall();
  expect(shown(after)).toEqual(shown(first));
});

/** Factors of both parameters of all experts, as PEFT saves `target_parameters`. */
function writeAdapter(to: string): string {
  const { hidden, layers, experts } = MIXTURE;
  const rows = RANK * experts;
  const tensors = Array.from({ length: layers }).flatMap((_, layer) => {
    const name = `base_model.model.model.layers.${layer}.mlp.experts`;
    return [
      { name: `${name}.base_layer.lora_A.weight`, shape: [rows, hidden] },
      { name: `${name}.base_layer.lora_B.weight`, shape: [4 * hidden, rows] },
      { name: `${name}.lora_A.weight`, shape: [rows, 2 * hidden] },
      { name: `${name}.lora_B.weight`, shape: [hidden, rows] },
    ];
  });
  const target_parameters = ['mlp.experts.gate_up_proj', 'mlp.experts.down_proj'];
  const config = { peft_type: 'LORA', r: RANK, lora_alpha: RANK, target_modules: [] };
  mkdirSync(to, { recursive: true });
  writeFileSync(join(to, 'adapter_config.json'), JSON.stringify({ ...config, target_parameters }));
  writeFileSync(join(to, 'adapter_model.safetensors'), safetensors(tensors, 5, 2));
  return to;
}

it('serves an adapter on its experts, and rolls it back exactly', async () => {
  const from = writeAdapter(join(folder.path, 'peft'));
  const { version } = await command<{ version: { digest: string } }>('adapter', 'push', from);
  await command('adapter', 'activate', version.digest.slice(0, 12), '--force');
  const adapted = await recall();
  expect(adapted.versions.adapter).toBe(version.digest);
  expect(shown(adapted)).not.toEqual(shown(first));
  await command('adapter', 'rollback');
  expect(shown(await recall())).toEqual(shown(first));
  await command('adapter', 'delete', version.digest);
});

it('takes whole weights in place, and the earlier ones back', async () => {
  const set = join(folder.path, 'weights', 'monday');
  writeRandomModel(join(folder.path, 'other'), { ...MIXTURE, seed: 8 });
  mkdirSync(set, { recursive: true });
  for (const file of ['config.json', 'model.safetensors']) {
    cpSync(join(folder.path, 'other', file), join(set, file));
  }
  const { digest } = await command<{ digest: string }>('weights', 'update', 'monday');
  const updated = await recall();
  expect(updated.versions.model).toBe(digest);
  expect(shown(updated)).not.toEqual(shown(first));
  await service.stop();
  service = await Service.start(variables);
  expect(service.stdout).toContain(`Weights of ${set} in place of ${model}`);
  expect((await recall()).versions.model).toBe(digest);
  await command('weights', 'rollback');
  expect(shown(await recall())).toEqual(shown(first));
});
