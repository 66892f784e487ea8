export type ReadinessState = 'starting' | 'ready' | 'draining';

/** Whether this process takes requests; whoever answers a health check listens. */
export class Readiness {
  private current: ReadinessState = 'starting';
  private readonly listeners: ((state: ReadinessState) => void)[] = [];

  get state(): ReadinessState {
    return this.current;
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

  onChange(listener: (state: ReadinessState) => void): void {
    this.listeners.push(listener);
  }
}
