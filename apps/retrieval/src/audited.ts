import type { TesseraError } from '@tessera/errors';
import type { RecallAnswer, RecallRequest } from '@tessera/recall';
import type { Edge } from '@tessera/telemetry';

/** A request and its outcome. */
export interface Audited {
  readonly edge: Edge;
  readonly request: RecallRequest;
  readonly outcome: RecallAnswer | TesseraError;
  /** '' where no trace was kept. */
  readonly traceId: string;
}
