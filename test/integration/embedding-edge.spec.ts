/** Vectors of texts over gRPC and HTTP, as clients of other services ask for them too. */

import 'reflect-metadata';
import { join } from 'node:path';
import { ServiceClient } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import type { EmbeddingModels } from '@tessera/embedding';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbedding } from '../../apps/standalone/src/embedding.js';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeRuntime } from './fake-runtime.js';

const CALL_TEXTS = 4;
const REQUEST_TEXTS = 2048;
const QUEUE_TEXTS = 32;
const FOLDER = join(import.meta.dirname, '../fixtures/encoders');
const { config } = loadConfig({
  environment: {
    TESSERA_HTTP_PORT: '0',
    TESSERA_GRPC_PORT: '0',
    TESSERA_EMBEDDING_MODELS: `mean=${FOLDER}/bert-mean; cls=${FOLDER}/roberta-cls`,
  },
});

let embedding: EmbeddingModels;
let serving: Serving;
let client: ServiceClient<'tessera.embedding.v1.EmbeddingService'>;

beforeAll(async () => {
  embedding = await openEmbedding(config, { threadCount: 1, queueTextsMax: QUEUE_TEXTS });
  const log = createLog('silent');
  const runtime = new FakeRuntime();
  serving = await serve({ config, runtime, embedding, log, serviceVersion: '1' });
  client = new ServiceClient('tessera.embedding.v1.EmbeddingService', serving.grpcAddress);
});

afterAll(async () => {
  client.close();
  await serving.drain.run();
});

async function post(path: string, body: object) {
  const headers = { 'content-type': 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify(body) };
  const reply = await fetch(serving.httpUrl + path, request);
  const retryAfter = reply.headers.get('retry-after');
  return { status: reply.status, json: (await reply.json()) as never, retryAfter };
}

const vectorOf = async (model: string, text: string) =>
  (await embedding.embed({ model, texts: [text], dimensions: undefined })).vectors[0] ??
  new Float32Array();

