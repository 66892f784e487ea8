import { createHash, randomBytes } from 'node:crypto';

const ID_BYTES = 32;

export interface SessionLimits {
  /** At once; one more ends the one that was used the longest ago. */
  readonly countMax: number;
  /** Milliseconds from its beginning on, however much it is used. */
  readonly lifetimeMs: number;
}

interface Session<Holder> {
  readonly holder: Holder;
  readonly endsMs: number;
}

const keyOf = (id: string) => createHash('sha256').update(id).digest('base64url');

/**
 * Visitors who logged in, until the session ends, the process ends or they leave. The ID is all
 * that somebody has to show, so only its hash is kept.
 */
export class Sessions<Holder> {
  /** Sessions by hash of the ID; the last used is the last. */
  private readonly held = new Map<string, Session<Holder>>();

  constructor(
    private readonly limits: SessionLimits,
    /** Milliseconds since 1970. */
    private readonly nowMs: () => number,
  ) {}

  get count(): number {
    return this.held.size;
  }

  /** Begins one and returns its ID. */
  begin(holder: Holder): string {
    const id = randomBytes(ID_BYTES).toString('base64url');
    const nowMs = this.nowMs();
    for (const [key, { endsMs }] of this.held) if (endsMs <= nowMs) this.held.delete(key);
    const [oldest] = this.held.keys();
    if (this.held.size >= this.limits.countMax && oldest !== undefined) this.held.delete(oldest);
    this.held.set(keyOf(id), { holder, endsMs: nowMs + this.limits.lifetimeMs });
    return id;
  }

  find(id: string): Holder | undefined {
    const key = keyOf(id);
    const session = this.held.get(key);
    if (session === undefined) return undefined;
    this.held.delete(key);
    if (session.endsMs <= this.nowMs()) return undefined;
    this.held.set(key, session);
    return session.holder;
  }

  /** The holder of the session; undefined: there was none. */
  end(id: string): Holder | undefined {
    const holder = this.find(id);
    this.held.delete(keyOf(id));
    return holder;
  }
}
