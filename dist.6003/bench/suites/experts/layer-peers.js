import { existsSync } from "node:fs";
import { join } from "node:path";
import { PEERS_HOME, PYTHON, SOURCES, TRANSFORMERS_MARK } from "../../peers/peer-kinds.js";
import { PeerProcess } from "../../peers/peer-process.js";
import { buildNativeBench } from "../native-bench.js";
const python = (program)=>(words)=>[
            PYTHON,
            join(SOURCES, program),
            ...words
        ];
export const LAYER_PEERS = [
    {
        name: 'transformers',
        install: 'transformers',
        mark: TRANSFORMERS_MARK,
        command: python('experts_peer.py')
    },
    {
        name: 'llama.cpp',
        install: 'llama',
        mark: join(PEERS_HOME, 'llama.installed'),
        command: (words)=>{
            const program = join(PEERS_HOME, 'experts_llama_peer');
            return [
                program,
                join(PEERS_HOME, 'llama-binaries'),
                ...words
            ];
        }
    },
    {
        name: 'kt-kernel',
        install: 'kt-kernel',
        mark: join(PEERS_HOME, 'kt-kernel.installed'),
        command: python('experts_kt_peer.py')
    },
    {
        name: 'vllm',
        install: 'vllm',
        mark: join(PEERS_HOME, 'vllm.installed'),
        command: (words)=>{
            const library = join(PEERS_HOME, 'vllm', 'vllm', '_C_AVX512.abi3.so');
            return python('experts_vllm_peer.py')([
                library,
                ...words
            ]);
        }
    }
];
export const isInstalled = ({ mark })=>existsSync(mark);
export const installCommand = ({ install })=>`node bench/peers/install.mjs ${install}`;
export function startPeer({ name, command }, words) {
    return started(name, command(words));
}
export async function startOwn(words) {
    return started('experts_bench', [
        await buildNativeBench('experts_bench'),
        ...words
    ]);
}
async function started(name, [program = '', ...words]) {
    const running = await PeerProcess.start(name, program, words);
    const times = async (rows)=>(await running.exchange({
            rows
        })).results;
    return {
        times,
        close: ()=>running.close()
    };
}

//# sourceMappingURL=layer-peers.js.map