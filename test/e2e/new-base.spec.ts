/**
 * A trainer that follows a service, a refreshed base, and the follower on that base: the commands
 * of docs/operate/learning.md, against the built service.
 */

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForkedTrainer } from './forked-trainer.js';
import { DEMO } from './random-adapter.js';
import { Service } from './service.js';
import { pythonWith } from './trainer-python.js';

/** Loading PyTorch takes a while where much else is done. */
const LONG_MS = 600_000;
const USERS = 60;
const CLICKS = 4;
const CATEGORY = 'pets';
const MATRIX = 'model.layers.0.mlp.down_proj';

const PACKAGES = ['torch', 'peft', 'duckdb', 'tensorboard', 'prometheus_client', 'tessera_client'];
const PYTHON = pythonWith(PACKAGES);
if (PYTHON === undefined) {
  const how = 'pip install -r trainer/requirements.txt in .venv, or TRAINER_PYTHON';
  console.log(`new-base.spec: skipped, one of ${PACKAGES.join(', ')} is absent (${how})`);
}

/** Values of a tensor of a file, BF16 or F32. */
function tensorOf(file: string, name: string): Float32Array {
  const content = readFileSync(file);
  const data = 8 + Number(content.readBigUInt64LE(0));
  const header = JSON.parse(content.subarray(8, data).toString()) as Record<
    string,
    { readonly dtype: string; readonly data_offsets: readonly [number, number] }
  >;
  const found = header[name];
  if (found === undefined) throw new Error(`${file}: no ${name}`);
  const [begin, end] = found.data_offsets;
  const bytes = content.subarray(data + begin, data + end);
  if (found.dtype === 'F32') return new Float32Array(new Uint8Array(bytes).buffer);
  const highHalves = new Uint16Array(new Uint8Array(bytes).buffer);
  return new Float32Array(Uint32Array.from(highHalves, (half) => half << 16).buffer);
}

/** Product of the factors of a version: its change of a matrix. */
function addedBy(version: string): Float64Array {
  const file = join(version, 'adapter_model.safetensors');
  const factor = (name: string) => tensorOf(file, `base_model.model.${MATRIX}.${name}.weight`);
  const [a, b] = [factor('lora_A'), factor('lora_B')];
  const config = JSON.parse(readFileSync(join(version, 'adapter_config.json'), 'utf8'));
  const { r: rank, lora_alpha: alpha } = config as { r: number; lora_alpha: number };
  const width = a.length / rank;
  return Float64Array.from({ length: (b.length / rank) * width }, (_, at) => {
    const [row, column] = [Math.floor(at / width), at % width];
    let sum = 0;
    for (let of = 0; of < rank; of += 1) {
      sum += (b[row * rank + of] ?? 0) * (a[of * width + column] ?? 0);
    }
    return (alpha / rank) * sum;
  });
}

/** Multiple of a version's change in the difference of two models, by least squares. */
function timesIn(before: string, after: string, added: Float64Array): number {
  const [from, to] = [before, after].map((folder) =>
    tensorOf(join(folder, 'model.safetensors'), `${MATRIX}.weight`),
  ) as [Float32Array, Float32Array];
  let [both, own] = [0, 0];
  added.forEach((value, at) => {
    both += value * ((to[at] ?? 0) - (from[at] ?? 0));
    own += value * value;
  });
  return both / own;
}

