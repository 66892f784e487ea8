import type { ServedAdapter } from '@tessera/adapter';
import type { KvUse } from '@tessera/engine';
import type { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import type { Prompt } from '@tessera/prompt';
import type { CountedCaps } from './frequency-caps.js';
import type { ResolvedHistory } from './resolve-history.js';
import type { Stopwatch } from './stopwatch.js';

/** A prompt on its way to the engine. */
export interface Prepared {
  readonly userId: string | undefined;
  /** Of the erasures, before anything of the user was read. */
  readonly mark: number;
  readonly prompt: Prompt;
  /** Undefined where an earlier prompt is replayed. */
  readonly history: ResolvedHistory | undefined;
  /** Undefined where an earlier prompt is not replayed: they are yet to be counted. */
  readonly caps?: CountedCaps;
  readonly kv: KvUse;
  readonly skippedItems: number;
  readonly trimmedItems: number;
  readonly featuresUs: number;
  readonly promptUs: number;
  /** Of the budget. */
  readonly leftUs: number;
  readonly adapter: ServedAdapter | undefined;
  readonly stopwatch: Stopwatch;
}

/** @throws TesseraError CANCELLED where the user was erased since the prompt was begun */
export function checkNotErased({ userId, mark }: Prepared, erasures: Erasures): void {
  if (!erasures.isErasedSince(userId, mark)) return;
  throw new TesseraError('CANCELLED', 'the user was erased while the request ran');
}
