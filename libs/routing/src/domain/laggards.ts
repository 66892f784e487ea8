/** How far a node is, as it says itself. */
export interface Progress {
  readonly name: string;
  readonly weight: number;
  /** Number of the last change of the catalogue that its answers know. */
  readonly sequence: number;
  /** Digest of the versions of adapters that its answers are made with. */
  readonly adapters: string;
}

export interface Lag {
  readonly kind: 'changes' | 'adapters';
  readonly expected: string;
  readonly got: string;
}

/** Changes pass from node to node, and topics bring them to each in its time. */
const GRACE_MS = 3000;

/** The greatest sequence that more than half of the weight has reached; 0 without nodes. */
export function decidedSequence(all: readonly Progress[]): number {
  const half = all.reduce((sum, { weight }) => sum + weight, 0) / 2;
  let reached = 0;
  for (const { sequence, weight } of [...all].sort((a, b) => b.sequence - a.sequence)) {
    reached += weight;
    if (reached > half) return sequence;
  }
  return 0;
}

/** The adapters that more than half of the weight serves; undefined: no more than half does. */
export function decidedAdapters(all: readonly Progress[]): string | undefined {
  const half = all.reduce((sum, { weight }) => sum + weight, 0) / 2;
  const weights = new Map<string, number>();
  for (const { adapters, weight } of all) {
    weights.set(adapters, (weights.get(adapters) ?? 0) + weight);
  }
  return [...weights].find(([, weight]) => weight > half)?.[0];
}

/**
 * Nodes that are behind what the cluster has decided: without a change of the catalogue that more
 * than half of the weight has, or with other adapters than more than half serves. Such a node gets
 * no requests once it has been behind for three seconds, and gets them again when it has caught up.
 * More than half is never behind, so that somebody always serves. Pure but for the time given.
 */
export class Laggards {
  private readonly sinceMs = new Map<string, number>();

  /** @returns those that get no requests now, and why */
  note(all: readonly Progress[], nowMs: number): ReadonlyMap<string, Lag> {
    const sequence = decidedSequence(all);
    const adapters = decidedAdapters(all);
    const behind = new Map<string, Lag>();
    const names = new Set(all.map(({ name }) => name));
    for (const name of this.sinceMs.keys()) if (!names.has(name)) this.sinceMs.delete(name);
    for (const one of all) {
      const lag = lagOf(one, sequence, adapters);
      if (lag === undefined) {
        this.sinceMs.delete(one.name);
        continue;
      }
      const since = this.sinceMs.get(one.name) ?? nowMs;
      this.sinceMs.set(one.name, since);
      if (nowMs - since >= GRACE_MS) behind.set(one.name, lag);
    }
    return behind;
  }
}

function lagOf(one: Progress, sequence: number, adapters: string | undefined): Lag | undefined {
  if (one.sequence < sequence) {
    const [expected, got] = [String(sequence), String(one.sequence)];
    return { kind: 'changes', expected, got };
  }
  if (adapters === undefined || one.adapters === adapters) return undefined;
  return { kind: 'adapters', expected: adapters, got: one.adapters };
}
