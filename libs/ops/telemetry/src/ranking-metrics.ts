export const RANKING_METRICS = {
  rankRequests: {
    name: 'tessera_rank_requests_total',
    meaning:
      'rank requests answered, by edge (grpc, http) and code ' +
      '(OK or a code of docs/operate/errors.md)',
  },
  rankLatency: {
    name: 'tessera_rank_latency_seconds',
    meaning: 'seconds from parsed rank request to answer, by edge',
  },
  rankedItems: {
    name: 'tessera_ranked_items_total',
    meaning: 'items that heads ranked, of recalls and of rank requests',
  },
} as const;
