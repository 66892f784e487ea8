import type { BehaviourLog } from './domain/behaviour-log.js';
import { EmbeddedBehaviourLog } from './outside/embedded-behaviour-log.js';

/** The folder that behaviours are kept in, as it fares; none where they are kept elsewhere. */
export function behaviourFolders(log: BehaviourLog | undefined) {
  if (!(log instanceof EmbeddedBehaviourLog)) return [];
  const refresh = async () => {
    if (log.condition().state !== 'ok') await log.recover();
  };
  return [{ name: 'behaviours', condition: () => log.condition(), refresh }];
}
