import { existsSync } from "node:fs";
import { join } from "node:path";
import { randomModel } from "../../models/random-model.js";
import { LLAMA_BACKENDS, llamaWeights, PEERS_HOME, PYTHON, SOURCES, TRANSFORMERS_MARK } from "../../peers/peer-kinds.js";
import { PeerProcess } from "../../peers/peer-process.js";
import { PairEngine } from "./pair-engine.js";
import { LABELS } from "./prompts.js";
const VLLM_PYTHON = join(PEERS_HOME, 'vllm-engine', 'bin', 'python');
const LLAMA = join(PEERS_HOME, 'relevance_llama_peer');
const DTYPES = {
    f32: 'float32',
    bf16: 'bfloat16'
};
export const tessera = (computeType)=>async ({ shape, threads, say })=>{
        const engine = await PairEngine.open(shape, computeType, say, threads);
        return {
            name: `Tessera ${computeType}`,
            ask: (prompts)=>engine.ask(prompts),
            close: ()=>engine.close()
        };
    };
/** `padded` is what published scripts do, `shared` the best known use of the library. */ export const transformers = (way, computeType)=>({ shape, threads, say })=>{
        const words = [
            randomModel(shape, say),
            String(threads),
            way,
            DTYPES[computeType]
        ];
        const program = join(SOURCES, 'relevance_peer.py');
        return peer(`transformers ${way} ${computeType}`, PYTHON, [
            program,
            ...words
        ]);
    };
/** Its engine with prefix caching, in an environment of its own. */ export const vllm = (computeType)=>({ shape, threads, say })=>{
        const words = [
            randomModel(shape, say),
            String(threads),
            DTYPES[computeType]
        ];
        const program = join(SOURCES, 'relevance_vllm_peer.py');
        return peer(`vLLM ${computeType}`, VLLM_PYTHON, [
            program,
            ...words
        ]);
    };
/** `predict` over batches of so many prompts, each padded. */ export const crossEncoder = (batch, computeType)=>({ shape, threads, say })=>{
        const words = [
            randomModel(shape, say),
            ...[
                threads,
                batch
            ].map(String),
            DTYPES[computeType]
        ];
        const program = join(SOURCES, 'relevance_cross_encoder_peer.py');
        const name = `sentence-transformers by ${batch} ${computeType}`;
        return peer(name, PYTHON, [
            program,
            ...words
        ]);
    };
/** The query once; then its items in one batch, or one after the other. */ export const llama = (way)=>async ({ shape, threads, say })=>{
        const weights = await llamaWeights(randomModel(shape, say), 'bf16');
        return peer(`llama.cpp ${way} bf16`, LLAMA, [
            weights,
            String(threads),
            way,
            LLAMA_BACKENDS
        ]);
    };
async function peer(name, command, words) {
    const process = await PeerProcess.start(name, command, words);
    return {
        name,
        ask: (prompts)=>process.exchange({
                prompts,
                labels: [
                    ...LABELS
                ]
            }),
        close: ()=>process.close()
    };
}
/** Marks that installations leave last, by the word for `bench/peers/install.mjs`. */ const MARKS = {
    transformers: TRANSFORMERS_MARK,
    llama: LLAMA,
    'vllm-engine': join(PEERS_HOME, 'vllm-engine.installed')
};
export const isThere = (word)=>existsSync(MARKS[word]);
/** A row for each peer that is not installed. */ export function absences(words) {
    return words.filter((word)=>!isThere(word)).map((word)=>({
            name: `absent: ${word} (node bench/peers/install.mjs ${word})`,
            value: 1,
            unit: 'peer',
            bar: null
        }));
}
/** Starts all, measures and closes, whatever happens in between. */ export async function withContestants(starts, setting, measure) {
    const all = [];
    try {
        for (const start of starts)all.push(await start(setting));
        return await measure(all);
    } finally{
        for (const each of all)await each.close();
    }
}

//# sourceMappingURL=contestants.js.map