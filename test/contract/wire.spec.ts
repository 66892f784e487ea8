/** Wire and domain have the same fields, so no field is lost in a mapper. */

import { readFileSync } from 'node:fs';
import type { RecalledItem } from '@tessera/recall';
import { describe, expect, it } from 'vitest';
import { answerTo, rankedOf, scoresOf } from '../integration/fake-runtime.js';

const proto = ['recall/v1/recall.proto', 'score/v1/score.proto', 'ranking/v1/ranking.proto']
  .map((file) => readFileSync(`proto/tessera/${file}`, 'utf8'))
  .join('\n');

/** Field names of a message, read from the proto file itself. */
function fieldsOf(message: string): string[] {
  const body = new RegExp(`message ${message} \\{([\\s\\S]*?)\\n\\}`).exec(proto)?.[1] ?? '';
  const fields = [...body.matchAll(/^\s+(?:optional |repeated )?[\w<>, .]+ (\w+) = \d+;/gm)];
  return fields.map((match) => (match[1] ?? '').replace(/_(\w)/g, (_, c) => c.toUpperCase()));
}

const request = {
  requestId: 'r',
  userId: '1',
  profile: {},
  scene: {},
  resultCount: 1,
  widths: [],
  itemsPerSid: 1,
  skipUnknownItems: false,
  valuation: { name: 'ecpm', weights: {} },
  explore: { slots: 1, seed: 7 },
  rank: { adapter: '' },
};

describe('tessera.recall.v1, tessera.score.v1 and tessera.ranking.v1', () => {
  const answer = answerTo(request);
  const gated = answer.items.map((item): RecalledItem => ({ ...item, relevanceScore: 0.5 }));
  const scores = scoresOf({ ...request, items: [{ itemId: '1' }] });
  const ranked = rankedOf({ ...request, itemIds: ['1', '2'] });

  it.each([
    ['RecallResponse', answer],
    ['RecalledItem', gated[0]],
    ['ItemValue', answer.items[0]?.value],
    ['AppliedValuation', answer.valuation],
    ['AppliedExploration', answer.exploration],
    ['KvProvenance', answer.kv],
    ['RecallTimings', answer.timings],
    ['RecallVersions', answer.versions],
    ['ScoreResponse', scores],
    ['ItemScore', scores.items[0]],
    ['AppliedRanking', answer.ranking],
    ['ItemRanking', answer.items[0]?.ranking],
    ['RankedItem', Object.assign({}, ...ranked.items)],
    ['ItemFailure', ranked.items[1]?.failure],
  ])('%s has exactly the fields of the domain', (message, value) => {
    expect(fieldsOf(message).sort()).toEqual(Object.keys(value ?? {}).sort());
  });
});