describe('vectors of texts', () => {
  it('are little-endian bytes over gRPC', async () => {
    const texts = ['argan oil', 'shampoo'];
    const request = { model: 'cls', texts, dimensions: 5, numberType: 1 };
    const answer = await client.call('Embed', request, {});
    expect(answer).toMatchObject({ model: 'cls', dimensions: 5, truncated: 0 });
    expect(answer.modelDigest).toMatch(/^[0-9a-f]{64}$/);
    const bytes = Buffer.from(answer.vectors);
    expect(bytes.length).toBe(2 * 5 * 4);
    const second = await vectorOf('cls', 'shampoo');
    expect(bytes.readFloatLE(5 * 4)).toBe(second[0]);
    const half = await client.call('Embed', { model: '', texts, numberType: 2 }, {});
    expect(half).toMatchObject({ model: 'mean', dimensions: 36 });
    expect(half.vectors.length).toBe(2 * 36 * 2);
  });

  it('are of a prompt of the model over gRPC', async () => {
    const request = { model: 'cls', texts: ['argan oil'], promptName: 'nonsense' };
    await expect(client.call('Embed', request, {})).rejects.toThrow(/promptName.*nonsense/);
  });

  it('are the list that clients of OpenAI read, as numbers or base64', async () => {
    const { status, json } = await post('/v1/embeddings', {
      model: 'mean',
      input: ['argan oil', 'shampoo'],
      user: 'somebody',
    });
    expect(status).toBe(200);
    const vector = await vectorOf('mean', 'argan oil');
    expect(json).toMatchObject({
      object: 'list',
      model: 'mean',
      data: [{ object: 'embedding', index: 0, embedding: [...vector] }, { index: 1 }],
      usage: { prompt_tokens: expect.any(Number), total_tokens: expect.any(Number) },
    });
    const packed = await post('/v1/embeddings', {
      input: 'argan oil',
      encoding_format: 'base64',
      dimensions: 36,
    });
    const { data } = packed.json as { data: [{ embedding: string }] };
    const bytes = Buffer.from(data[0].embedding, 'base64');
    expect([...vector].map((_, i) => bytes.readFloatLE(4 * i))).toEqual([...vector]);
  });

  it('are the arrays that clients of text-embeddings-inference read', async () => {
    const { json } = await post('/embed', { inputs: 'argan oil', model: 'cls' });
    const [vector] = json as [number[]];
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    const plain = await post('/embed', { inputs: ['argan oil'], model: 'cls', normalize: false });
    expect(plain.json).toEqual([[...(await vectorOf('cls', 'argan oil'))]]);
  });

  it.each([
    ['/v1/embeddings', { input: [] }, 'input'],
    ['/v1/embeddings', { input: [1, 2] }, 'input[0]'],
    ['/v1/embeddings', { input: ['a', '\ud800'] }, 'input[1]'],
    ['/v1/embeddings', {}, 'input'],
    ['/v1/embeddings', { input: null }, 'input'],
    ['/v1/embeddings', { input: ['a', ' '] }, 'input[1]'],
    ['/v1/embeddings', { input: 'a', input_type: 'query' }, 'input_type'],
    ['/v1/embeddings', { input: 'a', task: 'retrieval.query' }, 'task'],
    ['/v1/embeddings', { input: 'a', truncate_prompt_tokens: 4 }, 'truncate_prompt_tokens'],
    ['/v1/embeddings', { input: 'a', late_chunking: true }, 'late_chunking'],
    ['/v1/embeddings', { input: 'a', embedding_type: 'binary' }, 'embedding_type'],
    ['/v1/embeddings', { input: 'a', stream: true }, 'stream'],
    ['/embed', { inputs: 'a', prompt_name: 'query' }, 'prompt_name'],
    ['/embed', { inputs: 'a', truncation_direction: 'Left' }, 'truncation_direction'],
    ['/embed', { inputs: ['a', ''] }, 'inputs[1]'],
    ['/', { inputs: 'a', parameters: { normalize: false } }, 'parameters'],
    ['/v1/embeddings', { input: 'a', model: 'other' }, 'model'],
    ['/v1/embeddings', { input: 'a', dimensions: 1000 }, 'dimensions'],
    ['/v1/embeddings', { input: 'a', dimensions: 'all' }, 'dimensions'],
    ['/v1/embeddings', { input: 'a', encoding_format: 'hex' }, 'encoding_format'],
    ['/embed', { inputs: 'a', truncate: false }, 'truncate'],
    ['/embed', { inputs: 'a', normalize: 1 }, 'normalize'],
  ])('are refused by the field: %s %j', async (path, body, field) => {
    const { status, json } = await post(path, body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { code: 'REQUEST_INVALID', field } });
  });

  it('are of a bounded number a request', async () => {
    const input = Array(REQUEST_TEXTS + 1).fill('a');
    const { status, json } = await post('/v1/embeddings', { input });
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { code: 'REQUEST_INVALID', field: 'input' } });
  });

  it("name the client's switch where it sends tokens", async () => {
    for (const input of [[[2028, 374, 264, 1296]], [1, 2, 3]]) {
      const { json } = await post('/v1/embeddings', { input });
      expect(JSON.stringify(json)).toContain('check_embedding_ctx_length=False');
    }
  });

  it('are the same whatever else stock clients send that cannot change them', async () => {
    const plain = await post('/v1/embeddings', { input: 'argan oil' });
    const asked = {
      input: 'argan oil',
      model: null,
      encoding_format: null,
      dimensions: null,
      user: 'u',
      truncation: true,
      embedding_type: 'float',
      input_type: null,
    };
    expect((await post('/v1/embeddings', asked)).json).toEqual(plain.json);
    const tei = { inputs: 'argan oil', truncate: null, truncation_direction: 'Right' };
    const [one, other] = await Promise.all([post('/embed', tei), post('/', tei)]);
    expect(other.json).toEqual(one.json);
  });

  it('fail one by one where that is asked for', async () => {
    const input = ['argan oil', ' ', '', 'shampoo'];
    const { status, json } = await post('/v1/embeddings', { input, failures: 'each' });
    const { data, failures } = json as Record<string, { index: number; message?: string }[]>;
    expect(status).toBe(200);
    expect(data?.map(({ index }) => index)).toEqual([0, 3]);
    expect(failures?.map(({ message }) => message)).toEqual([
      'input[1]: expected a text that is not empty, got  ',
      'input[2]: expected a text that is not empty, got ',
    ]);
    const each = await post('/embed', { inputs: input, failures: 'each' });
    expect((each.json as unknown[]).map((vector) => vector === null)).toEqual([
      ...[false, true, true, false],
    ]);
    const none = await post('/embed', { inputs: [' '], failures: 'each' });
    expect(none.json).toEqual([null]);
  });

  it("reach OpenAI's client by its defaults, under the names that are listed", async () => {
    const client = new OpenAI({ apiKey: 'none', baseURL: `${serving.httpUrl}/v1` });
    const names: string[] = [];
    for await (const { id } of client.models.list()) names.push(id);
    expect(names).toEqual(['mean', 'cls']);
    const { data } = await client.embeddings.create({ model: 'cls', input: ['a', 'shampoo'] });
    const expected = [...(await vectorOf('cls', 'shampoo'))];
    expect(data[1]?.embedding.map(Math.fround)).toEqual(expected);
    const reply = await fetch(`${serving.httpUrl}/info`);
    expect(await reply.json()).toMatchObject({
      model_id: 'mean',
      model_dtype: 'f32',
      max_client_batch_size: REQUEST_TEXTS,
    });
  });

  it('are counted', async () => {
    const reply = await fetch(`${serving.httpUrl}/metrics`);
    const text = await reply.text();
    expect(text).toMatch(/tessera_embedding_texts_total\{model="mean"\} [1-9]/);
    expect(text).toMatch(/tessera_embed_requests_total\{edge="grpc",code="OK"\} 2/);
    expect(text).toMatch(/tessera_embed_requests_total\{edge="http",code="REQUEST_INVALID"\} 25/);
  });
});

