import type { RelevanceProfile } from '@tessera/contracts';

/** Profile of a node that scores texts and has nothing to do. */
export function relevanceProfile(changes: Partial<RelevanceProfile> = {}): RelevanceProfile {
  const profile: RelevanceProfile = {
    model: 'fake',
    template: 'fake',
    documentsMax: 100,
    tokenUs: 100,
    backlogUs: 0,
  };
  return Object.assign(profile, changes);
}
