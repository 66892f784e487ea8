export type ReadinessState = 'starting' | 'ready' | 'draining' | 'failed';

/** Whether this process takes requests; whoever answers a health check listens. */
export class Readiness {
  private current: ReadinessState = 'starting';
  private why = '';
  private readonly listeners: ((state: ReadinessState) => void)[] = [];

  get state(): ReadinessState {
    return this.current;
  }

  /** Why it has failed; '' where it has not. */
  get reason(): string {
    return this.why;
  }

  /** The state, and why where there is a reason. */
  get told(): string {
    return this.current === 'failed' ? `failed: ${this.why}` : this.current;
  }

  get ready(): boolean {
    return this.current === 'ready';
  }

  set(state: ReadinessState): void {
    this.current = state;
    for (const listener of this.listeners) listener(state);
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
}
