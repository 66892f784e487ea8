/** Requests and answers in the domain's own words; edges map wire types to these. */ /**
 * How items are found (docs/concepts/search.md). `certified`: until it is proved that no other item
 * is better, or a budget of rows is spent; `beam`: the best of each step go on.
 */ export const SEARCHES = [
    'certified',
    'beam'
];
export function certificateOf(search, { certified, gap, rows }) {
    if (certified || gap === undefined || !Number.isFinite(gap)) return {
        search,
        certified,
        rows
    };
    return {
        search,
        certified,
        gap,
        rows
    };
}
/** Of an answer that the engine was not asked for. */ export function uncertified(search) {
    return {
        search,
        certified: false,
        rows: 0
    };
}

//# sourceMappingURL=recall-types.js.map