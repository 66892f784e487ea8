import cluster, { type Worker } from 'node:cluster';
import { TesseraError } from '@tessera/errors';
import { withinMs } from '@tessera/turns';
import { AggregatorRegistry, type Registry } from 'prom-client';

/** Milliseconds that a scrape waits for the metrics of one process; later ones count as before. */
const WORKER_MS = 1000;
/** Milliseconds that a process waits for those of all. */
const ALL_MS = 3000;

type Values = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Messages about metrics between a worker and its leader; messages of other rooms pass too. */
type FromWorker =
  | { readonly kind: 'ask for all'; readonly number: number }
  | { readonly kind: 'own'; readonly number: number; readonly values: Values };
type FromLeader =
  | { readonly kind: 'ask for own'; readonly number: number }
  | { readonly kind: 'all'; readonly number: number; readonly text: string };

/** Gauges of what a process holds: those of several processes add up. */
const ADDS_UP = /^(process_(?!start_time)|nodejs_(heap|external|active)|tessera_held_)/;

/**
 * The metrics of a leader's workers. A process that does not answer in time counts with what it
 * told last, and counters of one that has ended go on counting: a sum that falls would look like a
 * restart of all.
 */
class LeaderMetrics {
  /** Key: a worker that serves; its newest answer. */
  private readonly newest = new Map<Worker, Values>();
  /** Counters of the workers that have ended, added up. */
  private ended: Promise<Values> = Promise.resolve([]);
  private round: Promise<string> | undefined;
  private rounds = 0;
  private answered: (worker: Worker) => void = () => undefined;

  /** Calls at once share one answer. */
  text(): Promise<string> {
    this.round ??= this.ask().finally(() => {
      this.round = undefined;
    });
    return this.round;
  }

  serves(worker: Worker): void {
    this.newest.set(worker, this.newest.get(worker) ?? []);
  }

  take(worker: Worker, values: Values, number: number): void {
    if (!this.newest.has(worker)) return;
    this.newest.set(worker, values);
    if (number === this.rounds) this.answered(worker);
  }

  end(worker: Worker): void {
    const counted = this.newest.get(worker)?.filter(({ type }) => String(type) !== 'gauge');
    if (counted === undefined) return;
    this.newest.delete(worker);
    this.ended = this.ended.then((ended) =>
      AggregatorRegistry.aggregate([ended, counted]).getMetricsAsJSON(),
    );
    this.answered(worker);
  }

  private async ask(): Promise<string> {
    this.rounds += 1;
    const asked = new Set([...this.newest.keys()].filter((worker) => worker.isConnected()));
    const all = new Promise<void>((resolve) => {
      this.answered = (worker) => {
        asked.delete(worker);
        if (asked.size === 0) resolve();
      };
    });
    for (const worker of asked) send(worker.process, { kind: 'ask for own', number: this.rounds });
    await withinMs(WORKER_MS, all).catch(() => undefined);
    const ended = await this.ended;
    return AggregatorRegistry.aggregate([...this.newest.values(), ended]).metrics();
  }
}

/** Metrics that cannot be read are no answer: the asker goes on at its limit. */
const unanswered = () => undefined;

/** A process that is just ending takes no message, and is not missed. */
function send(to: Pick<NodeJS.Process, 'send'>, message: FromWorker | FromLeader): void {
  to.send?.(message, undefined, undefined, () => undefined);
}

/** In the process that leads workers: answers their questions. */
export function leadMetrics(): void {
  const metrics = new LeaderMetrics();
  cluster.on('listening', (worker) => metrics.serves(worker));
  cluster.on('exit', (worker) => metrics.end(worker));
  cluster.on('message', (worker: Worker, message: FromWorker) => {
    if (message.kind === 'own') metrics.take(worker, message.values, message.number);
    if (message.kind !== 'ask for all') return;
    const answer = (text: string) =>
      send(worker.process, { kind: 'all', number: message.number, text });
    metrics.text().then(answer, unanswered);
  });
}

/**
 * In a worker: the metrics of all workers of its leader. Counters, histograms and what a process
 * holds add up; other gauges are states, of which the highest is told.
 */
export class WorkerMetrics {
  private readonly waiting = new Map<number, (text: string) => void>();
  private asked = 0;

  constructor(registry: Registry) {
    for (const metric of registry.getMetricsAsArray()) {
      const isState = String(metric.type) === 'gauge' && !ADDS_UP.test(metric.name);
      Object.assign(metric, { aggregator: isState ? 'max' : 'sum' });
    }
    process.on('message', (message: FromLeader) => {
      if (message.kind === 'all') this.waiting.get(message.number)?.(message.text);
      if (message.kind !== 'ask for own') return;
      const { number } = message;
      const answer = (values: Values) => send(process, { kind: 'own', number, values });
      registry.getMetricsAsJSON().then(answer, unanswered);
    });
  }

  /** @throws TesseraError NODE_UNAVAILABLE where the leader does not answer */
  async text(): Promise<string> {
    this.asked += 1;
    const number = this.asked;
    const all = new Promise<string>((resolve) => this.waiting.set(number, resolve));
    send(process, { kind: 'ask for all', number });
    try {
      return await withinMs(ALL_MS, all);
    } catch {
      throw new TesseraError('NODE_UNAVAILABLE', 'the leading process does not answer');
    } finally {
      this.waiting.delete(number);
    }
  }
}
