/** Some days of a cluster of real processes; many: npm run soak -- cluster. */

import { missingFor } from '@tessera/testing';
import { expect, it } from 'vitest';
import { clusterDays } from '../cluster/cluster-days.js';
import { runSoak } from '../soak/soak.js';

const DAYS = 3;
const SEED = 20_261_126;
const missing = missingFor(['etcd', 'redis']);

it.skipIf(missing.length > 0)(
  `brings a cluster through ${DAYS} hard days as a model says, seed ${SEED} ${missing}`,
  async () => {
    const kind = clusterDays({ nodes: 2, isLong: false });
    const { faults, counts } = await runSoak(kind, { seed: SEED, rounds: DAYS });
    expect(faults).toEqual([]);
    for (const kind of ['changes acknowledged', 'recalls', 'keys repeated']) {
      expect(counts[kind], kind).toBeGreaterThan(0);
    }
  },
  300_000,
);
