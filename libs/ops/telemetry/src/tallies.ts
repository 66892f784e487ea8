/**
 * Metrics of what happens for every call: plain numbers that are read when somebody scrapes.
 * prom-client checks and hashes the labels of each observation, of which a recall makes twenty.
 */

import { Counter, type Metric, type Registry } from 'prom-client';

interface Named {
  readonly name: string;
  readonly meaning: string;
}

/** Counts by one label that are kept elsewhere: each scrape copies them. */
export function copyCounts(
  registry: Registry,
  { name, meaning }: Named,
  label: string,
  read: () => Readonly<Record<string, number>>,
): void {
  new Counter({
    name,
    help: meaning,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, count] of Object.entries(read())) this.inc({ [label]: value }, count);
    },
  });
}

/** Counts by two labels. */
export class TalliedCounter {
  private readonly counts = new Map<string, Map<string, number>>();

  constructor(
    registry: Registry,
    { name, meaning: help }: Named,
    labels: readonly [string, string],
  ) {
    const { counts } = this;
    const [outer, inner] = labels;
    new Counter({
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      collect() {
        this.reset();
        for (const [first, seconds] of counts) {
          for (const [second, count] of seconds) {
            this.inc({ [outer]: first, [inner]: second }, count);
          }
        }
      },
    });
  }

  count(first: string, second: string): void {
    let seconds = this.counts.get(first);
    if (seconds === undefined) {
      seconds = new Map();
      this.counts.set(first, seconds);
    }
    seconds.set(second, (seconds.get(second) ?? 0) + 1);
  }
}

interface Tally {
  /** Of observations in each bucket alone, the last without a bound. */
  readonly buckets: Float64Array;
  sum: number;
  count: number;
}

/** A histogram by one label. */
export class TalliedHistogram {
  private readonly tallies = new Map<string, Tally>();

  constructor(
    registry: Registry,
    private readonly named: Named,
    private readonly label: string,
    private readonly bounds: readonly number[],
    /** The label's value, by the value that is observed. */
    private readonly shown: (value: string) => string = (value) => value,
  ) {
    const { name, meaning: help } = named;
    const metric = { name, help, type: 'histogram', aggregator: 'sum', get: () => this.read() };
    registry.registerMetric(metric as unknown as Metric);
  }

  observe(value: string, observed: number): void {
    let tally = this.tallies.get(value);
    if (tally === undefined) {
      tally = { buckets: new Float64Array(this.bounds.length + 1), sum: 0, count: 0 };
      this.tallies.set(value, tally);
    }
    let bucket = 0;
    while (bucket < this.bounds.length && observed > (this.bounds[bucket] as number)) bucket++;
    tally.buckets[bucket] = (tally.buckets[bucket] as number) + 1;
    tally.sum += observed;
    tally.count += 1;
  }

  /** As prom-client gives its own. */
  private async read() {
    const { name, meaning: help } = this.named;
    const values = [...this.tallies].flatMap(([value, tally]) => this.valuesOf(value, tally));
    return { name, help, type: 'histogram', aggregator: 'sum', values };
  }

  private valuesOf(value: string, { buckets, sum, count }: Tally) {
    const { name } = this.named;
    const labels = { [this.label]: this.shown(value) };
    let below = 0;
    const cumulative = this.bounds.map((le, i) => {
      below += buckets[i] as number;
      return { labels: { le, ...labels }, value: below, metricName: `${name}_bucket` };
    });
    return [
      ...cumulative,
      { labels: { le: '+Inf', ...labels }, value: count, metricName: `${name}_bucket` },
      { labels, value: sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ];
  }
}

/** The same for a count without labels. */
export function copyCount(registry: Registry, { name, meaning }: Named, read: () => number): void {
  new Counter({
    name,
    help: meaning,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}
