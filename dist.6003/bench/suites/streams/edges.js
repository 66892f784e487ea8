import { DEFAULT_TOPICS, TesseraClient, TopicClient } from "../../../libs/edge/client/src/index.js";
import { createRecallRuntime, DEFAULT_RESULT_COUNT } from "../../../libs/service/recall/src/index.js";
import { runtimeOptions } from "../../../tools/terminal/model-flags.js";
import { quantile } from "../../result.js";
import { serveHere } from "./serve-here.js";
const DEADLINE_MS = 20_000;
const WARM_UP = 20;
const USERS_MAX = 200;
/** Of what gRPC adds, in milliseconds. */ const GRPC_BARS = {
    median: 1,
    p99: 3
};
const WAYS = [
    'direct',
    'grpc',
    'kafka'
];
/**
 * Cost of each edge for one recall at a time: each round asks for one user directly, over gRPC and
 * over topics, in an order that turns. Clients and service share this process: both are counted.
 */ export async function edges({ quick, flags, say }, broker) {
    const runtime = await createRecallRuntime(runtimeOptions(flags, ()=>undefined));
    const serving = await serveHere(runtime, broker);
    const grpc = new TesseraClient(serving.grpcAddress);
    const topics = await TopicClient.open({
        brokers: [
            broker
        ],
        ...DEFAULT_TOPICS
    });
    const users = await runtime.facts.sampleUserIds(USERS_MAX);
    if (users.length === 0) throw new Error('the suite streams needs a model folder with users.json');
    const ask = {
        direct: (userId)=>runtime.serving.recall({
                requestId: '',
                userId,
                profile: {},
                scene: {},
                resultCount: DEFAULT_RESULT_COUNT,
                widths: [],
                itemsPerSid: 0,
                skipUnknownItems: false
            }, {
                signal: new AbortController().signal,
                budgetUs: DEADLINE_MS * 1000
            }),
        grpc: (userId)=>grpc.recall({
                userId,
                resultCount: DEFAULT_RESULT_COUNT
            }, DEADLINE_MS),
        kafka: (userId)=>topics.recall({
                userId,
                resultCount: DEFAULT_RESULT_COUNT
            }, DEADLINE_MS)
    };
    try {
        say('one recall at a time: direct, over gRPC, over topics');
        return rows(await rounds(ask, users, quick ? 200 : 3000));
    } finally{
        grpc.close();
        await topics.close();
        await serving.drain.run();
    }
}
async function rounds(ask, users, count) {
    const times = {
        direct: [],
        grpc: [],
        kafka: []
    };
    for(let round = -WARM_UP; round < count; round += 1){
        const userId = users[(round + WARM_UP) % users.length];
        for(let turn = 0; turn < WAYS.length; turn += 1){
            const way = WAYS[(round + WARM_UP + turn) % WAYS.length];
            const started = performance.now();
            await ask[way](userId);
            if (round >= 0) times[way].push(performance.now() - started);
        }
    }
    return times;
}
function rows(times) {
    const shares = [
        [
            'median',
            0.5
        ],
        [
            'p99',
            0.99
        ]
    ];
    const alone = WAYS.flatMap((way)=>shares.map(([name, share])=>({
                name: `one recall at a time, ${way}, ${name}`,
                value: quantile(times[way], share),
                unit: 'ms',
                bar: null
            })));
    const added = (way, to, bars)=>shares.map(([name, share])=>{
            const [of, base] = [
                quantile(times[way], share),
                quantile(times[to], share)
            ];
            const ratio = bars === undefined ? {
                ratio: {
                    value: of / base,
                    to
                }
            } : {};
            const row = {
                name: `added by ${way} to ${to}, ${name}`,
                value: of - base,
                unit: 'ms'
            };
            return {
                ...row,
                ...ratio,
                bar: bars?.[name] ?? null,
                bound: 'at-most'
            };
        });
    return [
        ...alone,
        ...added('grpc', 'direct', GRPC_BARS),
        ...added('kafka', 'grpc', undefined)
    ];
}

//# sourceMappingURL=edges.js.map