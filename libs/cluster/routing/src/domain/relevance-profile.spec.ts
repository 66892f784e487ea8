import { relevanceProfile } from '@tessera/testing';
import { expect, it } from 'vitest';
import { pairWorkOf, parseRelevanceProfile } from './relevance-profile.js';

const PROFILE = relevanceProfile({ tokensBefore: 60, tokensKept: 32 });

it('reads what a node says, and nothing that another version says', () => {
  expect(parseRelevanceProfile(JSON.parse(JSON.stringify(PROFILE)))).toEqual(PROFILE);
  for (const other of [undefined, null, 7, {}, Object.assign({}, PROFILE, { tokenUs: -1 })]) {
    expect(parseRelevanceProfile(other)).toBeUndefined();
  }
  expect(parseRelevanceProfile(Object.assign({}, PROFILE, { bytesPerToken: 0 }))).toBeUndefined();
  expect(parseRelevanceProfile(Object.assign({}, PROFILE, { model: 7 }))).toBeUndefined();
});

it('counts tokens by bytes, the query where the template has it', () => {
  const bytes = { query: 40, documents: [100, 101, 100], common: [0, 48, 12] };
  expect(pairWorkOf(PROFILE, bytes)).toEqual({
    sharedTokens: 70,
    keptTokens: 32,
    tokens: [35, 36, 35],
    common: [0, 12, 0],
  });
  const behind = Object.assign({}, PROFILE, { isQueryBefore: false });
  expect(pairWorkOf(behind, bytes)).toEqual({
    sharedTokens: 60,
    keptTokens: 32,
    tokens: [45, 46, 45],
    common: [0, 12, 0],
  });
});

it('takes a document that is there twice for computed', () => {
  const bytes = { query: 4, documents: [100, 100], common: [0, 100] };
  expect(pairWorkOf(PROFILE, bytes)).toMatchObject({ tokens: [35, 35], common: [0, 35] });
});
