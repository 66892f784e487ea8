/**
 * Clients of other services as PyPI has them, against the service: `npm run test:clients`. Those of
 * npm are in test/integration.
 */

import 'reflect-metadata';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '@tessera/config';
import type { EmbeddingModels } from '@tessera/embedding';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbedding } from '../../apps/standalone/src/embedding.js';
import { type OpenedRelevance, openRelevance } from '../../apps/standalone/src/relevance.js';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeRuntime } from '../integration/fake-runtime.js';

const INSTALL_MS = 900_000;
const JUDGE = 'test/fixtures/relevance';
const HERE = 'test/clients';
const hasPython = spawnSync('python3', ['-m', 'venv', '--help']).status === 0;
if (!hasPython) console.log('stock-clients: skipped, python3 is absent');

interface Answered {
  readonly listed: readonly string[];
  readonly openai: readonly (readonly number[])[];
  readonly plain: readonly (readonly number[])[];
  readonly short: number;
  readonly refused: string | null;
  readonly langchain: readonly (readonly number[])[];
  readonly langchainQuery: readonly number[];
  readonly huggingface: readonly (readonly number[])[];
  readonly cohere: readonly (readonly [number, number])[];
}

const { config } = loadConfig({
  environment: {
    TESSERA_HTTP_PORT: '0',
    TESSERA_GRPC_PORT: '0',
    TESSERA_EMBEDDING_MODELS: 'mean=test/fixtures/encoders/bert-mean',
    TESSERA_RELEVANCE_PATH: JUDGE,
    TESSERA_RELEVANCE_COMPUTE_TYPE: 'f32',
    TESSERA_ENGINE_THREAD_COUNT: '1',
  },
});
const [asked] = JSON.parse(readFileSync(`${JUDGE}/cases.json`, 'utf8')) as [
  { query: string; documents: string[]; expected: number[] },
];
const documents = asked.documents.slice(0, -1);

describe.skipIf(!hasPython)('clients of other services', () => {
  const folder = temporaryFolder({});
  let embedding: EmbeddingModels;
  let relevance: OpenedRelevance | undefined;
  let serving: Serving;

  beforeAll(async () => {
    embedding = await openEmbedding(config);
    relevance = await openRelevance(config);
    const parts = { config, runtime: new FakeRuntime(), log: createLog('silent') };
    serving = await serve({ ...parts, embedding, relevance, serviceVersion: '1' });
  });

  afterAll(async () => {
    await serving.drain.run();
    folder.remove();
  });

  it('are answered as their own services would', { timeout: INSTALL_MS }, async () => {
    const venv = join(folder.path, 'venv');
    const python = join(venv, 'bin', 'python');
    const run = promisify(execFile);
    await run('python3', ['-m', 'venv', venv]);
    const packages = ['-r', `${HERE}/stock-clients-requirements.txt`];
    await run(python, ['-m', 'pip', 'install', '--quiet', ...packages]);
    const given = JSON.stringify({ query: asked.query, documents });
    const words = [`${HERE}/stock_clients.py`, serving.httpUrl, 'mean', given];
    const { stdout } = await run(python, words);
    const answered = JSON.parse(stdout) as Answered;
    const texts = documents.slice(0, 2);
    const own = await embedding.embed({ model: 'mean', texts, dimensions: undefined });
    const vectors = own.vectors.map((vector) => [...vector]);
    const rounded = (rows: readonly (readonly number[])[]) =>
      rows.map((row) => row.map(Math.fround));
    expect(answered.listed).toEqual(expect.arrayContaining(['mean', 'relevance']));
    expect(rounded(answered.openai)).toEqual(vectors);
    expect(rounded(answered.plain)).toEqual(vectors);
    expect(answered.short).toBe(5);
    expect(answered.refused).toContain('input[0]');
    expect(rounded(answered.langchain)).toEqual(vectors);
    expect(rounded([answered.langchainQuery])).toEqual(vectors.slice(0, 1));
    expect(answered.huggingface[0]?.length).toBe(vectors[0]?.length);
    const best = asked.expected.slice(0, -1).sort((a, b) => b - a);
    answered.cohere.forEach(([, score], place) => {
      expect(score).toBeCloseTo(best[place] as number, 5);
    });
    expect(answered.cohere).toHaveLength(3);
  });
});
