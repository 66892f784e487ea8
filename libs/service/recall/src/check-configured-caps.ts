import type { BehaviourStore } from '@tessera/behaviour';
import { EVERY_ITEM } from '@tessera/engine';
import { expecting, TesseraError } from '@tessera/errors';
import { countCaps } from './domain/context/count-caps.js';
import type { RecallDefaults } from './domain/context/recall-parts.js';
import { checkFrequencyCaps } from './domain/request/frequency-caps.js';
import { withCaps } from './domain/request/reach-request.js';
import type { OpenCatalogue } from './open-catalogues.js';

const KEY = 'recall.frequencyCaps';

/**
 * Refuses at the start what every recall would be refused for, or what would never cap anything.
 * @throws TesseraError CONFIG_INVALID
 */
export async function checkConfiguredCaps(
  { frequencyCaps: caps = [], historyItemsMax }: RecallDefaults,
  { retention }: BehaviourStore,
  catalogues: readonly OpenCatalogue[],
): Promise<void> {
  if (caps.length === 0) return;
  checkFrequencyCaps(caps, KEY, { historyItemsMax, retention }, expecting('CONFIG_INVALID'));
  const nothing = withCaps(EVERY_ITEM, countCaps(caps, KEY, [], 0));
  for (const { catalogue } of catalogues) {
    try {
      await catalogue.reach(nothing);
    } catch (thrown) {
      const { code, message, field = KEY } = TesseraError.from(thrown);
      if (code !== 'REQUEST_INVALID') throw thrown;
      throw new TesseraError('CONFIG_INVALID', message, { field, cause: thrown });
    }
  }
}
