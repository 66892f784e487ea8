/** Metrics of calls that score texts for a query. */

import { Counter, Histogram, type Registry } from 'prom-client';

export const RELEVANCE_METRICS = {
  relevanceRequests: {
    name: 'tessera_relevance_requests_total',
    meaning:
      'calls that score texts, by edge (grpc, http) and code ' +
      '(OK or a code of docs/operate/errors.md)',
  },
  relevanceLatency: {
    name: 'tessera_relevance_latency_seconds',
    meaning: 'seconds from parsed relevance request to answer, by edge',
  },
  relevanceDocuments: {
    name: 'tessera_relevance_documents_total',
    meaning: 'documents of answered calls, by outcome (scored, failed)',
  },
  relevanceTokens: {
    name: 'tessera_relevance_tokens_total',
    meaning:
      'prompt tokens of scored documents, by kind (prompt: each prompt as a whole; computed: ' +
      'shared beginnings once)',
  },
} as const;

export interface RelevanceObservation {
  readonly edge: string;
  /** OK or an error code. */
  readonly code: string;
  readonly seconds: number;
  /** Left out where the call failed. */
  readonly scored?: number;
  readonly failed?: number;
  readonly promptTokens?: number;
  readonly computedTokens?: number;
}

const LATENCY_BUCKETS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];

export class RelevanceTallies {
  private readonly requests: Counter;
  private readonly latency: Histogram;
  private readonly documents: Counter;
  private readonly tokens: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    const { relevanceRequests, relevanceLatency, relevanceDocuments, relevanceTokens } =
      RELEVANCE_METRICS;
    const counter = ({ name, meaning: help }: { name: string; meaning: string }, of: string[]) =>
      new Counter({ name, help, labelNames: of, registers });
    this.requests = counter(relevanceRequests, ['edge', 'code']);
    this.documents = counter(relevanceDocuments, ['outcome']);
    this.tokens = counter(relevanceTokens, ['kind']);
    const { name, meaning: help } = relevanceLatency;
    const buckets = LATENCY_BUCKETS;
    this.latency = new Histogram({ name, help, labelNames: ['edge'], buckets, registers });
  }

  observe(seen: RelevanceObservation): void {
    const { edge, code, seconds, scored = 0, failed = 0 } = seen;
    this.requests.inc({ edge, code });
    this.latency.observe({ edge }, seconds);
    this.documents.inc({ outcome: 'scored' }, scored);
    this.documents.inc({ outcome: 'failed' }, failed);
    this.tokens.inc({ kind: 'prompt' }, seen.promptTokens ?? 0);
    this.tokens.inc({ kind: 'computed' }, seen.computedTokens ?? 0);
  }
}
