import { TesseraError } from '@tessera/errors';

/** Addresses whose failures are kept; of more, those that failed the longest ago are forgotten. */
const ADDRESSES_KEPT = 10_000;

export interface AttemptSettings {
  /** Maximum failures of one address within `windowMs`. */
  readonly failuresMax: number;
  readonly windowMs: number;
}

interface Failures {
  count: number;
  /** When the first of them is forgotten, and all with it. */
  endsMs: number;
}

/** Attempts to log in, counted by address: whoever guesses has to wait. */
export class AttemptLimit {
  private readonly failures = new Map<string, Failures>();

  constructor(
    private readonly settings: AttemptSettings,
    /** Milliseconds since 1970. */
    private readonly nowMs: () => number,
  ) {}

  /**
   * Does it, and counts it where it rejects for good. It counts from its beginning on, so that many
   * at once are no way around the limit. Rejects with TOO_MANY_ATTEMPTS.
   */
  async attempt<Result>(address: string, act: () => Promise<Result>): Promise<Result> {
    const failures = this.of(networkOf(address));
    const { failuresMax } = this.settings;
    if (failures.count >= failuresMax) {
      const retryAfterMs = failures.endsMs - this.nowMs();
      const message =
        `login: expected at most ${failuresMax} attempts that fail from one address, got more; ` +
        `the next one may succeed in ${Math.ceil(retryAfterMs / 1000)} s`;
      throw new TesseraError('TOO_MANY_ATTEMPTS', message, { field: 'login', retryAfterMs });
    }
    failures.count += 1;
    try {
      const result = await act();
      failures.count -= 1;
      return result;
    } catch (thrown) {
      if (TesseraError.from(thrown).retryable) failures.count -= 1;
      throw thrown;
    }
  }

  private of(network: string): Failures {
    const nowMs = this.nowMs();
    const known = this.failures.get(network);
    if (known !== undefined && known.endsMs > nowMs) return known;
    const fresh = { count: 0, endsMs: nowMs + this.settings.windowMs };
    this.failures.delete(network);
    this.failures.set(network, fresh);
    const [oldest] = this.failures.keys();
    if (this.failures.size > ADDRESSES_KEPT && oldest !== undefined) this.failures.delete(oldest);
    return fresh;
  }
}

/** Network that attempts count for: the half of an IPv6 that a customer gets; else the address. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::')) return address;
  const [head = ''] = address.split('::');
  return head.split(':').slice(0, 4).join(':');
}
