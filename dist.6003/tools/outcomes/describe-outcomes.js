import { table } from "../terminal/table.js";
const ROWS = [
    [
        'served',
        'as served'
    ],
    [
        'weighted',
        'target, weighted (Horvitz-Thompson)'
    ],
    [
        'normalised',
        'target, self-normalised'
    ],
    [
        'doublyRobust',
        'target, doubly robust'
    ],
    [
        'gain',
        'doubly robust less served'
    ]
];
const cells = ({ value, low, high })=>[
        value,
        low,
        high
    ].map((one)=>one.toFixed(4));
/** Estimates as a table, and what they stand on. */ export function describeOutcomes(page) {
    const { estimates, reward, recalls, users, effectiveUsers, balance, targetItems } = page;
    const left = Object.entries(page.left).map(([reason, count])=>`${count} ${reason}`);
    const panel = page.oneIn === 1 ? '' : `; one user in ${page.oneIn}`;
    const lines = [
        `${recalls} of ${page.explored} recalls that explored, of ${users} users${panel}; ` + `${page.rewards} ${reward}s`,
        `effective users ${effectiveUsers.toFixed(1)}, balance ${balance.toFixed(3)}, ` + `${targetItems.toFixed(2)} items of the target a recall`,
        ...left.length === 0 ? [] : [
            `left out: ${left.join(', ')}`
        ]
    ];
    if (estimates === null) return lines.join('\n');
    const columns = [
        {
            name: `${reward}s a recall`
        },
        ...[
            'estimate',
            'from',
            'to'
        ].map((name)=>({
                name,
                right: true
            }))
    ];
    const rows = ROWS.map(([name, label])=>[
            label,
            ...cells(estimates[name])
        ]);
    return [
        table(columns, rows),
        '',
        ...lines
    ].join('\n');
}

//# sourceMappingURL=describe-outcomes.js.map