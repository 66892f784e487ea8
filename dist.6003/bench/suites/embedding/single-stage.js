import { ServiceClient } from "../../../libs/edge/client/src/index.js";
import { quantile } from "../../result.js";
import { closedLoop } from "../engine/in-flight.js";
import { INFINITY_INSTALL, isInfinityInstalled, startInfinity } from "./infinity-server.js";
import { withServedTexts } from "./served-texts.js";
import { drawTexts, TITLE } from "./texts.js";
const IN_FLIGHT = 16;
const TURN_MS = {
    quick: 1500,
    full: 10_000
};
const ROUNDS = {
    quick: 3,
    full: 7
};
const TEXTS = 512;
const SEED = 91;
/** Requests a second, ours over infinity's. */ const BAR = 3;
/** Requests of one short text: gRPC here, HTTP at infinity's server, in turns. */ export function singleStage(context) {
    const { quick, say } = context;
    const form = quick ? 'quick' : 'full';
    return withServedTexts(context, async ({ stack, modelPath, threads })=>{
        const servers = [
            ourselves(stack.grpcAddress)
        ];
        try {
            if (isInfinityInstalled()) {
                servers.push(Object.assign(await startInfinity(modelPath, threads, say), {
                    rates: []
                }));
            }
            const texts = drawTexts(TEXTS, SEED, TITLE).map(({ text })=>text);
            const turn = ({ ask }, milliseconds)=>closedLoop(IN_FLIGHT, milliseconds, (at)=>ask(texts[at % TEXTS]));
            for (const server of servers)await turn(server, TURN_MS[form] / 2);
            for(let round = 1; round <= ROUNDS[form]; round += 1){
                say(`single texts, round ${round} of ${ROUNDS[form]}`);
                for (const server of servers)server.rates.push(await turn(server, TURN_MS[form]));
            }
            return rows(servers);
        } finally{
            for (const server of servers)await server.close();
        }
    });
}
function ourselves(address) {
    const client = new ServiceClient('tessera.embedding.v1.EmbeddingService', address);
    return {
        name: 'tessera, gRPC',
        ask: (text)=>client.call('Embed', {
                model: '',
                texts: [
                    text
                ],
                numberType: 0
            }, {}),
        close: ()=>client.close(),
        rates: []
    };
}
function rows(servers) {
    const [own, peer] = servers;
    const value = quantile(own.rates, 0.5);
    const name = `single titles, MiniLM, ${IN_FLIGHT} under way: ${own.name}`;
    const row = {
        name,
        value,
        unit: 'requests/s'
    };
    if (peer === undefined) {
        const absent = {
            name: `absent: infinity (${INFINITY_INSTALL})`,
            value: 1,
            unit: 'peers'
        };
        return [
            Object.assign(row, {
                bar: null
            }),
            Object.assign(absent, {
                bar: null
            })
        ];
    }
    const ratio = {
        value: value / quantile(peer.rates, 0.5),
        to: peer.name
    };
    return [
        Object.assign(row, {
            ratio,
            bar: BAR
        })
    ];
}

//# sourceMappingURL=single-stage.js.map