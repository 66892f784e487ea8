import { PLAIN } from '@tessera/client';
import type { RelevanceProfile } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { relevanceProfile } from '@tessera/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ForwardCounts } from '../asking.js';
import { Cluster } from '../cluster.js';
import { NodeAway } from '../node-failure.js';
import type { NodeLink } from '../node-link.js';
import { namedDocument } from './part-numbers.js';
import type { Scored, ScoredCall } from './scored-call.js';
import { SplitCalls } from './split-calls.js';

/** Per document: its score, or the code that it failed with. */
type Answer = readonly (string | number)[];

interface Asked {
  readonly node: string;
  readonly documents: readonly number[];
  readonly leftMs: number;
  readonly answer: (scores?: Answer) => void;
  readonly refuse: (thrown: unknown) => void;
  isEnded: boolean;
}

let cluster: Cluster;
let asked: Asked[];
let nowMs: number;
let calls: SplitCalls;

const link = (name: string) => cluster.link(name) as NodeLink;
const see = (name: string, relevance: RelevanceProfile | undefined) =>
  cluster.saw(link(name), { state: 'up', versions: { node: name }, relevance });

beforeEach(() => {
  cluster = new Cluster(PLAIN, { info: () => undefined, warn: () => undefined });
  cluster.setMembers(
    ['a', 'b', 'c'].map((name) => ({ name, grpc: `${name}:1`, http: `${name}:2`, weight: 1 })),
  );
  for (const name of ['a', 'b', 'c']) see(name, relevanceProfile());
  asked = [];
  nowMs = 0;
  calls = new SplitCalls(cluster, new ForwardCounts(), () => nowMs);
});
afterEach(() => cluster.close());

/** Everything that is waited for has gone on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

const scoreOf = (document: number) => document + 0.5;
const away = () => new NodeAway('away');
const busy = () => new TesseraError('ENGINE_OVERLOADED', 'busy');

function callOf(texts: readonly string[], more: Partial<ScoredCall<Answer>> = {}) {
  const call: ScoredCall<Answer> = {
    path: 'p',
    edge: 'grpc',
    queryBytes: 10,
    documentBytes: texts.map((text) => Buffer.byteLength(text)),
    failsWhole: false,
    leftMs: Number.POSITIVE_INFINITY,
    isOver: () => false,
    onCancelled: () => undefined,
    ask: ({ member: { name: node } }, documents, leftMs, onBegun) =>
      new Promise((resolve, reject) => {
        const answer = (scores: Answer = documents.map(scoreOf)) => resolve(scores);
        const one: Asked = { node, documents, leftMs, answer, refuse: reject, isEnded: false };
        onBegun(() => {
          one.isEnded = true;
          reject(away());
        });
        asked.push(one);
      }),
    usageOf: () => ({ promptTokens: 10, computedTokens: 6, version: 'v' }),
    merge: (parts: readonly Scored<Answer>[]) => {
      const merged: (string | number)[] = [];
      for (const { documents, outcome } of parts) {
        for (const [at, document] of documents.entries()) {
          expect(merged[document]).toBeUndefined();
          merged[document] =
            outcome instanceof TesseraError ? outcome.code : (outcome[at] as number);
        }
      }
      return merged;
    },
  };
  return Object.assign(call, more);
}

/** Of different lengths. */
const textsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => `${String.fromCharCode(97 + i)}`.repeat(100 + 37 * i));

it('asks nodes for parts that are even, and gives each document its score once', async () => {
  const texts = textsOf(20);
  const answer = calls.score(callOf(texts));
  expect(asked.map(({ node }) => node).sort()).toEqual(['a', 'b', 'c']);
  const bytes = asked.map(({ documents }) =>
    documents.reduce((sum, at) => sum + (texts[at]?.length ?? 0), 0),
  );
  expect(Math.max(...bytes) / Math.min(...bytes)).toBeLessThan(1.1);
  for (const { answer: give } of [...asked].reverse()) give();
  expect(await answer).toEqual(texts.map((_, i) => scoreOf(i)));
  expect(calls.tally).toMatchObject({ parts: { answered: 3 }, splitCalls: 1, sharedTokens: 12 });
});

it('asks the node that has least to do where a call is small', async () => {
  see('a', relevanceProfile({ backlogUs: 900_000 }));
  void calls.score(callOf(textsOf(20)));
  const has = new Set(asked.map(({ node }) => node));
  expect(has).toEqual(new Set(['b', 'c']));
  asked = [];
  cluster.saw(link('b'), {
    state: 'up',
    versions: { node: 'b' },
    relevance: relevanceProfile({ backlogUs: 400_000 }),
  });
  void calls.score(callOf(['a short text']));
  expect(asked.map(({ node }) => node)).toEqual(['c']);
});

it.each([
  ['is away', away],
  ['refuses before it begins', busy],
])('asks the next node for the part of one that %s', async (_, refusal) => {
  const answer = calls.score(callOf(textsOf(20)));
  const [first, ...others] = asked as [Asked, ...Asked[]];
  first.refuse(refusal());
  for (const { answer: give } of others) give();
  await settled();
  expect(asked).toHaveLength(4);
  expect(asked[3]?.documents).toEqual(first.documents);
  expect(asked[3]?.node).not.toBe(first.node);
  asked[3]?.answer();
  expect(await answer).toEqual(textsOf(20).map((_, i) => scoreOf(i)));
});

