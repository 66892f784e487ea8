/** Metrics of how recalls were searched (docs/concepts/search.md). */ import { combined, TalliedCounter, TalliedHistogram } from "./tallies.js";
export const SEARCH_METRICS = {
    recallSearchRows: {
        name: 'tessera_recall_search_rows',
        meaning: 'rows of beams that a recall computed, by search (certified, beam)'
    },
    recallCertified: {
        name: 'tessera_recall_certified_total',
        meaning: 'searched recalls, by certified (true: no omitted item can score better)'
    }
};
const ROW_BUCKETS = [
    16,
    32,
    64,
    128,
    192,
    256,
    384,
    512,
    1024,
    2048,
    4096,
    16_384,
    65_536
];
export class SearchTallies {
    rows;
    certified;
    constructor(registry){
        const { recallSearchRows, recallCertified } = SEARCH_METRICS;
        this.rows = new TalliedHistogram(registry, recallSearchRows, [
            'search'
        ], ROW_BUCKETS);
        const start = combined([
            'true',
            'false'
        ]);
        this.certified = new TalliedCounter(registry, recallCertified, [
            'certified'
        ], start);
    }
    observe({ search, certified, rows }) {
        this.rows.observe(rows, search);
        this.certified.count(String(certified));
    }
}

//# sourceMappingURL=search-metrics.js.map