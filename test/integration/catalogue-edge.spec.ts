/** CatalogueService and eligibility over gRPC, on a fake runtime. */

import 'reflect-metadata';
import * as grpc from '@grpc/grpc-js';
import { clauseOf } from '@tessera/catalogue';
import { ServiceClient } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import { NO_ELIGIBILITY } from '@tessera/engine';
import type { Serving } from '@tessera/hosting';
import { eligibilityText } from '@tessera/recall';
import { createLog } from '@tessera/telemetry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../../apps/standalone/src/serve.js';
import { CatalogueClient, type CatalogueMethod } from '../../tools/served/catalogue-client.js';
import { FakeRuntime } from './fake-runtime.js';
import { RecallClient } from './recall-client.js';

const CALL_MS = 30_000;
const runtime = new FakeRuntime();
let serving: Serving;
let client: CatalogueClient;
let recalls: RecallClient;

beforeAll(async () => {
  const { config } = loadConfig();
  const edge = { host: '127.0.0.1', port: 0 };
  serving = await serve({
    config: { ...config, http: { ...config.http, ...edge }, grpc: { ...config.grpc, ...edge } },
    runtime,
    serviceVersion: 'test',
    log: createLog('silent'),
  });
  client = new CatalogueClient(serving.grpcAddress);
  recalls = new RecallClient(serving.grpcAddress);
});

afterAll(async () => {
  client.close();
  recalls.close();
  await serving.drain.run();
});

interface Streamed {
  readonly sequences: number[];
  readonly code: string | undefined;
}

/** Batches in one stream, and the answers that come back. */
function applyStream(batches: readonly object[]): Promise<Streamed> {
  const stub = new ServiceClient('tessera.catalogue.v1.CatalogueService', serving.grpcAddress);
  const stream = stub.converse('ApplyStream');
  const sequences: number[] = [];
  return new Promise((resolve) => {
    const end = (code: string | undefined) => {
      stub.close();
      resolve({ sequences, code });
    };
    stream.on('data', ({ sequence }) => sequences.push(sequence));
    stream.on('error', (error: grpc.ServiceError) =>
      end(error.metadata.get('tessera-code')[0]?.toString() ?? error.message),
    );
    stream.on('end', () => end(undefined));
    for (const batch of batches) stream.write(batch);
    stream.end();
  });
}

const asServiceError = (thrown: unknown) => thrown as grpc.ServiceError;