describe.skipIf(PYTHON === undefined)('a new base of a model that is followed', () => {
  const folder = temporaryFolder({});
  const at = (...names: string[]) => join(folder.path, ...names);
  let service: Service;
  let trainer: ForkedTrainer;

  beforeAll(async () => {
    trainer = new ForkedTrainer(PYTHON as string);
    service = await Service.start({
      TESSERA_MODEL_PATH: DEMO,
      TESSERA_CATALOGUE_CACHE_PATH: at('cache'),
      TESSERA_ADAPTERS_PATH: at('adapters'),
      TESSERA_WEIGHTS_PATH: at('weights'),
    });
    mkdirSync(at('weights'));
  });
  afterAll(async () => {
    await trainer?.stop();
    await service?.stop();
    folder.remove();
  });

  async function tool(name: string, ...words: string[]): Promise<string> {
    const all = [`dist/tools/${name}.js`, ...words, '--address', service.grpcAddress];
    const { stdout } = await promisify(execFile)(process.execPath, all);
    return stdout;
  }
  const run = (...words: string[]) => trainer.run(...words, '--address', service.grpcAddress);
  const shared = ['--held-out', '0.2', '--state', at('state')];
  const follow = (model: string) =>
    run('follow', '--once', '--model', model, '--facts', at('facts'), ...shared);
  const refresh = (model: string, out: string) =>
    run('refresh', '--model', model, '--out', out, '--epochs', '1', '--lr', '1e-5', ...shared);

  /** Facts of a minute: each user clicks items of one category, others in each minute. */
  async function writeFacts(minute: number): Promise<void> {
    const to = at('facts', 'behaviour');
    mkdirSync(to, { recursive: true });
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await connection.run(`COPY (
      WITH items AS (
        SELECT item_id, row_number() OVER () - 1 AS place, count(*) OVER () AS count
        FROM read_json('${DEMO}/catalogue.jsonl') WHERE attributes.category = '${CATEGORY}')
      SELECT CAST(1 + click // ${CLICKS} AS UBIGINT) AS user_hash, item_id, 'click' AS action,
        make_timestamp_ms(${Date.now()} - 60000 * ${CLICKS} + 60000 * (click % ${CLICKS})) AS time,
        '' AS request_id, 0 AS position, MAP {'daypart': 'night'} AS scene
      FROM range(${USERS * CLICKS}) clicks(click)
      JOIN items ON place = (click * 7 + ${minute}) % count ORDER BY click
    ) TO '${join(to, `20261128T120${minute}.node.parquet`)}' (FORMAT parquet)`);
    connection.closeSync();
    instance.closeSync();
  }

  async function recall(over: object = {}): Promise<Record<string, unknown>> {
    const { status, json } = await service.post({ userId: '1', ...over });
    expect(status, JSON.stringify(json)).toBe(200);
    return json;
  }
  const versionsOf = (answer: Record<string, unknown>) =>
    answer.versions as { readonly model: string; readonly adapter: string };

  it(
    'has its factors once, serves without a failed recall, and is followed behind its examples',
    async () => {
      const ranked = { rank: { valuation: { name: 'expected' } } };
      const { model } = versionsOf(await recall());
      const heads = ['push', join(DEMO, 'ranking'), '--name', 'ranking', '--base', model];
      const pushed = JSON.parse(await tool('adapter', ...heads, '--json'));
      const { digest } = pushed.version as { digest: string };
      await tool('adapter', 'activate', digest, '--name', 'ranking', '--force');
      await recall(ranked);

      await writeFacts(1);
      const first = /cycle 1: (\d+) new and 0 replayed examples.*active/.exec(await follow(DEMO));
      const { adapter } = versionsOf(await recall());
      expect(first).not.toBeNull();
      const added = addedBy(at('state', 'versions', '000001'));
      const [monday, tuesday] = [at('weights', 'monday'), at('weights', 'tuesday')];
      await refresh(DEMO, monday);
      expect(timesIn(DEMO, monday, added)).toBeCloseTo(1, 1);

      let isOver = false;
      let recalls = 0;
      const load = (async () => {
        for (; !isOver; recalls += 1) await recall();
      })();
      const said = await tool('weights', 'update', 'monday', '--end-adapters');
      isOver = true;
      await load;
      expect(recalls).toBeGreaterThan(0);
      expect(said).toContain(`ended: main ${adapter}`);
      expect(said).toContain(`ended: ranking ${digest}`);
      expect(said).toContain('`rank` is refused');
      const { json } = await service.post({ userId: '1', ...ranked });
      expect(json.error).toMatchObject({ code: 'ADAPTER_NOT_FOUND', field: 'rank.adapter' });

      await refresh(monday, tuesday);
      expect(Math.abs(timesIn(monday, tuesday, added))).toBeLessThan(0.05);

      await writeFacts(2);
      const second = /cycle 2: (\d+) new and (\d+) replayed.*active/.exec(await follow(monday));
      // Each minute has as many clicks of as many users, so another count is of both.
      expect(second?.slice(1)).toEqual([first?.[1], first?.[1]]);
      const served = versionsOf(await recall());
      expect(served.model).not.toBe(model);
      expect(['', adapter]).not.toContain(served.adapter);
    },
    LONG_MS,
  );
});
