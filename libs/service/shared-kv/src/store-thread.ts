import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { TesseraError } from '@tessera/errors';
import type { StoreMetrics, StoreOrder, StoreReport, StoreThreadData } from './store-messages.js';

const PROGRAM = join('dist', 'libs', 'service', 'shared-kv', 'src', 'worker.js');

/** The compiled program lies some levels above this file: source, dist/ and its bundles alike. */
function findProgram(): URL {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const candidate = join(folder, PROGRAM);
    if (existsSync(candidate)) return pathToFileURL(candidate);
    const parent = dirname(folder);
    if (parent === folder) {
      throw new TesseraError('INTERNAL', `no ${PROGRAM} above this file: run npm run build`);
    }
    folder = parent;
  }
}

/** A store on a thread of its own. It keeps the process alive until it is closed. */
export class StoreThread {
  private readonly worker: Worker;
  private readonly ended: Promise<void>;
  private newest: StoreMetrics | undefined;
  private fault: TesseraError | undefined;

  /** @param onReport called once a second, and where the breaker changes */
  constructor(
    data: StoreThreadData,
    private readonly onReport: (metrics: StoreMetrics) => void = () => undefined,
  ) {
    this.worker = new Worker(findProgram(), { workerData: data, name: 'shared kv' });
    this.worker.on('message', ({ metrics }: StoreReport) => {
      this.newest = metrics;
      this.onReport(metrics);
    });
    this.worker.on('error', (error) => {
      this.fault ??= TesseraError.from(error);
    });
    this.ended = new Promise((resolve) => this.worker.on('exit', () => resolve()));
  }

  /** Metrics as the thread reported them last. */
  get metrics(): StoreMetrics | undefined {
    return this.newest;
  }

  /** Why the thread ended without being asked to: calls of its link end no more. */
  get failure(): TesseraError | undefined {
    return this.fault;
  }

  /** To be called behind the engine's own erasure: it has given up writes of those erased. */
  setErasedUntil(offset: number): void {
    this.order({ erasedUntil: offset });
  }

  /** Ends the calls that run, and the thread. */
  async close(): Promise<void> {
    this.order('close');
    await this.ended;
  }

  private order(order: StoreOrder): void {
    this.worker.postMessage(order);
  }
}
