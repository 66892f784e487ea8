import { join } from "node:path";
import { PUBLISHED_LINK, PUBLISHED_RATE, PUBLISHED_RATE_CONTEXT, PUBLISHED_SHAPE, PUBLISHED_STEP, publishedRecall, RECALL_CASES } from "./published.js";
export const CUDA_STAGES = [
    'kernels',
    'recall',
    'constraint',
    'returning',
    'load',
    'peers'
];
export const CARD_SHAPES = [
    'qwen3-1.7b',
    'qwen3-0.6b'
];
/** Codes of a level and levels of a SID in the catalogues of native/bench/card. */ const CODES = 8192;
const LEVELS = 3;
/** Of the catalogue that recalls search. */ const RECALL_ITEMS = 1_000_000;
const WIDTH = 256;
/** Outstanding, where the constraint is measured on a catalogue that changes. */ const CHANGES = 10_000;
const SIZES = {
    full: {
        contexts: [
            1000,
            5000
        ],
        rows: [
            1,
            256,
            1024,
            4096
        ],
        cases: RECALL_CASES,
        items: [
            1_000_000,
            10_000_000
        ],
        widths: [
            70,
            128,
            256,
            512
        ],
        requests: 200,
        rounds: 15
    },
    quick: {
        contexts: [
            1000
        ],
        rows: [
            1,
            256
        ],
        cases: [
            '1000x1',
            '1000x8'
        ],
        items: [
            1_000_000
        ],
        widths: [
            70,
            256
        ],
        requests: 40,
        rounds: 5
    }
};
/** Everything that a run measures, in its order. */ export function planOf({ quick, stages, shapes, cache }) {
    const sizes = quick ? SIZES.quick : SIZES.full;
    const tasks = stages.flatMap((stage)=>TASKS[stage]({
            ...sizes,
            shapes,
            cache
        }));
    const rounds = [
        '--rounds',
        String(sizes.rounds),
        '--cache',
        cache
    ];
    return tasks.map((task)=>task.program === 'card_bench' ? {
            ...task,
            words: [
                ...task.words,
                ...rounds
            ]
        } : task);
}
const TASKS = {
    kernels: (sizes)=>[
            {
                stage: 'kernels',
                name: 'ceilings',
                program: 'python',
                words: [
                    peer('card_ceilings.py'),
                    'cuda',
                    '8192',
                    '2048',
                    String(sizes.rounds)
                ],
                measures: [
                    {
                        what: 'a product of 8192 x 8192 x 8192 in BF16 and a copy of 2 GiB through PyTorch'
                    }
                ]
            },
            ...sizes.shapes.map((shape)=>kernelsTask(shape, sizes))
        ],
    recall: (sizes)=>sizes.shapes.map((shape)=>recallTask(shape, sizes)),
    constraint: ({ items, widths })=>[
            {
                stage: 'constraint',
                name: 'constraint',
                program: 'card_bench',
                words: [
                    ...[
                        'constraint',
                        '--items',
                        items.join(),
                        '--widths',
                        widths.join()
                    ],
                    ...[
                        '--changes',
                        String(CHANGES)
                    ]
                ],
                measures: items.flatMap((count)=>[
                        {
                            what: `${count} SIDs of ${LEVELS} x ${CODES}: copied to the card; 100 changes of them`
                        },
                        ...widths.map((width)=>({
                                what: `step, ${count} SIDs, ${width} beams, 0 and ${CHANGES} changes`,
                                published: PUBLISHED_STEP
                            }))
                    ])
            }
        ],
    returning: (sizes)=>sizes.shapes.map((shape)=>({
                stage: 'returning',
                name: `returning-${shape}`,
                program: 'card_bench',
                words: [
                    'returning',
                    '--shape',
                    shape,
                    '--contexts',
                    sizes.contexts.join()
                ],
                measures: sizes.contexts.map((context)=>({
                        what: `${shape}, context ${context}: prompt computed from nothing; its last 32 tokens over ` + 'keys and values on the card, in host memory, on disk',
                        published: PUBLISHED_LINK
                    }))
            })),
    load: (sizes)=>sizes.shapes.map((shape)=>loadTask(shape, sizes)),
    peers: (sizes)=>[
            ...sizes.items.map((count)=>sparseTask(count, sizes)),
            ...sizes.shapes.flatMap((shape)=>transformersTasks(shape, sizes))
        ]
};
function kernelsTask(shape, { contexts, rows }) {
    return {
        stage: 'kernels',
        name: `kernels-${shape}`,
        program: 'card_bench',
        words: [
            ...[
                'kernels',
                '--shape',
                shape,
                '--contexts',
                contexts.join(),
                '--rows',
                rows.join()
            ],
            ...[
                '--width',
                String(WIDTH)
            ]
        ],
        measures: [
            {
                what: `${shape}: products of a layer with ${rows.join(', ')} rows`
            },
            {
                what: `${shape}: attention of a prompt of ${contexts.join(', ')} and of ${WIDTH} beams`
            },
            {
                what: `${shape}: norms with ${rows.join(', ')} rows; head of ${WIDTH} rows`
            }
        ]
    };
}
function recallTask(shape, { cases }) {
    return {
        stage: 'recall',
        name: `recall-${shape}`,
        program: 'card_bench',
        words: [
            ...[
                'recall',
                '--shape',
                shape,
                '--cases',
                cases.join(),
                '--width',
                String(WIDTH)
            ],
            ...[
                '--items',
                String(RECALL_ITEMS)
            ]
        ],
        measures: cases.map((one)=>{
            const [context = 0, requests = 0] = one.split('x').map(Number);
            const published = shape === PUBLISHED_SHAPE ? publishedRecall(context, requests) : undefined;
            const what = `${shape}: ${requests} recalls of a context of ${context}, beam ${WIDTH}`;
            return {
                what,
                ...published === undefined ? {} : {
                    published
                }
            };
        })
    };
}
function loadTask(shape, { contexts, requests }) {
    return {
        stage: 'load',
        name: `load-${shape}`,
        program: 'card_bench',
        words: [
            ...[
                'load',
                '--shape',
                shape,
                '--contexts',
                contexts.join(),
                '--width',
                String(WIDTH)
            ],
            ...[
                '--items',
                String(RECALL_ITEMS),
                '--requests',
                String(requests)
            ]
        ],
        measures: contexts.map((context)=>({
                what: `${shape}, context ${context}: latency with 50, 80 and 95 % of the rate offered`,
                ...shape === PUBLISHED_SHAPE && context === PUBLISHED_RATE_CONTEXT ? {
                    published: PUBLISHED_RATE
                } : {}
            }))
    };
}
function sparseTask(count, { widths, rounds, cache }) {
    return {
        stage: 'peers',
        name: `sparse-constraint-${count}`,
        program: 'python',
        words: [
            ...[
                peer('sparse_constraint_peer.py'),
                'time',
                sidsOf(cache, count)
            ],
            ...[
                String(LEVELS),
                String(CODES),
                'cuda',
                widths.join(),
                String(rounds)
            ]
        ],
        measures: widths.map((width)=>({
                what: `vectorised sparse-matrix step through PyTorch, ${count} SIDs, ${width} beams`,
                published: PUBLISHED_STEP
            }))
    };
}
function transformersTasks(shape, { contexts, cache }) {
    return [
        'loop',
        'generate'
    ].map((way)=>({
            stage: 'peers',
            name: `transformers-${way}-${shape}`,
            program: 'python',
            words: [
                ...[
                    peer('card_recall_peer.py'),
                    join(cache, `card-${shape}-1`)
                ],
                ...[
                    sidsOf(cache, RECALL_ITEMS),
                    String(LEVELS),
                    String(CODES),
                    'cuda',
                    way
                ],
                ...[
                    contexts.join(),
                    String(WIDTH),
                    '3'
                ]
            ],
            measures: contexts.map((context)=>({
                    what: `transformers ${way}, ${shape}: a recall of a context of ${context}, beam ${WIDTH}`
                }))
        }));
}
function peer(name) {
    return join('bench', 'peers', name);
}
/** Names of native/bench/card/shapes.cc for the SIDs of a catalogue. */ function sidsOf(cache, items) {
    return join(cache, `card-catalogue-${items}-${CODES}-1`, 'sids.u16');
}
/** The plan for a reader: a line for each measurement, and the command that takes them. */ export function planLines(tasks) {
    return tasks.flatMap(({ stage, program, words, measures })=>[
            `${stage}: ${program} ${words.join(' ')}`,
            ...measures.map(({ what, published })=>`  ${what}${againstLine(published)}`)
        ]);
}
function againstLine(published) {
    if (published === undefined) return '';
    const { value, unit, setting, source } = published;
    return `; published: ${value} ${unit} (${setting}; ${source})`;
}

//# sourceMappingURL=plan.js.map