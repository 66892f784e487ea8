/** Spans one behind the other, from `startUs` on. */ function inRow(startUs, stages) {
    let at = startUs;
    return stages.map(([name, us, attributes = {}])=>{
        const startUs = at;
        at += us;
        return {
            name,
            startUs,
            endUs: at,
            attributes
        };
    });
}
const namedTokens = (byTier)=>Object.fromEntries(Object.entries(byTier).map(([tier, tokens])=>[
            `${tier}Tokens`,
            tokens
        ]));
/**
 * The stages of a recall as spans. Features and the prefetch of keys and values begin together. The
 * passes of the engine go to and fro between decode, head, selection and fork: one span has the
 * sum of them, its attributes the parts.
 */ export function recallSpans(timings, kv, inference) {
    const { featuresUs, promptUs, queueUs, planUs, prefillUs, totalUs } = timings;
    const { decodeUs, headUs, selectUs, forkUs, exportUs } = timings;
    const engineUs = featuresUs + promptUs;
    const { sharedTokens, computedTokens, savedTokens: _, tokensByTier, ...found } = kv;
    const { waitUs } = found;
    const prefetch = {
        name: 'kv.prefetch',
        startUs: 0,
        endUs: engineUs + queueUs + waitUs
    };
    const decode = {
        decodeUs,
        headUs,
        selectUs,
        forkUs
    };
    return [
        ...inRow(0, [
            [
                'features',
                featuresUs
            ],
            [
                'prompt',
                promptUs
            ]
        ]),
        {
            ...prefetch,
            attributes: {
                ...found,
                ...namedTokens(tokensByTier)
            }
        },
        {
            name: 'engine',
            startUs: engineUs,
            endUs: totalUs,
            attributes: {
                ...inference,
                computedTokens,
                sharedTokens
            },
            children: inRow(0, [
                [
                    'queue',
                    queueUs
                ],
                [
                    'plan',
                    planUs
                ],
                [
                    'prefill',
                    prefillUs
                ],
                [
                    'steps',
                    decodeUs + headUs + selectUs + forkUs,
                    decode
                ],
                [
                    'export',
                    exportUs
                ]
            ])
        }
    ];
}

//# sourceMappingURL=recall-spans.js.map