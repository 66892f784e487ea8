/** Labels and buckets of what callers are answered. */

import { FAULTS } from '@tessera/errors';

export const EDGES = ['grpc', 'http', 'kafka'] as const;

/** Edge at which a request arrived. */
export type Edge = (typeof EDGES)[number];

export interface Observation {
  readonly edge: Edge;
  /** OK or an error code. */
  readonly code: string;
  readonly seconds: number;
}

/** Codes of the objectives, counted from the start. */
export const CODES_FROM_START: readonly string[] = ['OK', ...FAULTS];

export const LATENCY_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
