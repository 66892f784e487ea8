import { meanOverlap } from "./overlap.js";
import { quality } from "./ranking.js";
import { rowsOf } from "./rows.js";
const DEPTHS = [
    10,
    50
];
/** A beam beside the model's best of all items, of the same users. */ export function bothSearches(beam, certified) {
    const of = (search, answers)=>({
            search,
            ...quality(answers.ranks, DEPTHS),
            ...rowsOf(answers.searched),
            requestsPerSecond: answers.ranks.length / answers.seconds
        });
    const found = DEPTHS.map((depth)=>[
            depth,
            meanOverlap(certified.lists, beam.lists, depth)
        ]);
    return {
        users: beam.ranks.length,
        searches: [
            of('beam', beam),
            of('certified', certified)
        ],
        found: Object.fromEntries(found)
    };
}
export function describeBoth({ users, searches, found }) {
    const names = DEPTHS.flatMap((depth)=>[
            `Recall@${depth}`,
            `NDCG@${depth}`
        ]);
    const columns = [
        ...names,
        'rows',
        'rows p90',
        'certified'
    ].map((name)=>name.padStart(9));
    const lines = searches.map((one)=>{
        const numbers = DEPTHS.flatMap((depth)=>[
                one.recall[depth] ?? 0,
                one.ndcg[depth] ?? 0
            ]);
        const percent = `${(100 * one.certifiedShare).toFixed(1)} %`;
        return [
            one.search.padEnd(9),
            ...numbers.map((value)=>value.toFixed(4).padStart(9)),
            ...[
                one.rowsMean.toFixed(1),
                String(one.rowsP90),
                percent
            ].map((text)=>text.padStart(9)),
            one.requestsPerSecond.toFixed(1).padStart(10)
        ].join(' ');
    });
    const shares = DEPTHS.map((depth)=>{
        const percent = 100 * (found[depth] ?? 0);
        const missed = (100 - percent).toFixed(1);
        return `${percent.toFixed(1)} % of the first ${depth} (missed ${missed} %)`;
    });
    return [
        [
            'search   ',
            ...columns,
            'requests/s'
        ].join(' '),
        ...lines,
        `users ${users}; of the certified lists the beam found ${shares.join(', ')}`
    ].join('\n');
}

//# sourceMappingURL=both-searches.js.map