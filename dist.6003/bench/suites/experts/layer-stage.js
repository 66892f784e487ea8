import os from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { nativeResults } from "../native-bench.js";
import { installCommand, isInstalled, LAYER_PEERS, startOwn, startPeer } from "./layer-peers.js";
import { medians, shapeRows } from "./layer-rows.js";
const ROWS = {
    quick: [
        1,
        16,
        64,
        576
    ],
    full: [
        1,
        16,
        64,
        576,
        2304
    ]
};
/** Of a routing, type and number of rows in a turn, at least. */ const TURN_SECONDS = {
    quick: 0.1,
    full: 0.25
};
/** With each peer and number of rows, after one that is not counted. */ const TURNS = {
    quick: 5,
    full: 9
};
/** Threads of the program that has just answered spin for a while: not in the other's turn. */ const SETTLE_MS = 250;
const ROUNDS = {
    quick: 2,
    full: 3
};
const QWEN3 = {
    name: 'Qwen3-30B-A3B',
    hidden: 2048,
    experts: 128,
    chosen: 8,
    size: 768
};
const SHAPES = [
    QWEN3,
    {
        name: 'OLMoE',
        hidden: 2048,
        experts: 64,
        chosen: 8,
        size: 1024
    },
    {
        name: 'Marco-Mini',
        hidden: 1024,
        experts: 256,
        chosen: 8,
        size: 768
    }
];
/** One layer of experts of each shape, beside the machine's ceilings and other engines. */ export async function layerStage({ quick, flags, say }) {
    const known = SHAPES.map(({ name })=>name);
    const wanted = flags.someOf('shape', known, quick ? [
        QWEN3.name
    ] : known);
    const threads = String(flags.text('threads') ?? os.availableParallelism());
    const form = quick ? 'quick' : 'full';
    const names = LAYER_PEERS.map(({ name })=>name);
    const asked = flags.someOf('peer', names, names);
    const peers = LAYER_PEERS.filter(({ name })=>asked.includes(name));
    const present = peers.filter(isInstalled);
    const measurements = [];
    for (const shape of SHAPES.filter(({ name })=>wanted.includes(name))){
        const own = [];
        for(let round = 0; round < ROUNDS[form]; ++round){
            say(`experts of ${shape.name}, round ${round}`);
            own.push(...await ownResults(shape, threads, form));
        }
        const turns = [];
        for (const peer of present){
            say(`experts of ${shape.name}, by turns with ${peer.name}`);
            turns.push(...await turnsWith(peer, shape, threads, form));
        }
        measurements.push(...shapeRows(shape.name, medians(own), turns));
    }
    const absent = peers.filter((peer)=>!isInstalled(peer));
    return [
        ...measurements,
        ...absent.map(absence)
    ];
}
function absence(peer) {
    const name = `absent: ${peer.name} (${installCommand(peer)})`;
    return {
        name,
        value: 1,
        unit: 'peer',
        bar: null
    };
}
const sizesOf = ({ hidden, experts, chosen, size })=>[
        hidden,
        experts,
        chosen,
        size
    ];
function ownResults(shape, threads, form) {
    const words = [
        '--threads',
        threads,
        '--rows',
        ROWS[form].join(','),
        '--shape'
    ];
    const quick = form === 'quick' ? [
        '--quick'
    ] : [];
    return nativeResults('experts_bench', [
        ...words,
        sizesOf(shape).join(','),
        ...quick
    ]);
}
/** Both have their weights in memory before the first turn, of one peer at a time. */ async function turnsWith(peer, shape, threads, form) {
    const seconds = String(TURN_SECONDS[form]);
    const programs = [];
    try {
        const own = await startOwn([
            '--threads',
            threads,
            '--shape',
            sizesOf(shape).join(','),
            '--turns',
            seconds
        ]);
        programs.push(own);
        const words = [
            threads,
            seconds,
            ...sizesOf(shape).map(String),
            String(Math.max(...ROWS[form]))
        ];
        const other = await startPeer(peer, words);
        programs.push(other);
        const turns = [];
        for (const rows of ROWS[form]){
            for(let turn = 0; turn <= TURNS[form]; turn += 1){
                await delay(SETTLE_MS);
                const ours = await own.times(rows);
                await delay(SETTLE_MS);
                const theirs = await other.times(rows);
                if (turn > 0) turns.push({
                    own: ours,
                    peer: theirs
                });
            }
        }
        return turns;
    } finally{
        await Promise.all(programs.map((program)=>program.close()));
    }
}

//# sourceMappingURL=layer-stage.js.map