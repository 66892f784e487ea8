/** Metrics of adapters. */

import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import { Counter, Gauge, type Registry } from 'prom-client';

export const ADAPTER_METRICS = {
  adapterActions: {
    name: 'tessera_adapter_actions_total',
    meaning:
      'actions on adapter versions, by action (push, activate, rollback, pin, unpin, ' +
      'delete, lost, waits) and code (OK or a code of docs/operate/errors.md)',
  },
  adapterRecalls: {
    name: 'tessera_adapter_recalls_total',
    meaning: 'recalls by answering model (base, active, canary, named: chosen by the request)',
  },
  adapterBytes: {
    name: 'tessera_adapter_bytes',
    meaning: 'bytes of adapters, by place (arena, disk) and kind (used, capacity)',
  },
  adapterCanary: {
    name: 'tessera_adapter_canary',
    meaning:
      'answers of current canaries, by name and kind (canaryAnswers, activeAnswers, shadowed)',
  },
  adapterCanaryOverlap: {
    name: 'tessera_adapter_canary_overlap',
    meaning: 'mean share of common items in both answers to shadowed recalls, by name',
  },
  adapterReceived: {
    name: 'tessera_adapter_received_timestamp_seconds',
    meaning: 'Unix time at which the active version was pushed, by name',
  },
  adapterLearnedUntil: {
    name: 'tessera_adapter_learned_until_seconds',
    meaning:
      'Unix time of the newest behaviour that the active version was trained on, by name; ' +
      'absent where its trainer did not say',
  },
  adapterLease: {
    name: 'tessera_adapter_lease_until_seconds',
    meaning:
      "Unix time at which the lease of a trainer that follows the users ends, by adapter's name; " +
      'absent a day later',
  },
  warmedAgain: {
    name: 'tessera_weights_warmed_users_total',
    meaning:
      'frequent users whose keys and values were to be computed again behind an update of ' +
      'weights, by outcome (computed, failed, leftOut: time over)',
  },
} as const;

/** Counts as libs/service/adapter reports them. */
export interface AdapterCounts {
  readonly recalls: Readonly<Record<string, number>>;
  readonly arena: { readonly usedBytes: number; readonly maxBytes: number };
  readonly disk: { readonly usedBytes: number; readonly maxBytes: number };
  readonly canaries: readonly {
    readonly name: string;
    readonly canaryAnswers: number;
    readonly activeAnswers: number;
    readonly shadowed: number;
    readonly overlap: number;
  }[];
  /** Active versions. */
  readonly active: readonly {
    readonly name: string;
    readonly receivedMs: number;
    /** 0: not known. */
    readonly learnedUntilMs: number;
  }[];
  readonly leases: readonly { readonly name: string; readonly untilMs: number }[];
  readonly warmedAgain: Readonly<Record<string, number>>;
}

export function registerAdapterMetrics(registry: Registry, read: () => AdapterCounts): void {
  const registers = [registry];
  const counters = [
    [ADAPTER_METRICS.adapterRecalls, 'arm', () => read().recalls],
    [ADAPTER_METRICS.warmedAgain, 'outcome', () => read().warmedAgain],
  ] as const;
  for (const [{ name, meaning: help }, label, counts] of counters) {
    const labelNames = [label];
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const [of, count] of Object.entries(counts())) this.inc({ [label]: of }, count);
      },
    });
  }
  new Gauge({
    name: ADAPTER_METRICS.adapterBytes.name,
    help: ADAPTER_METRICS.adapterBytes.meaning,
    labelNames: ['place', 'kind'],
    registers,
    collect() {
      const { arena, disk } = read();
      for (const [place, { usedBytes, maxBytes }] of Object.entries({ arena, disk })) {
        this.set({ place, kind: 'used' }, usedBytes);
        this.set({ place, kind: 'capacity' }, maxBytes);
      }
    },
  });
  new Gauge({
    name: ADAPTER_METRICS.adapterCanary.name,
    help: ADAPTER_METRICS.adapterCanary.meaning,
    labelNames: ['name', 'what'],
    registers,
    collect() {
      this.reset();
      for (const { name, overlap: _, ...counts } of read().canaries) {
        for (const [what, count] of Object.entries(counts)) this.set({ name, what }, count);
      }
    },
  });
  new Gauge({
    name: ADAPTER_METRICS.adapterCanaryOverlap.name,
    help: ADAPTER_METRICS.adapterCanaryOverlap.meaning,
    labelNames: ['name'],
    registers,
    collect() {
      this.reset();
      for (const { name, overlap } of read().canaries) this.set({ name }, overlap);
    },
  });
  registerTimes(registry, read);
}

/** Times of names, of which each is absent where it is not known. */
function registerTimes(registry: Registry, read: () => AdapterCounts): void {
  const registers = [registry];
  const times = [
    [ADAPTER_METRICS.adapterReceived, () => read().active.map((one) => [one.name, one.receivedMs])],
    [
      ADAPTER_METRICS.adapterLearnedUntil,
      () => read().active.map((one) => [one.name, one.learnedUntilMs]),
    ],
    [ADAPTER_METRICS.adapterLease, () => read().leases.map((one) => [one.name, one.untilMs])],
  ] as const satisfies [object, () => (readonly [string, number])[]][];
  for (const [{ name, meaning: help }, all] of times) {
    const labelNames = ['name'];
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const [adapter, ms] of all()) {
          if (ms > 0) this.set({ name: adapter }, ms / MILLISECONDS_PER_SECOND);
        }
      },
    });
  }
}
