import { NO_ELIGIBILITY } from "../../../libs/engine/src/index.js";
import { Random } from "../../models/random.js";
const CAMPAIGNS = 30;
const NORMS = [
    'full',
    'level',
    'allowed'
];
const RESULT_COUNTS = [
    1,
    5,
    10,
    20,
    50,
    100,
    200
];
const ITEMS_PER_SID = [
    0,
    1,
    2,
    1000
];
const PER_CAMPAIGN = [
    0,
    0,
    0,
    1,
    2,
    5
];
const CLAUSE = {
    kind: 'all',
    attribute: '',
    values: [],
    min: Number.NEGATIVE_INFINITY,
    max: Number.POSITIVE_INFINITY,
    clauses: []
};
const clause = (change)=>Object.assign({}, CLAUSE, change);
const eligibility = (change)=>Object.assign({}, NO_ELIGIBILITY, change);
const pick = (random, choices)=>choices[random.below(choices.length)];
/** Attributes of items beside their SID; a few share a priority, and a bid. */ export function drawAttributes(random) {
    return {
        priority: random.below(4),
        campaign: `c${random.below(CAMPAIGNS)}`,
        bid: random.below(50) / 10
    };
}
function drawnIds(items, share, random) {
    return items.filter(()=>random.uniform() < share).map(({ itemId })=>itemId);
}
function inCampaigns(random, count) {
    const names = new Set(Array.from({
        length: count
    }, ()=>`c${random.below(CAMPAIGNS)}`));
    return {
        request: clause({
            kind: 'in',
            attribute: 'campaign',
            values: [
                ...names
            ]
        }),
        names
    };
}
/** Lists and predicates by seed: from nearly all of the catalogue to a few items of it. */ export function drawEligibilities(items, seed) {
    const random = new Random(seed);
    const among = (share, kind)=>{
        const ids = new Set(drawnIds(items, share, random));
        const isIn = ({ itemId })=>ids.has(itemId);
        const has = kind === 'allowed' ? isIn : (item)=>!isIn(item);
        return {
            request: eligibility({
                [kind]: [
                    ...ids
                ]
            }),
            has
        };
    };
    const campaigns = inCampaigns(random, 6);
    const others = inCampaigns(random, 3);
    const leastBid = 4.5;
    const bids = clause({
        kind: 'range',
        attribute: 'bid',
        min: leastBid
    });
    const refused = new Set(drawnIds(items, 0.5, random));
    return [
        {
            request: NO_ELIGIBILITY,
            has: ()=>true
        },
        among(0.3, 'allowed'),
        among(0.01, 'allowed'),
        among(0.2, 'denied'),
        among(0.9, 'seen'),
        {
            request: eligibility({
                predicate: campaigns.request
            }),
            has: ({ campaign })=>campaigns.names.has(campaign)
        },
        {
            request: eligibility({
                predicate: clause({
                    kind: 'any',
                    clauses: [
                        bids,
                        clause({
                            kind: 'not',
                            clauses: [
                                others.request
                            ]
                        })
                    ]
                })
            }),
            has: ({ bid, campaign })=>bid >= leastBid || !others.names.has(campaign)
        },
        {
            request: eligibility({
                predicate: bids,
                denied: [
                    ...refused
                ]
            }),
            has: ({ bid, itemId })=>bid >= leastBid && !refused.has(itemId)
        }
    ];
}
/** As many cases by seed; those of one eligibility and prompt come together. */ export function drawCases(count, prompts, eligibilities, seed) {
    const random = new Random(seed);
    const cases = Array.from({
        length: count
    }, ()=>({
            prompt: random.below(prompts),
            norm: pick(random, NORMS),
            eligibility: random.below(eligibilities),
            taking: {
                resultCount: pick(random, RESULT_COUNTS),
                itemsPerSid: pick(random, ITEMS_PER_SID),
                orderBy: pick(random, [
                    '',
                    '',
                    'bid'
                ]),
                perCampaign: pick(random, PER_CAMPAIGN)
            }
        }));
    return cases.sort((a, b)=>a.eligibility - b.eligibility || a.prompt - b.prompt);
}

//# sourceMappingURL=draw-cases.js.map