import { quantile } from "../../result.js";
const RATE_BAR = 1.5;
const ODDS_BAR = 0.02;
const BESIDE_BAR = 1.2;
const MS_PER_SECOND = 1000;
const median = (values)=>quantile(values, 0.5);
/** Distances of the log-odds of the first label against the second. */ export function logOddsErrors(logits, reference) {
    const odds = (of = [])=>(of[0] ?? Number.NaN) - (of[1] ?? Number.NaN);
    return reference.map((of, i)=>Math.abs(odds(logits[i]) - odds(of)));
}
/**
 * Our items a second, and how many times those of each peer: the median of the rounds' ratios, for
 * the machine is not the same from one round to the next. The bar is for the fastest peer.
 */ export function rateRows(what, items, rounds) {
    const names = (rounds[0] ?? []).map(({ name })=>name);
    const [own, ...peers] = names.map((_, at)=>rounds.flatMap((turns)=>turns[at] ?? []));
    if (own === undefined) return [];
    const row = {
        name: `${what}, ${names[0]}`,
        value: MS_PER_SECOND * items / median(own.map(({ ms })=>ms)),
        unit: 'items/s'
    };
    if (peers.length === 0) return [
        {
            ...row,
            bar: null
        }
    ];
    const compared = peers.map((turns, at)=>({
            name: names[1 + at] ?? '',
            ratio: median(turns.map(({ ms }, round)=>ms / (own[round]?.ms ?? Number.NaN))),
            error: Math.max(...turns.flatMap(({ errors })=>errors))
        }));
    const least = Math.min(...compared.map(({ ratio })=>ratio));
    return compared.flatMap(({ name, ratio, error })=>[
            {
                ...row,
                ratio: {
                    value: ratio,
                    to: name
                },
                bar: ratio === least ? RATE_BAR : null
            },
            {
                name: `${what}: ${name} from ours, largest`,
                value: error,
                unit: 'log-odds',
                bar: null
            }
        ]);
}
/**
 * Distances of all from the first, which computes in F32, and of the last, ours in BF16, from the
 * other that does, if there is one. The bar is for ours from F32.
 */ export function oddsRows(shape, answered) {
    const [reference, ...others] = answered;
    const own = others.at(-1);
    if (reference === undefined || own === undefined) return [];
    const other = others.find(({ name })=>name.endsWith('bf16'));
    return [
        ...others.flatMap((one)=>distance(shape, one, reference, one === own ? ODDS_BAR : null)),
        ...other === undefined || other === own ? [] : distance(shape, own, other, null)
    ];
}
function distance(shape, one, to, bar) {
    const errors = logOddsErrors(one.logits, to.logits);
    const name = `${shape}, ${errors.length} pairs: ${one.name} from ${to.name}`;
    const unit = 'log-odds';
    return [
        {
            name: `${name}, median`,
            value: median(errors),
            unit,
            bar: null
        },
        {
            name: `${name}, largest`,
            value: Math.max(...errors),
            unit,
            bar,
            bound: 'at-most'
        }
    ];
}
const BESIDE_SHARES = [
    {
        name: 'p50',
        share: 0.5,
        bar: null
    },
    {
        name: 'p99',
        share: 0.99,
        bar: BESIDE_BAR
    }
];
/** Recalls beside relevance over recalls alone, and recalls alone over themselves. */ export function besideRows({ alone, beside, again }, arrivals) {
    const both = [
        ...alone,
        ...again
    ];
    const rows = BESIDE_SHARES.flatMap(({ name, share, bar })=>[
            row(`recall alone, ${both.length} of them, ${name}`, quantile(both, share)),
            {
                ...row(`recall beside relevance, ${beside.length} of them, ${name}`, quantile(beside, share)),
                ratio: {
                    value: quantile(beside, share) / quantile(both, share),
                    to: 'alone'
                },
                bar,
                bound: 'at-most'
            },
            {
                ...row(`recall alone again, ${again.length} of them, ${name}`, quantile(again, share)),
                ratio: {
                    value: quantile(again, share) / quantile(alone, share),
                    to: 'alone before'
                }
            }
        ]);
    const calls = arrivals.flatMap(({ latencies })=>latencies);
    const refused = arrivals.reduce((sum, one)=>sum + one.refused, 0);
    return [
        ...rows,
        row(`relevance beside recalls, ${calls.length} calls, p50`, median(calls)),
        {
            ...row('relevance beside recalls, refused', refused),
            unit: 'calls'
        }
    ];
}
function row(name, value) {
    return {
        name,
        value,
        unit: 'ms',
        bar: null
    };
}

//# sourceMappingURL=relevance-rows.js.map