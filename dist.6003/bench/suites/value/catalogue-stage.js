import { nativeResults } from "../native-bench.js";
const ITEMS = {
    quick: 1_000_000,
    full: 10_000_000
};
const VISIBLE_MS_MAX = 50;
const MEMORY_MIB_MAX = 61; // 64 MB
/** Memory of a valuation, and bids and paces that change beside recalls by value. */ export async function catalogueStage({ quick, say }) {
    const measurements = [];
    for (const items of quick ? [
        ITEMS.quick
    ] : [
        ITEMS.quick,
        ITEMS.full
    ]){
        say(`bids of ${items} items`);
        const words = [
            ...quick ? [
                '--quick'
            ] : [],
            '--items',
            String(items)
        ];
        for (const result of (await nativeResults('value_bench', words))){
            measurements.push({
                ...result,
                bar: barOf(result.name, items),
                bound: 'at-most'
            });
        }
    }
    return measurements;
}
function barOf(name, items) {
    if (name.endsWith('memory of one valuation')) return items === ITEMS.full ? MEMORY_MIB_MAX : null;
    if (name.includes('to visible, 10000') || name.includes('pace of a campaign')) {
        return VISIBLE_MS_MAX;
    }
    return null;
}

//# sourceMappingURL=catalogue-stage.js.map