import { TesseraError } from '@tessera/errors';

/**
 * The states of a node in a cluster:
 *
 * | state | meaning | requests |
 * |---|---|---|
 * | away | waits for the log, or for whoever begins it | none |
 * | fetching | takes the state of a snapshot: all of it, then moves it | none |
 * | catching up | applies the entries that there are | none |
 * | serving | follows the log, others wait for it | all |
 * | stopped | the log is not the one that it has followed | those that change nothing |
 * | unfit | its own state is not what the log says | none, until it has begun anew |
 * | closed | has left | none |
 */
export type NodeState =
  | 'away'
  | 'fetching'
  | 'catching up'
  | 'serving'
  | 'stopped'
  | 'unfit'
  | 'closed';

const NEXT: Readonly<Record<NodeState, readonly NodeState[]>> = {
  away: ['fetching', 'catching up', 'stopped', 'closed'],
  fetching: ['away', 'catching up', 'closed'],
  'catching up': ['fetching', 'serving', 'stopped', 'unfit', 'closed'],
  serving: ['stopped', 'unfit', 'closed'],
  stopped: ['closed'],
  unfit: ['closed'],
  closed: [],
};

/** Faults of a node's own state: with the one of a snapshot it is well again. */
const OWN: ReadonlySet<string> = new Set(['LOG_TRIMMED', 'STATE_DIFFERENT']);

/** The state of a node. Listeners hear of a fault whenever it comes, also before they listened. */
export class Life {
  private current: NodeState = 'away';
  private ended: TesseraError | undefined;
  private readonly failing = new AbortController();
  private readonly listeners: ((fault: TesseraError) => void)[] = [];

  get state(): NodeState {
    return this.current;
  }

  /** Why it is stopped or unfit. */
  get fault(): TesseraError | undefined {
    return this.ended;
  }

  /** @throws TesseraError the fault that came before, or INTERNAL for a step that there is not */
  to(state: Exclude<NodeState, 'stopped' | 'unfit'>): void {
    if (state === this.current) return;
    if (!NEXT[this.current].includes(state)) {
      this.checkFollowing();
      const message = `node: expected a step from ${this.current}, got one to ${state}`;
      throw new TesseraError('INTERNAL', message);
    }
    this.current = state;
  }

  /** A lasting fault; the first one counts. */
  fail(fault: TesseraError): void {
    const state = OWN.has(fault.code) ? 'unfit' : 'stopped';
    if (!NEXT[this.current].includes(state)) return;
    this.current = state;
    this.ended = fault;
    this.failing.abort(fault);
    for (const tell of this.listeners) tell(fault);
  }

  /** Aborted with the fault, for calls that wait. */
  get signal(): AbortSignal {
    return this.failing.signal;
  }

  onFault(tell: (fault: TesseraError) => void): void {
    this.listeners.push(tell);
    if (this.ended !== undefined) tell(this.ended);
  }

  /** @throws TesseraError the fault */
  checkFollowing(): void {
    if (this.ended !== undefined) throw this.ended;
  }
}
