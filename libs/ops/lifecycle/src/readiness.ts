import { Conditions } from './conditions.js';

export type ReadinessState = 'starting' | 'ready' | 'draining' | 'failed';

/** How often a change of a condition is looked for on behalf of the listeners. */
const CONDITIONS_POLL_MS = 1000;

/**
 * True if this process takes requests: its own state, and none of the conditions that it needs is
 * down. Health checks read it or listen to it.
 */
export class Readiness {
  private current: ReadinessState = 'starting';
  private why = '';
  private wasReady = false;
  private readonly listeners: ((state: ReadinessState) => void)[] = [];

  constructor(readonly conditions: Conditions = new Conditions()) {}

  get state(): ReadinessState {
    return this.current;
  }

  /** Why the process is not ready though it has started; '' where it is. */
  get reason(): string {
    if (this.why !== '') return this.why;
    return this.conditions
      .blocking()
      .map(({ name, reason }) => `${name}: ${reason}`)
      .join('; ');
  }

  /** The state, and why where there is a reason. */
  get description(): string {
    return this.current === 'failed' ? `failed: ${this.why}` : this.current;
  }

  get ready(): boolean {
    return this.current === 'ready' && this.conditions.blocking().length === 0;
  }

  /**
   * A process that is no longer ready still takes calls: until the engine is drained, since
   * balancers learn late, and while a dependency is down that not every request needs.
   */
  get takesCalls(): boolean {
    return this.current === 'ready' || this.current === 'draining';
  }

  set(state: ReadinessState): void {
    this.current = state;
    this.tellListeners();
  }

  /** Tells the listeners when a condition has changed whether the process is ready. Never keeps the
   * process alive; the returned function ends it. */
  watchConditions(): () => void {
    const timer = setInterval(() => {
      if (this.ready !== this.wasReady) this.tellListeners();
    }, CONDITIONS_POLL_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  /** Ready, unless the end has begun. */
  started(): void {
    if (this.current === 'starting') this.set('ready');
  }

  /** Nothing can be served any more, until the process is started anew. */
  fail(reason: string): void {
    if (this.why === '') this.why = reason;
    if (this.current !== 'draining') this.set('failed');
  }

  onChange(listener: (state: ReadinessState) => void): void {
    this.listeners.push(listener);
  }

  private tellListeners(): void {
    this.wasReady = this.ready;
    for (const listener of this.listeners) listener(this.current);
  }
}
