import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../libs/ops/config/src/index.js";
import { openEmbedding } from "../../../apps/standalone/src/embedding.js";
import { PYTHON, SOURCES, TRANSFORMERS_MARK } from "../../peers/peer-kinds.js";
import { PeerProcess } from "../../peers/peer-process.js";
import { output } from "../native-bench.js";
const COMPUTE_TYPES = {
    f32: 'f32',
    bf16: 'bf16',
    int8: 'w8a8'
};
const WAYS = [
    'padded',
    'sorted'
];
/** The models of texts as a process serves them, this one model in it. */ export function openOwn({ modelPath, threads }, precision) {
    const { embedding, engine } = loadConfig().config;
    const asked = {
        models: `bench=${modelPath}`,
        computeType: COMPUTE_TYPES[precision]
    };
    const own = {
        embedding: Object.assign({}, embedding, asked),
        engine
    };
    return openEmbedding(own, {
        threadCount: threads
    });
}
/** This service: from texts, tokenizer and queue included. */ export async function ourselves(setting, precision) {
    const models = await openOwn(setting, precision);
    return {
        name: `tessera ${COMPUTE_TYPES[precision]}`,
        precision,
        embed: async (drawn)=>{
            const texts = drawn.map(({ text })=>text);
            const started = performance.now();
            const { vectors } = await models.embed({
                model: '',
                texts,
                dimensions: undefined
            });
            return {
                totalMs: performance.now() - started,
                vectors
            };
        },
        close: ()=>models.close()
    };
}
/** In the order in which they are asked. */ const PEERS = [
    {
        engine: 'transformers',
        precision: 'f32'
    },
    {
        engine: 'transformers',
        precision: 'bf16'
    },
    {
        engine: 'onnxruntime',
        precision: 'f32',
        graphOf: onnxGraph
    },
    {
        engine: 'onnxruntime',
        precision: 'int8',
        graphOf: int8Graph
    },
    {
        engine: 'openvino',
        precision: 'f32',
        graphOf: onnxGraph
    },
    {
        engine: 'openvino',
        precision: 'bf16',
        graphOf: onnxGraph
    },
    {
        engine: 'openvino',
        precision: 'int8',
        graphOf: onnxGraph
    },
    {
        engine: 'ctranslate2',
        precision: 'f32'
    },
    {
        engine: 'ctranslate2',
        precision: 'int8'
    }
];
export const PEER_NAMES = [
    ...new Set(PEERS.map(({ engine })=>engine))
];
/** All of them are packages of one installation. */ export const arePeersInstalled = ()=>existsSync(TRANSFORMERS_MARK);
export const INSTALL_COMMAND = 'node bench/peers/install.mjs transformers';
async function onnxGraph(modelPath) {
    const graph = join(modelPath, 'vectors.onnx');
    if (!existsSync(graph)) {
        await output(PYTHON, [
            join(SOURCES, 'write_encoder_onnx.py'),
            modelPath,
            graph
        ]);
    }
    return graph;
}
async function int8Graph(modelPath) {
    const quantised = join(modelPath, 'vectors-int8.onnx');
    if (!existsSync(quantised)) {
        const graph = await onnxGraph(modelPath);
        await output(PYTHON, [
            join(SOURCES, 'write_int8_onnx.py'),
            graph,
            quantised
        ]);
    }
    return quantised;
}
/** A process for each engine and precision, which goes both ways. */ export async function startPeers(setting, engines, say) {
    const contestants = [];
    for (const peer of PEERS.filter(({ engine })=>engines.includes(engine))){
        const name = `${peer.engine} ${peer.precision}`;
        say(`starting ${name}`);
        try {
            const started = await start(setting, peer, name);
            contestants.push(...WAYS.map((way)=>contestant(started, peer, way)));
        } catch (error) {
            // The others go on without it.
            say(error.message);
        }
    }
    return contestants;
}
async function start({ modelPath, threads }, { engine, precision, graphOf }, name) {
    const path = await graphOf?.(modelPath) ?? modelPath;
    const program = join(SOURCES, 'embedding_peer.py');
    return PeerProcess.start(name, PYTHON, [
        program,
        engine,
        path,
        String(threads),
        precision
    ]);
}
function contestant(peer, { precision }, way) {
    return {
        name: peer.name,
        precision,
        way,
        embed: (drawn, isShown)=>{
            const texts = drawn.map(({ tokens })=>tokens);
            return peer.exchange({
                texts,
                way,
                isShown
            });
        },
        close: ()=>peer.close()
    };
}

//# sourceMappingURL=contestants.js.map