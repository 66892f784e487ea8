/**
 * Dependencies of this process (brokers, databases) and the stores that it writes to. Each is read
 * when somebody asks: the owner of a store keeps its state, nothing is pushed.
 */

export type ConditionState = 'ok' | 'degraded' | 'down';

export interface ConditionReading {
  /** `degraded`: reads or a part still work. `down`: nothing of it works. */
  readonly state: ConditionState;
  /** The fault and, where there is one, the remedy; '' where the state is `ok`. */
  readonly reason: string;
}

export interface ConditionSource {
  /** Unique in the process, as in `kafka`, `behaviours`, `catalogue-changes`. */
  readonly name: string;
  readonly kind: 'dependency' | 'store';
  /** The process is not ready while a needed one is down. */
  readonly isNeeded: boolean;
  /** Cheap, without I/O; must not throw. */
  readonly read: () => ConditionReading;
}

export interface Condition extends ConditionReading {
  readonly name: string;
  readonly kind: ConditionSource['kind'];
  readonly isNeeded: boolean;
}

export class Conditions {
  private readonly sources = new Map<string, ConditionSource>();
  private readonly needed: ConditionSource[] = [];

  /** @throws Error where the name is taken: a fault of the composition */
  add(source: ConditionSource): void {
    if (this.sources.has(source.name)) throw new Error(`condition '${source.name}' exists already`);
    this.sources.set(source.name, source);
    if (source.isNeeded) this.needed.push(source);
  }

  /** In the order in which they were added. */
  all(): Condition[] {
    return [...this.sources.values()].map(conditionOf);
  }

  /** The needed ones that are down. Asked for each call: reads no other. */
  blocking(): Condition[] {
    return this.needed.map(conditionOf).filter(({ state }) => state === 'down');
  }
}

function conditionOf({ name, kind, isNeeded, read }: ConditionSource): Condition {
  return { name, kind, isNeeded, ...read() };
}
