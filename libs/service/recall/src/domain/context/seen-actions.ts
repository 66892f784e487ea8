import type { Behaviour } from '@tessera/behaviour';
import { ALL_ACTIONS } from '../request/frequency-caps.js';
import type { FrequencyCap } from '../request/request-types.js';

/** Maximum of actions that are remembered; beyond it none is told any more. */
export const SEEN_ACTIONS_MAX = 1000;

/**
 * Actions of caps that this process has read a behaviour of. A cap of another action caps nothing:
 * nobody has done that yet, or its name is a typing error, which must not be silent.
 */
export class SeenActions {
  private readonly seen = new Set<string>([ALL_ACTIONS]);

  /**
   * Caps, as `path: action`, of an action that neither these behaviours nor any before have.
   * @param path of the list
   */
  unseen(
    caps: readonly FrequencyCap[],
    path: string,
    behaviours: readonly Behaviour[],
  ): readonly string[] {
    return caps.flatMap(({ action }, index) => {
      if (this.seen.has(action) || this.seen.size > SEEN_ACTIONS_MAX) return [];
      if (behaviours.some((each) => each.action === action)) {
        this.seen.add(action);
        return [];
      }
      return [`${path}[${index}].action: ${action}`];
    });
  }
}