it('gives documents of a part that nobody takes a reason, and others their scores', async () => {
  const answer = calls.score(callOf(textsOf(9)));
  const [first, ...others] = asked as [Asked, ...Asked[]];
  for (const { answer: give } of others) give();
  first.refuse(busy());
  await settled();
  asked.at(-1)?.refuse(busy());
  await settled();
  asked.at(-1)?.refuse(busy());
  const outcome = await answer;
  const isOfFirst = (at: number) => first.documents.includes(at);
  expect(outcome).toEqual(
    textsOf(9).map((_, i) => (isOfFirst(i) ? 'ENGINE_OVERLOADED' : scoreOf(i))),
  );
});

it('fails where all parts do, or one that the request itself is at fault for', async () => {
  const all = calls.score(callOf(['a']));
  const failed = expect(all).rejects.toThrow('busy');
  for (let i = 0; i < 3; i += 1) {
    asked.at(-1)?.refuse(busy());
    await settled();
  }
  await failed;
  asked = [];
  const invalid = new TesseraError('REQUEST_INVALID', 'query: expected a text', { field: 'query' });
  const one = calls.score(callOf(textsOf(20)));
  const [first, ...others] = asked as [Asked, ...Asked[]];
  first.refuse(invalid);
  for (const { answer: give } of others) give();
  await expect(one).rejects.toThrow('query: expected a text');
});

it('fails as the first document did, by its number in the call, where asked to', async () => {
  const answer = calls.score(callOf(textsOf(20), { failsWhole: true }));
  const lasts = asked.map((one) => {
    const at = one.documents.length - 1;
    const field = `documents[${at}].itemId`;
    const error = new TesseraError('ITEM_NOT_FOUND', `${field}: expected an item`, { field });
    one.refuse(error);
    return one.documents[at] as number;
  });
  const thrown = (await answer.catch((error: unknown) => error)) as TesseraError;
  expect(thrown.field).toBe(`documents[${Math.min(...lasts)}].itemId`);
  expect(namedDocument(thrown.message)).toBe(Math.min(...lasts));
});

it('asks another node for the part of one that is lost while it computes', async () => {
  const answer = calls.score(callOf(textsOf(20)));
  const [first, ...others] = asked as [Asked, ...Asked[]];
  for (const { answer: give } of others) give();
  await settled();
  first.refuse(away());
  await settled();
  expect(asked).toHaveLength(4);
  const again = asked[3] as Asked;
  expect(again.documents).toEqual(first.documents);
  expect(again.node).not.toBe(first.node);
  again.answer();
  expect(await answer).toEqual(textsOf(20).map((_, i) => scoreOf(i)));
  expect(link(first.node).state).toBe('down');
  expect(calls.tally.parts).toEqual({ answered: 3, failed: 0 });
});

it('leaves nodes less time than the call has, so that their answers are in time', async () => {
  const late = new TesseraError('DEADLINE_EXCEEDED', 'late');
  const answer = calls.score(callOf(textsOf(20), { leftMs: 500 }));
  const [hung, ...others] = asked as [Asked, ...Asked[]];
  for (const { leftMs } of asked) {
    expect(leftMs).toBeGreaterThan(400);
    expect(leftMs).toBeLessThan(500);
  }
  for (const { answer: give } of others) give();
  hung.refuse(late);
  const outcome = await answer;
  expect(outcome.filter((of) => of === 'DEADLINE_EXCEEDED')).toHaveLength(hung.documents.length);
  expect(outcome.filter((of) => typeof of === 'number')).toHaveLength(20 - hung.documents.length);
});

it('splits over nodes that score alike, and takes no more documents than one node does', () => {
  see('c', relevanceProfile({ model: 'other' }));
  void calls.score(callOf(textsOf(20)));
  expect(asked.map(({ node }) => node).sort()).toEqual(['a', 'b']);
  expect(calls.takes(0)).toBe(false);
  expect(calls.takes(100)).toBe(true);
  expect(calls.takes(101)).toBe(false);
  for (const name of ['a', 'b', 'c']) see(name, undefined);
  expect(calls.takes(1)).toBe(false);
});

it('puts no scores of different models together', async () => {
  let version = 0;
  const usageOf = () => ({ promptTokens: 0, computedTokens: 0, version: `v${version++}` });
  const answer = calls.score(callOf(textsOf(20), { usageOf }));
  for (const { answer: give } of asked) give();
  await expect(answer).rejects.toThrow(/expected one relevance model/);
});

it('ends what nobody waits for', async () => {
  let cancel: (() => void)[] = [];
  const onCancelled = (act: () => void) => {
    cancel = [...cancel, act];
  };
  let isOver = false;
  const answer = calls.score(callOf(textsOf(20), { onCancelled, isOver: () => isOver }));
  isOver = true;
  for (const act of cancel) act();
  await expect(answer).rejects.toThrow('away');
  expect(asked).toHaveLength(3);
  expect(asked.every(({ isEnded }) => isEnded)).toBe(true);
});