describe('three times as many texts as the queue takes', () => {
  it('are refused by the request, and those that are admitted become their vectors', async () => {
    const expected = await vectorOf('mean', 'argan oil');
    const input = Array.from({ length: CALL_TEXTS }, () => 'argan oil');
    const calls = (3 * QUEUE_TEXTS) / CALL_TEXTS;
    const own = embedding.embed.bind(embedding);
    const waiting: (() => void)[] = [];
    // All at once, however slowly they arrive.
    embedding.embed = (request, call) =>
      new Promise((settle, fail) => {
        waiting.push(() => own(request, call).then(settle, fail));
        if (waiting.length === calls) for (const begin of waiting) begin();
      });
    const asked = Array.from({ length: calls }, () => post('/v1/embeddings', { input }));
    const answers = await Promise.all(asked);
    embedding.embed = own;
    const admitted = answers.filter(({ status }) => status === 200);
    expect(admitted.length).toBe(QUEUE_TEXTS / CALL_TEXTS);
    for (const { json } of admitted) {
      const { data } = json as { data: { embedding: number[] }[] };
      expect(data.map((one) => one.embedding)).toEqual(input.map(() => [...expected]));
    }
    for (const { status, json, retryAfter } of answers) {
      if (status === 200) continue;
      expect([status, Number(retryAfter) > 0]).toEqual([429, true]);
      expect(json).toMatchObject({ error: { code: 'ENGINE_OVERLOADED' } });
    }
    expect(embedding.states()[0]?.depth).toBe(0);
    expect((await post('/v1/embeddings', { input })).status).toBe(200);
  });
});
