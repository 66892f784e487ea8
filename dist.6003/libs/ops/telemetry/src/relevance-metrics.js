/** Metrics of calls that score texts for a query. */ import { CODES_FROM_START } from "./answered.js";
import { combined, TalliedCounter, TalliedHistogram } from "./tallies.js";
export const RELEVANCE_METRICS = {
    relevanceRequests: {
        name: 'tessera_relevance_requests_total',
        meaning: 'calls that score texts, by edge (grpc, http) and code ' + '(OK or a code of docs/operate/errors.md)'
    },
    relevanceLatency: {
        name: 'tessera_relevance_latency_seconds',
        meaning: 'seconds from parsed relevance request to answer, by edge'
    },
    relevanceDocuments: {
        name: 'tessera_relevance_documents_total',
        meaning: 'documents of answered calls, by outcome (scored, failed)'
    },
    relevanceTokens: {
        name: 'tessera_relevance_tokens_total',
        meaning: 'prompt tokens of scored documents, by kind (prompt: each prompt as a whole; computed: ' + 'shared beginnings once)'
    }
};
const LATENCY_BUCKETS = [
    0.005,
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
    1,
    2,
    5,
    10,
    30
];
export class RelevanceTallies {
    requests;
    latency;
    documents;
    tokens;
    constructor(registry){
        const { relevanceRequests, relevanceLatency, relevanceDocuments, relevanceTokens } = RELEVANCE_METRICS;
        const start = combined([
            'grpc',
            'http'
        ], CODES_FROM_START);
        this.requests = new TalliedCounter(registry, relevanceRequests, [
            'edge',
            'code'
        ], start);
        const outcomes = combined([
            'scored',
            'failed'
        ]);
        this.documents = new TalliedCounter(registry, relevanceDocuments, [
            'outcome'
        ], outcomes);
        const kinds = combined([
            'prompt',
            'computed'
        ]);
        this.tokens = new TalliedCounter(registry, relevanceTokens, [
            'kind'
        ], kinds);
        this.latency = new TalliedHistogram(registry, relevanceLatency, [
            'edge'
        ], LATENCY_BUCKETS);
    }
    observe(seen) {
        const { edge, code, seconds, scored = 0, failed = 0 } = seen;
        this.requests.count(edge, code);
        this.latency.observe(seconds, edge);
        this.documents.add(scored, 'scored');
        this.documents.add(failed, 'failed');
        this.tokens.add(seen.promptTokens ?? 0, 'prompt');
        this.tokens.add(seen.computedTokens ?? 0, 'computed');
    }
}

//# sourceMappingURL=relevance-metrics.js.map