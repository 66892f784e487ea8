import type { RecallAnswer, RecallRequest } from '@tessera/recall';
import type { RecallSource, RecordReason } from './recorded-recall.js';

/** A recall on its way to the store: the answer as it was sent, nothing of it made ready yet. */
export interface RecordableRecall {
  readonly id: string;
  readonly timeMs: number;
  readonly source: RecallSource;
  readonly reason: RecordReason;
  readonly request: RecallRequest;
  readonly outcome:
    | { readonly answer: RecallAnswer }
    | { readonly code: string; readonly message: string };
}
