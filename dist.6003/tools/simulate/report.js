import { table } from "../terminal/table.js";
const number = (value)=>{
    if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-GB');
    return String(Number(value.toPrecision(4)));
};
const timeRows = (name, { meanMs, p50Ms, p90Ms, p99Ms })=>[
        [
            'mean',
            meanMs
        ],
        [
            'p50',
            p50Ms
        ],
        [
            'p90',
            p90Ms
        ],
        [
            'p99',
            p99Ms
        ]
    ].map(([which, ms])=>[
            `${name}, ${which}`,
            number(Number(ms)),
            'ms'
        ]);
/** A figure a line. */ export function outcomeTable(fleet, outcome) {
    const { refused, tokens, seconds } = outcome;
    const all = tokens.memory + tokens.disk + tokens.shared + tokens.computed;
    const share = (count)=>number(all === 0 ? 0 : 100 * count / all);
    const perSecond = (bytes)=>number(seconds === 0 ? 0 : bytes / seconds / 1e6);
    const refusedAtArrival = refused['first-step'] + refused.answers + refused['no-node'];
    const rows = [
        [
            'nodes',
            fleet,
            ''
        ],
        [
            'requests',
            number(outcome.arrived),
            ''
        ],
        [
            'answered',
            number(outcome.answered),
            ''
        ],
        [
            'appends computed',
            number(outcome.appended),
            ''
        ],
        [
            'refused at arrival',
            number(refusedAtArrival),
            ''
        ],
        [
            'refused with the prompt computed',
            number(refused.wasted),
            ''
        ],
        [
            'begun again after a death',
            number(outcome.repeated),
            ''
        ],
        [
            'tokens found in memory',
            share(tokens.memory),
            '%'
        ],
        [
            'tokens found on disk',
            share(tokens.disk),
            '%'
        ],
        [
            'tokens found in the store',
            share(tokens.shared),
            '%'
        ],
        [
            'tokens computed',
            share(tokens.computed),
            '%'
        ],
        ...timeRows('time to first step', outcome.firstStep),
        ...timeRows('answer', outcome.answer),
        [
            'nodes in use',
            number(100 * outcome.utilisation),
            '%'
        ],
        [
            'from the store',
            perSecond(outcome.storeReadBytes),
            'MB/s'
        ],
        [
            'to the store',
            perSecond(outcome.storeWrittenBytes),
            'MB/s'
        ],
        [
            'variance of prompt load, 10 s',
            number(outcome.promptVariance),
            ''
        ],
        [
            'variance of answer load, 10 s',
            number(outcome.answerVariance),
            ''
        ]
    ];
    return table([
        {
            name: 'what'
        },
        {
            name: 'value',
            right: true
        },
        {
            name: 'unit'
        }
    ], rows);
}

//# sourceMappingURL=report.js.map