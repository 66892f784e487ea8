/** The log of a cluster whose nodes are fake runtimes in this process. */

import { join } from 'node:path';
import { loadConfig } from '@tessera/config';
import { PendingErasures } from '@tessera/erasure';
import type { Serving } from '@tessera/hosting';
import { RetrievalNode } from '@tessera/node';
import { createLog } from '@tessera/telemetry';
import { MemoryEntryStore, MemoryLog, MemoryLogState } from '@tessera/testing';
import type { ServeParts } from '../../apps/standalone/src/compose.js';
import { openInspection } from '../../apps/standalone/src/inspection.js';
import { serve } from '../../apps/standalone/src/serve.js';
import type { FakeRuntime } from './fake-runtime.js';

type Parts = Partial<Omit<ServeParts, 'runtime'>> & { readonly runtime: FakeRuntime };

export class FakeCluster {
  readonly state = new MemoryLogState();
  private readonly contents = new Map<string, Uint8Array>();

  /** @param folder holds a folder per node */
  constructor(private readonly folder: string) {}

  /** A node of fakes that follows the log; each call has a state of its own. */
  async serve(
    name: string,
    parts: Parts,
    variables: Readonly<Record<string, string>>,
  ): Promise<Serving> {
    const environment = Object.assign(
      {
        TESSERA_NODE_NAME: name,
        TESSERA_CATALOGUE_CHANGES_PATH: join(this.folder, name, 'changes'),
        TESSERA_ADAPTERS_PATH: '',
        TESSERA_WEIGHTS_PATH: '',
      },
      variables,
    );
    const { config } = loadConfig({ environment });
    const log = createLog('silent');
    const opened = { log: new MemoryLog(this.state), store: new MemoryEntryStore(this.contents) };
    const { runtime } = parts;
    const inspection = await openInspection(config, log);
    const eraseRecalls = inspection && ((userId: string) => inspection.store.eraseUser(userId));
    const load = async () => runtime;
    const pending = await PendingErasures.open(join(this.folder, name, 'erasures'));
    const nodeParts = { config, opened, pending, eraseRecalls, log };
    const { clusterNode } = await RetrievalNode.join(nodeParts, load);
    return serve(
      Object.assign({ config, log, inspection, serviceVersion: '1', clusterNode }, parts),
    );
  }
}