const call = (method: CatalogueMethod, message: object) =>
  client.call<Record<string, unknown>>(method, message, CALL_MS);

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  const given = { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${serving.httpUrl}${path}`, given);
  return { ...((await response.json()) as object), status: response.status };
}

describe('CatalogueService', () => {
  it('hands every kind of change on and answers with the version that has them', async () => {
    const changes = [
      { upsert: { itemId: 'x', sid: [1, 2], attributes: '{"a":[1]}', priority: 0.5 } },
      { pauseItemId: 'p' },
      { resumeItemId: 'r' },
      { removeItemId: 'm' },
      { setAttributes: { itemId: 's', attributes: '' } },
      { setPriority: { itemId: 't', priority: -1 } },
      { setPace: { attribute: 'campaign', text: 'x', factor: 1 } },
    ];
    expect(await call('Apply', { changes })).toMatchObject({ sequence: 7 });
    expect(runtime.catalogue.applied).toEqual([
      { op: 'upsert', itemId: 'x', sid: [1, 2], title: '', attributes: '{"a":[1]}', priority: 0.5 },
      { op: 'pause', itemId: 'p' },
      { op: 'resume', itemId: 'r' },
      { op: 'remove', itemId: 'm' },
      { op: 'set_attributes', itemId: 's', attributes: '' },
      { op: 'set_priority', itemId: 't', priority: -1 },
      { op: 'set_pace', itemId: '', pace: { attribute: 'campaign', text: 'x', factor: 1 } },
    ]);
  });

  it('hands patches and predicates on, and answers how many items each matched', async () => {
    const before = runtime.catalogue.applied.length;
    const matching = { not: { in: { attribute: 'campaign', values: ['x', 'true'] } } };
    const add = [{ attribute: 'labels', texts: ['new'] }];
    const delta = [{ attribute: 'budget', delta: -2.5 }];
    const changes = [
      { patchAttributes: { itemId: 'a', set: '{"b":1}', unset: ['c'], take: add } },
      { patchAttributes: { matching, add, delta } },
      { pauseMatching: { range: { attribute: 'budget', max: 0 } } },
      { resumeMatching: { all: { predicates: [matching] } } },
      { removeMatching: { contains: { attribute: 'labels', values: [] } } },
    ];
    expect(await call('Apply', { changes })).toEqual({
      sequence: before + 5,
      matched: [1, 1, 1, 1],
      placed: [],
      paced: [],
      unvaluedItemIds: [],
      alreadyApplied: false,
      // Of a cluster's log, which this process follows none of.
      offset: 0,
    });
    const nothing = { set: '', unset: [], add: [], take: [], delta: [] };
    const ofCampaign = clauseOf('in', { attribute: 'campaign', values: ['x', 'true'] });
    const predicate = clauseOf('not', { clauses: [ofCampaign] });
    const ofLabels = clauseOf('contains', { attribute: 'labels' });
    const op = 'patch_attributes';
    expect(runtime.catalogue.applied.slice(before)).toEqual([
      { op, itemId: 'a', patch: { ...nothing, set: '{"b":1}', unset: ['c'], take: add } },
      { op, itemId: '', predicate, patch: { ...nothing, add, delta } },
      { op: 'pause', itemId: '', predicate: clauseOf('range', { attribute: 'budget', max: 0 }) },
      { op: 'resume', itemId: '', predicate: clauseOf('all', { clauses: [predicate] }) },
      { op: 'remove', itemId: '', predicate: ofLabels },
    ]);
    const deep = { patchAttributes: { matching, set: `{"a":${'['.repeat(1000)}` } };
    const error = await call('Apply', { changes: [deep] }).catch(asServiceError);
    expect(error).toMatchObject({ details: expect.stringContaining('changes[0].set') });
  });

  it('takes the same over HTTP, with attributes as objects', async () => {
    const before = runtime.catalogue.applied.length;
    const inX = { in: { attribute: 'campaign', values: ['x'] } };
    const changes = [
      { upsert: { itemId: 7, sid: [1, 2], attributes: { a: [1] }, priority: 0.5 } },
      { upsert: { itemId: 'v', vector: [0.5, -2], title: 'T' } },
      { pauseItemId: 3 },
      { setAttributes: { itemId: 's', attributes: { b: 'c' } } },
      {
        patchAttributes: { matching: inX, set: { d: 1 }, add: [{ attribute: 'l', texts: ['n'] }] },
      },
      { removeMatching: { all: [inX] } },
      { setPace: { attribute: 'campaign', text: 'x', factor: 0.5 } },
    ];
    const answer = await post('/v1/catalogue/apply', { changes });
    const none = { placed: [], paced: [1], unvaluedItemIds: [] };
    const counts = Object.assign({ matched: [1, 1], alreadyApplied: false, offset: 0 }, none);
    expect(answer).toEqual(Object.assign(counts, { status: 200, sequence: before + 7 }));
    const importMark = { name: 'ads', position: 7 };
    const again = { changes: [{ pauseItemId: '1' }], importMark };
    for (const alreadyApplied of [false, true]) {
      const marked = await post('/v1/catalogue/apply', again);
      expect(marked).toMatchObject({ status: 200, sequence: before + 8, alreadyApplied });
    }
    const bundle = { follows: 'a', becomes: 'b' };
    const both = await post('/v1/catalogue/apply', { changes: [], importMark, bundle });
    expect(both).toMatchObject({ status: 422, error: { field: 'importMark' } });
    const predicate = clauseOf('in', { attribute: 'campaign', values: ['x'] });
    const add = [{ attribute: 'l', texts: ['n'] }];
    const patch = { set: '{"d":1}', unset: [], add, take: [], delta: [] };
    expect(runtime.catalogue.applied.slice(before)).toEqual([
      { op: 'upsert', itemId: '7', sid: [1, 2], title: '', attributes: '{"a":[1]}', priority: 0.5 },
      Object.assign(
        { op: 'upsert', itemId: 'v', sid: [], title: 'T', attributes: '', priority: 0 },
        { vector: Float32Array.of(0.5, -2) },
      ),
      { op: 'pause', itemId: '3' },
      { op: 'set_attributes', itemId: 's', attributes: '{"b":"c"}' },
      { op: 'patch_attributes', itemId: '', predicate, patch },
      { op: 'remove', itemId: '', predicate: clauseOf('all', { clauses: [predicate] }) },
      { op: 'set_pace', itemId: '', pace: { attribute: 'campaign', text: 'x', factor: 0.5 } },
      { op: 'pause', itemId: '1' },
    ]);
    const stopped = { setPace: { attribute: 'campaign', text: 'x', factor: 0 } };
    expect(await post('/v1/catalogue/apply', { changes: [stopped] })).toMatchObject({
      error: { message: 'changes[0].factor: expected a factor above 0 and at most 1, got 0' },
    });
    const refused = await post('/v1/catalogue/apply', { changes: [{ upsert: { sid: [1] } }] });
    expect(refused).toMatchObject({
      status: 400,
      error: { message: 'changes[0].upsert.itemId: expected a string or an integer, got nothing' },
    });
  });

  it('shows where a vector would go, over both edges', async () => {
    const expected = { codes: [3, 1, 4], distances: [2, 2, 2], sid: [3, 1, 4], codebooks: '' };
    const near = { itemId: 'a', title: 'Tëst', sid: [3, 1, 4], sharedLevels: 3 };
    const sequence = runtime.catalogue.applied.length;
    const found = { ...expected, neighbours: [near], sequence };
    expect(await call('Quantise', { vector: [1, 2] })).toEqual(found);
    expect(await post('/v1/sid', { vector: [1, 2] })).toEqual({ status: 200, ...found });
    const none = await post('/v1/sid', { vector: [1, 2], neighbours: 0 });
    expect(none).toMatchObject({ status: 200, neighbours: [] });
    expect(await post('/v1/sid', { vector: [1], neighbours: 1001 })).toMatchObject({
      error: { code: 'CATALOGUE_INVALID', field: 'neighbours' },
    });
    expect(await post('/v1/sid', { text: 'a' })).toMatchObject({
      error: {
        field: 'text',
        message: expect.stringContaining('expected none, since the catalogue has no codebooks'),
      },
    });
    const digest = await call('Quantise', { vector: [1], codebooks: 'f00' }).catch(asServiceError);
    expect(digest).toMatchObject({ details: expect.stringContaining('codebooks: expected none') });
  });

  it('refuses attributes that nest without end, and says which', async () => {
    const before = runtime.catalogue.applied.length;
    const deep = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    const set = (attributes: string) => ({ setAttributes: { itemId: 's', attributes } });
    const changes = [set(deep(255)), set(deep(100_000))];
    const error = await call('Apply', { changes }).catch(asServiceError);
    expect((error as grpc.ServiceError).metadata.get('tessera-code')).toEqual([
      'CATALOGUE_INVALID',
    ]);
    expect(error).toMatchObject({ details: expect.stringContaining('changes[1].attributes') });
    expect(runtime.catalogue.applied).toHaveLength(before);
    await call('Apply', { changes: [set(deep(255)), set(`{"a":"${'['.repeat(1000)}"}`)] });
  });

  it('answers a stream batch by batch and ends it at the first that is refused', async () => {
    const before = runtime.catalogue.applied.length;
    const batch = (...itemIds: string[]) => ({
      changes: itemIds.map((pauseItemId) => ({ pauseItemId })),
    });
    const good = await applyStream([batch('a', 'b'), batch('c')]);
    expect(good).toEqual({ sequences: [before + 2, before + 3], code: undefined });
    const bad = await applyStream([batch('d'), batch('e', 'wrong'), batch('f')]);
    expect(bad).toEqual({ sequences: [before + 4], code: 'CATALOGUE_INVALID' });
  });

  it('applies the messages of a batch together, and only with the last of them', async () => {
    const before = runtime.catalogue.applied.length;
    const of = (...itemIds: string[]) => ({
      changes: itemIds.map((pauseItemId) => ({ pauseItemId })),
    });
    const send = (...messages: object[]): Promise<unknown> =>
      client.send('ApplyBatch', messages, CALL_MS);
    const whole = send(of('a', 'b'), of(), { ...of('c'), last: true });
    expect(await whole).toMatchObject({ sequence: before + 3 });
    const refused: [object[], string][] = [
      [[], 'last'],
      [[of('d')], 'last'],
      [[{ ...of('d'), last: true }, of('e')], 'last'],
      [[of('d'), { ...of('e', 'wrong'), last: true }], 'changes[2].sid'],
      [[of('d'), { changes: [{}], last: true }], 'changes[1]'],
      [[of('d'), { ...of('e'), catalogue: 'other', last: true }], 'catalogue'],
    ];
    for (const [messages, field] of refused) {
      const error = await send(...messages).then(() => undefined, asServiceError);
      expect(error?.metadata.get('tessera-code')).toEqual(['CATALOGUE_INVALID']);
      expect(error?.metadata.get('tessera-field')).toEqual([field]);
    }
    expect(runtime.catalogue.applied).toHaveLength(before + 3);
  });

  it('tells its state and versions, compacts and rolls back', async () => {
    const sequence = runtime.catalogue.applied.length;
    expect(await call('GetState', {})).toMatchObject({ sequence, base: 'fake-catalogue' });
    const generations = [{ lastSequence: sequence }];
    expect(await call('ListVersions', {})).toMatchObject({ generations });
    expect(await call('Compact', {})).toEqual({ sequence });
    expect(runtime.catalogue.compactions).toBe(1);
    expect(await call('RollBack', { sequence: 2 })).toEqual({ sequence: sequence + 1 });
  });

  it('lists every item of one version, some at a time', async () => {
    const listed: unknown[] = [];
    for await (const page of client.stream<{ items: unknown[] }>('ListItems', {}, CALL_MS)) {
      expect(page).toMatchObject({ sequence: 0 });
      listed.push(...page.items);
    }
    const held = { title: 'Tëst', attributes: '{"n":1}', priority: 0, paused: false };
    expect(listed).toEqual([{ itemId: 'a', sid: [3, 1, 4], ...held }]);
  });

  it('goes from bundle to bundle, and refuses a step that does not follow', async () => {
    const changes = [{ pauseItemId: 'a' }];
    expect(await call('GetState', {})).toMatchObject({ bundleUuid: 'u1' });
    await call('Apply', { changes, bundle: { follows: 'u1', becomes: 'u2' } });
    const before = runtime.catalogue.applied.length;
    const step = { changes, bundle: { follows: 'u1', becomes: 'u3' } };
    const error = await call('Apply', step).catch((thrown) => thrown);
    expect(error.metadata.get('tessera-code')).toEqual(['CATALOGUE_INVALID']);
    expect(error.metadata.get('tessera-field')).toEqual(['bundle.follows']);
    expect(runtime.catalogue.applied).toHaveLength(before);
    expect(await call('GetState', {})).toMatchObject({ bundleUuid: 'u2' });
  });

  it.each([
    [{ changes: [{ pauseItemId: 'p' }, { removeItemId: 'wrong' }] }, 'changes[1].sid'],
    [{ changes: [{ pauseItemId: 'p' }, {}] }, 'changes[1]'],
  ])('refuses %j naming the change at fault', async (message, field) => {
    const error = await call('Apply', message).catch((thrown) => thrown);
    expect(error.metadata.get('tessera-code')).toEqual(['CATALOGUE_INVALID']);
    expect(error.metadata.get('tessera-field')).toEqual([field]);
  });
});

describe('eligibility of a recall', () => {
  it('reaches the runtime as the clauses that JSON would give', async () => {
    const text = (attribute: string, values: string[]) => ({ attribute, values });
    const predicate = {
      all: {
        predicates: [
          { any: { predicates: [{ in: text('country', ['de']) }] } },
          { not: { contains: text('labels', ['old']) } },
          { range: { attribute: 'bid', min: 0 } },
        ],
      },
    };
    const eligibility = { predicate, allowed: { itemIds: [] }, seen: ['7'] };
    expect((await recalls.recall({ userId: 'eligible', eligibility })).status).toBe(0);
    const { request } = runtime.seen.at(-1) ?? {};
    expect(JSON.parse(eligibilityText(request?.eligibility ?? NO_ELIGIBILITY))).toEqual({
      predicate: {
        all: [
          { any: [{ attribute: 'country', in: ['de'] }] },
          { not: { attribute: 'labels', contains: ['old'] } },
          { attribute: 'bid', min: 0 },
        ],
      },
      allowed: [],
      seen: ['7'],
    });
    await recalls.recall({ userId: 'free' });
    expect(runtime.seen.at(-1)?.request.eligibility).toBeUndefined();
  });
});
