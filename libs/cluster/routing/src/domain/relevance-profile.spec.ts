import { relevanceProfile } from '@tessera/testing';
import { expect, it } from 'vitest';
import { parseRelevanceProfile } from './relevance-profile.js';

const PROFILE = relevanceProfile();

it('reads what a node says, and nothing that another version says', () => {
  expect(parseRelevanceProfile(JSON.parse(JSON.stringify(PROFILE)))).toEqual(PROFILE);
  for (const other of [undefined, null, 7, {}, Object.assign({}, PROFILE, { tokenUs: -1 })]) {
    expect(parseRelevanceProfile(other)).toBeUndefined();
  }
  expect(parseRelevanceProfile(Object.assign({}, PROFILE, { model: 7 }))).toBeUndefined();
});
