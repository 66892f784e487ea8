import { existsSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../libs/ops/config/src/index.js";
import { output } from "../suites/native-bench.js";
import { PeerProcess } from "./peer-process.js";
export const PEERS_HOME = join(repositoryRoot, '.cache', 'bench', 'peers');
export const PYTHON = join(PEERS_HOME, 'python', 'bin', 'python');
export const TRANSFORMERS_MARK = join(PEERS_HOME, 'transformers.installed');
/** The peers' own programs. */ export const SOURCES = join(repositoryRoot, 'bench', 'peers');
const LLAMA = join(PEERS_HOME, 'llama_peer');
export const LLAMA_BACKENDS = join(PEERS_HOME, 'llama-binaries');
export function installCommand({ install }) {
    return `node bench/peers/install.mjs ${install}`;
}
export function isInstalled({ mark }) {
    return existsSync(mark);
}
function common({ sidsPath, levels, codes, threads }) {
    return [
        sidsPath,
        ...[
            levels,
            codes,
            threads
        ].map(String)
    ];
}
function transformers(way, precision, bar) {
    const name = `transformers ${way} ${precision}`;
    const dtype = {
        f32: 'float32',
        bf16: 'bfloat16'
    }[precision];
    return {
        name,
        precision,
        install: 'transformers',
        mark: TRANSFORMERS_MARK,
        isSlow: way !== 'shared',
        ...bar === undefined ? {} : {
            bar
        },
        start: (setting)=>PeerProcess.start(name, PYTHON, [
                join(SOURCES, 'transformers_peer.py'),
                setting.modelPath,
                ...common(setting),
                way,
                dtype
            ])
    };
}
/** The weights of a folder as llama.cpp reads them, made where they are absent. */ export async function llamaWeights(modelPath, type) {
    const weights = join(modelPath, `${type}.gguf`);
    if (!existsSync(weights)) {
        await output(PYTHON, [
            join(SOURCES, 'write_gguf.py'),
            modelPath,
            weights,
            type
        ]);
    }
    return weights;
}
function llama(type, precision, bar) {
    const name = `llama.cpp ${type}`;
    return {
        name,
        precision,
        install: 'llama',
        mark: join(PEERS_HOME, 'llama.installed'),
        bar,
        start: async (setting)=>{
            const weights = await llamaWeights(setting.modelPath, type);
            return PeerProcess.start(name, LLAMA, [
                weights,
                ...common(setting),
                LLAMA_BACKENDS
            ]);
        }
    };
}
async function onnxGraph({ modelPath, promptTokens }) {
    const graph = join(modelPath, `prefill-${promptTokens}.onnx`);
    if (!existsSync(graph)) {
        const words = [
            join(SOURCES, 'write_onnx.py'),
            modelPath,
            String(promptTokens),
            graph
        ];
        await output(PYTHON, words);
    }
    return graph;
}
async function int8Graph(setting) {
    const graph = await onnxGraph(setting);
    const quantised = graph.replace(/\.onnx$/, '-int8.onnx');
    if (!existsSync(quantised)) {
        await output(PYTHON, [
            join(SOURCES, 'write_int8_onnx.py'),
            graph,
            quantised
        ]);
    }
    return quantised;
}
function onnxRuntime(precision) {
    const name = `ONNX Runtime ${precision}`;
    return {
        name,
        precision,
        install: 'onnxruntime',
        mark: join(PEERS_HOME, 'onnxruntime.installed'),
        start: async (setting)=>PeerProcess.start(name, process.execPath, [
                join(SOURCES, 'onnxruntime_peer.mjs'),
                join(PEERS_HOME, 'package.json'),
                await (precision === 'int8' ? int8Graph(setting) : onnxGraph(setting)),
                ...[
                    setting.codes,
                    setting.threads
                ].map(String)
            ])
    };
}
function openVino(precision) {
    const name = `OpenVINO ${precision}`;
    return {
        name,
        precision,
        install: 'openvino',
        mark: join(PEERS_HOME, 'openvino.installed'),
        start: async (setting)=>PeerProcess.start(name, PYTHON, [
                join(SOURCES, 'openvino_peer.py'),
                await onnxGraph(setting),
                ...[
                    setting.codes,
                    setting.threads
                ].map(String),
                precision
            ])
    };
}
function cTranslate2(type, precision) {
    const name = `CTranslate2 ${precision}`;
    return {
        name,
        precision,
        install: 'ctranslate2',
        mark: join(PEERS_HOME, 'ctranslate2.installed'),
        isSlow: true,
        start: ({ modelPath, levels, threads })=>PeerProcess.start(name, PYTHON, [
                join(SOURCES, 'ctranslate2_peer.py'),
                modelPath,
                join(modelPath, `ctranslate2-${type}`),
                ...[
                    levels,
                    threads
                ].map(String),
                type
            ])
    };
}
/** In the order in which they are asked. */ export const PEER_KINDS = [
    llama('bf16', 'bf16', 2.8),
    llama('q8_0', 'int8', 5),
    transformers('shared', 'bf16', 8),
    transformers('shared', 'f32'),
    openVino('bf16'),
    openVino('int8'),
    openVino('f32'),
    onnxRuntime('f32'),
    onnxRuntime('int8'),
    transformers('loop', 'f32'),
    transformers('loop', 'bf16'),
    cTranslate2('float32', 'f32'),
    cTranslate2('int8', 'int8'),
    transformers('generate', 'f32')
];

//# sourceMappingURL=peer-kinds.js.map