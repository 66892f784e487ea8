import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';

/** A worker's question for the metrics of all workers, and the answer; they cross as messages. */
interface Asked {
  readonly asks: 'metrics';
  readonly number: number;
}
interface Answered {
  readonly answers: 'metrics';
  readonly number: number;
  /** '' where a worker did not answer in time. */
  readonly text: string;
}

interface Shown {
  readonly name: string;
  readonly type: string;
}

/** Gauges of what a process holds: those of several processes add up. */
const ADDS_UP = /^(process_|nodejs_(heap|external|active)|tessera_held_)/;

/** In the process that leads workers: answers their questions. */
export function leadMetrics(): void {
  const all = new AggregatorRegistry();
  cluster.on('message', (worker: Worker, message: Partial<Asked>) => {
    if (message.asks !== 'metrics') return;
    const answer = (text: string) =>
      worker.send({ answers: 'metrics', number: message.number, text });
    all.clusterMetrics().then(answer, () => answer(''));
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
    for (const metric of registry.getMetricsAsArray() as unknown as readonly Shown[]) {
      const isState = metric.type === 'gauge' && !ADDS_UP.test(metric.name);
      Object.assign(metric, { aggregator: isState ? 'max' : 'sum' });
    }
    AggregatorRegistry.setRegistries([registry]);
    // Its constructor makes the worker answer the leader's questions.
    void new AggregatorRegistry();
    process.on('message', (message: Partial<Answered>) => {
      if (message.answers !== 'metrics') return;
      this.waiting.get(message.number as number)?.(message.text as string);
      this.waiting.delete(message.number as number);
    });
  }

  text(): Promise<string> {
    this.asked += 1;
    const number = this.asked;
    return new Promise((resolve) => {
      this.waiting.set(number, resolve);
      process.send?.({ asks: 'metrics', number } satisfies Asked);
    });
  }
}
