import type { RelevanceProfile } from '@tessera/routing';

/** Of a node that scores texts and has nothing to do. */
export function relevanceProfile(changes: Partial<RelevanceProfile> = {}): RelevanceProfile {
  const profile: RelevanceProfile = {
    model: 'fake',
    template: 'fake',
    documentsMax: 100,
    passUs: 500,
    tokenUs: 100,
    pairUs: 0.01,
    backlogUs: 0,
    bytesPerToken: 4,
    tokensBefore: 10,
    tokensBehind: 10,
    isQueryBefore: true,
  };
  return Object.assign(profile, changes);
}
