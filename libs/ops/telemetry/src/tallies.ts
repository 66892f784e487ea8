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

/** All combinations of labels' values. */
export function combined(...values: (readonly string[])[]): string[][] {
  return values.reduce<string[][]>(
    (all, more) => all.flatMap((before) => more.map((value) => [...before, value])),
    [[]],
  );
}

/**
 * Counts by labels. Those whose values are known begin at 0: a series that begins with its first
 * event hides that event from every rate.
 */
export class TalliedCounter {
  private readonly counts = new Map<
    string,
    { readonly values: readonly string[]; count: number }
  >();

  /** @param start values of the labels that are counted from the start */
  constructor(
    registry: Registry,
    { name, meaning: help }: Named,
    labels: readonly string[],
    start: readonly (readonly string[])[],
  ) {
    const { counts } = this;
    for (const values of start) this.add(0, ...values);
    new Counter({
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      collect() {
        this.reset();
        for (const { values, count } of counts.values()) {
          this.inc(Object.fromEntries(labels.map((label, at) => [label, values[at] ?? ''])), count);
        }
      },
    });
  }

  count(...values: readonly string[]): void {
    this.add(1, ...values);
  }

  add(by: number, ...values: readonly string[]): void {
    const key = values.join('\n');
    const known = this.counts.get(key);
    if (known === undefined) this.counts.set(key, { values, count: by });
    else known.count += by;
  }
}

interface Tally {
  /** Observations in each bucket alone, the last without a bound. */
  readonly buckets: Float64Array;
  readonly values: readonly string[];
  sum: number;
  count: number;
}

/** A histogram by labels. */
export class TalliedHistogram {
  private readonly tallies = new Map<string, Tally>();

  constructor(
    registry: Registry,
    private readonly named: Named,
    private readonly labels: readonly string[],
    private readonly bounds: readonly number[],
  ) {
    const { name, meaning: help } = named;
    const metric = { name, help, type: 'histogram', aggregator: 'sum', get: () => this.read() };
    registry.registerMetric(metric as unknown as Metric);
  }

  observe(observed: number, ...values: readonly string[]): void {
    const key = values.join('\n');
    let tally = this.tallies.get(key);
    if (tally === undefined) {
      tally = { buckets: new Float64Array(this.bounds.length + 1), values, sum: 0, count: 0 };
      this.tallies.set(key, tally);
    }
    let bucket = 0;
    while (bucket < this.bounds.length && observed > (this.bounds[bucket] as number)) bucket++;
    tally.buckets[bucket] = (tally.buckets[bucket] as number) + 1;
    tally.sum += observed;
    tally.count += 1;
  }

  /** Samples in the form of prom-client. */
  private async read() {
    const { name, meaning: help } = this.named;
    const values = [...this.tallies.values()].flatMap((tally) => this.valuesOf(tally));
    return { name, help, type: 'histogram', aggregator: 'sum', values };
  }

  private valuesOf({ buckets, values, sum, count }: Tally) {
    const { name } = this.named;
    const labels = Object.fromEntries(this.labels.map((label, at) => [label, values[at] ?? '']));
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

/** Copies a count without labels. */
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
