import { missingFor, startKafkaBroker } from "../../../libs/testing/src/index.js";
import { fail } from "../../../tools/terminal/command.js";
import { ceiling } from "./ceiling.js";
import { edges } from "./edges.js";
import { ingest } from "./ingest.js";
import { overlap } from "./overlap.js";
import { returning } from "./returning.js";
/** A broker of its own: no part reads what another one wrote. */ function withBroker(part) {
    return async (context)=>{
        const broker = await startKafkaBroker();
        try {
            return await part(context, broker.address);
        } finally{
            await broker.stop();
        }
    };
}
const PARTS = {
    edges: withBroker(edges),
    ceiling: withBroker(ceiling),
    ingest: withBroker(ingest),
    returning,
    overlap
};
/** Servers that the parts start; the others start none. */ const SERVERS = {
    edges: [
        'kafka'
    ],
    ceiling: [
        'kafka'
    ],
    ingest: [
        'kafka',
        'redis'
    ]
};
export const STREAM_PARTS = Object.keys(PARTS);
/** The service among streams: what edges and topics add, take and save. A real broker and Redis. */ export async function streamsSuite(context) {
    const wanted = context.flags.text('stage')?.split(',') ?? STREAM_PARTS;
    for (const name of wanted){
        if (!Object.hasOwn(PARTS, name)) fail('stage', `of ${STREAM_PARTS.join(', ')}`, name);
    }
    checkServers(context, wanted);
    const measurements = [];
    for (const name of wanted)measurements.push(...await PARTS[name](context));
    return measurements;
}
/** Says at once what the parts need, rather than when their turn comes. */ function checkServers({ say }, wanted) {
    const servers = Object.entries(SERVERS).flatMap(([part, needed])=>wanted.includes(part) ? [
            ...needed
        ] : []);
    if (servers.length === 0) return;
    say(`starts servers of its own: ${[
        ...new Set(servers)
    ].join(', ')}`);
    const missing = missingFor(servers);
    if (missing.length === 0) return;
    const without = STREAM_PARTS.filter((part)=>!Object.hasOwn(SERVERS, part)).join(',');
    throw new Error(`expected what starts them, got no ${missing.join(', no ')}: ` + `npm run bootstrap -- --test gets it; --stage ${without} needs none`);
}

//# sourceMappingURL=streams-suite.js.map