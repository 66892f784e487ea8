export const EXPORT_FORMATS = [
    'csv',
    'parquet',
    'arrow'
];
/** Comparisons that are kept; the oldest goes when there are more. */ export const COMPARISONS_MAX = 500;
/**
 * Port: recorded recalls. offer() never waits and never throws; the others reject with
 * REQUEST_INVALID naming the field, DEADLINE_EXCEEDED, IO_FAILED or STORE_UNAVAILABLE.
 */ export class InspectionStore {
}

//# sourceMappingURL=inspection-store.js.map