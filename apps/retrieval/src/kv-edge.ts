import type { ChangeAudits } from '@tessera/access';
import type { Call } from '@tessera/call';
import type { KvChain, KvIntegrity } from '@tessera/engine';
import { type Cancellation, isBlank, TesseraError } from '@tessera/errors';
import {
  type AppendAnswer,
  provenanceOf,
  type RecallFacts,
  type RecallServing,
  type UserSource,
} from '@tessera/recall';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import type { EdgeParts, Parsed } from './recall-edge.js';

/** Removal of data kept of users. */
export interface KvChanges {
  /** Keys, values and prompts of a user; with `withRecords` the recorded recalls as well. */
  dropUser(userId: string, withRecords: boolean, budgetMs: number): Promise<void>;
  /** False: the pool knows none of the name. */
  dropVersion(version: string): Promise<boolean>;
}

export interface KvEdgeParts extends Pick<EdgeParts, 'readiness'> {
  readonly serving: Pick<RecallServing, 'append'>;
  readonly facts: Pick<RecallFacts, 'kvPool'>;
  readonly pool: KvChanges;
  readonly changes: Pick<ChangeAudits, 'noted'>;
  /** The pool holds this user, or nodes that answer do, whose shared store this one fills. */
  readonly mayHold: (userId: string) => boolean;
}

/** Operations on the user KV pool, for both edges. */
export class KvEdge {
  constructor(private readonly parts: KvEdgeParts) {}

  inspect(userId: string): readonly KvChain[] {
    return this.pool().inspect(named('userId', userId));
  }

  async dropUser(
    { request, deadlineMs }: Parsed<string>,
    call: Call,
    { withRecords = false } = {},
  ): Promise<void> {
    call.limit(deadlineMs);
    const userId = named('userId', request);
    this.requireReady();
    const { changes, pool } = this.parts;
    const { edge, caller } = call;
    const change = { action: 'drop-user', actor: caller.name, edge, name: userId } as const;
    const budgetMs = call.leftUs / MICROSECONDS_PER_MILLISECOND;
    await changes.noted(change, () => pool.dropUser(userId, withRecords, budgetMs));
  }

  dropVersion(version: string, { edge, caller }: Call): Promise<void> {
    const name = named('version', version);
    const { changes, pool } = this.parts;
    return changes.noted({ action: 'drop-version', actor: caller.name, edge, name }, async () => {
      this.requireReady();
      if (await pool.dropVersion(name)) return;
      const message = `version: expected one that the pool knows, got ${version.slice(0, 80)}`;
      throw new TesseraError('REQUEST_INVALID', message, { field: 'version' });
    });
  }

  /** Ends with its caller. */
  checkIntegrity(signal: Cancellation): Promise<KvIntegrity> {
    return this.pool().checkIntegrity(signal);
  }

  /** `onlyHeld`: nothing is computed for a user of whom mayHold() is false. */
  async append(
    { request, deadlineMs }: Parsed<UserSource>,
    call: Call,
    onlyHeld = false,
  ): Promise<AppendAnswer> {
    this.requireReady();
    if (onlyHeld && !this.parts.mayHold(request.userId ?? '')) {
      return { ...NOTHING_KEPT, requestId: request.requestId };
    }
    call.limit(deadlineMs);
    return this.parts.serving.append(request, { signal: call.signal, budgetUs: call.leftUs });
  }

  private pool() {
    this.requireReady();
    return this.parts.facts.kvPool;
  }

  private requireReady(): void {
    const { readiness } = this.parts;
    if (readiness.takesCalls) return;
    throw new TesseraError('ENGINE_UNAVAILABLE', `the service is ${readiness.description}`);
  }
}

const NOTHING_KEPT: Omit<AppendAnswer, 'requestId'> = {
  historyItems: 0,
  trimmedItems: 0,
  skippedItems: 0,
  keptTokens: 0,
  kv: provenanceOf(0, undefined),
};

function named(field: string, value: string): string {
  if (!isBlank(value)) return value;
  throw new TesseraError('REQUEST_INVALID', `${field}: expected text, got nothing`, { field });
}
