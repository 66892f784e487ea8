import { join } from 'node:path';
import { type Config, repositoryRoot } from '@tessera/config';
import type { InspectedRecalls, InspectionStore } from '@tessera/inspection';
import type { Readiness } from '@tessera/lifecycle';
import type { RecallRuntime } from '@tessera/recall';
import type { Log } from '@tessera/telemetry';
import {
  ClosedAccess,
  type ConsoleParts,
  isLoopback,
  LoopbackAccess,
} from '../../console/src/index.js';
import type { KvFollower } from '../../feature/src/index.js';
import { parseJsonRecall } from '../../retrieval/src/index.js';

/** Where the build puts the pages. */
export const PAGES_FOLDER = join(repositoryRoot, 'build', 'console');

export interface ConsoleNeeds {
  readonly config: Config;
  readonly runtime: RecallRuntime;
  readonly recalls: InspectedRecalls;
  readonly follower: Pick<KvFollower, 'erase'>;
  readonly store: InspectionStore | undefined;
  readonly readiness: Readiness;
  readonly serviceVersion: string;
  readonly log: Log;
}

/** Tokens are not taken by the pages yet: where they are asked for, the console is closed. */
function accessOf({ http, access }: Config) {
  const isOpen = isLoopback(http.host) && access.tokensPath === '';
  return isOpen ? new LoopbackAccess() : new ClosedAccess();
}

/** What the console works with; undefined where it is not served. */
export function consoleParts(needs: ConsoleNeeds): ConsoleParts | undefined {
  const { config, runtime, recalls, follower, store, readiness, serviceVersion, log } = needs;
  const { behaviourLog } = runtime;
  const { defaultDeadlineMs } = config.recall;
  if (config.console.pages === 'off') return undefined;
  return {
    runtime,
    recalls,
    store,
    eraseUser:
      behaviourLog &&
      (async (userId) => {
        const known = await behaviourLog.erase(userId, Date.now());
        await follower.erase(userId);
        return known;
      }),
    parseRecall: parseJsonRecall,
    readiness,
    access: accessOf(config),
    limits: { defaultDeadlineMs, ...config.console },
    serviceVersion,
    log,
    nowMs: Date.now,
  };
}
