/** A service whose engine is a fixed delay, in a process of its own; its parent tells it when. */

import { join } from 'node:path';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { openBehaviours, parseRetention } from '@tessera/behaviour';
import { repositoryRoot } from '@tessera/config';
import { composedRuntime } from './composed-runtime.js';
import { DelayEngine } from './delay-engine.js';
import { serveHere } from './serve-here.js';
import type { ServiceLoad, ServiceOptions, ServiceSaid } from './service-child.js';

const MODEL = join(repositoryRoot, 'models', 'demo');
const RESOLUTION_MS = 1;
const NANOSECONDS_PER_MS = 1e6;
const P99 = 99;

const say = (said: ServiceSaid) => process.send?.(said);

/** The work of the process since it was last asked. */
class LoadWatch {
  private readonly histogram: IntervalHistogram = monitorEventLoopDelay({
    resolution: RESOLUTION_MS,
  });
  private cpu = process.cpuUsage();

  constructor() {
    this.histogram.enable();
  }

  take(): ServiceLoad {
    const { user, system } = process.cpuUsage(this.cpu);
    // The histogram holds times between two looks, which are RESOLUTION_MS apart in an idle loop.
    const loopDelayMs = this.histogram.percentile(P99) / NANOSECONDS_PER_MS - RESOLUTION_MS;
    this.cpu = process.cpuUsage();
    this.histogram.reset();
    return { cpuUs: user + system, loopDelayMs: Math.max(0, loopDelayMs) };
  }
}

const { broker, delayMs, store, path, redis } = JSON.parse(
  process.argv[2] ?? '{}',
) as ServiceOptions;
const opened = await openBehaviours(
  {
    store,
    path,
    redis,
    keyPrefix: 'bench:',
    retention: parseRetention('*=10000'),
    usersPath: join(MODEL, 'users.json'),
  },
  () => undefined,
);
await opened.takeOverUsers();
const runtime = await composedRuntime({
  modelPath: MODEL,
  engine: new DelayEngine(delayMs),
  behaviours: opened.store,
  ...(opened.log && { behaviourLog: opened.log }),
});
const { httpUrl, grpcAddress, drain } = await serveHere(runtime, broker);
const watch = new LoadWatch();
process.on('message', () => say({ load: watch.take() }));
// The parent is gone or wants it to end.
process.on('disconnect', () => {
  void drain.run().then(() => process.exit());
});
say({ serving: { httpUrl, grpcAddress, userIds: await runtime.facts.sampleUserIds(200) } });
