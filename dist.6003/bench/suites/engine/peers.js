import { setTimeout as pause } from "node:timers/promises";
import { fail } from "../../../tools/terminal/command.js";
import { LEVEL_CODES, LEVELS, SHAPES } from "../../models/model-shape.js";
import { randomCatalogue, randomPrompt } from "../../models/random-catalogue.js";
import { randomModel } from "../../models/random-model.js";
import { installCommand, isInstalled, PEER_KINDS } from "../../peers/peer-kinds.js";
import { quantile } from "../../result.js";
import { logitError, pathAgreement } from "./agreement.js";
import { BenchEngine, ITEMS } from "./bench-engine.js";
import { recallFloors } from "./floor.js";
const PROMPT_TOKENS = 512;
const WIDTH = 64;
const FIRST_SEED = 500;
/** Prompts that every engine answers in turn, after some of the same shape that are not counted. */ const ROUNDS = {
    quick: 5,
    full: 9
};
const WARM_UP_ROUNDS = 2;
/** Before each question: threads of the engine asked before may still spin. */ const REST_MS = 50;
/** References of a peer's arithmetic; the first that is measured counts. */ const MATCHES = {
    f32: [
        'f32'
    ],
    bf16: [
        'bf16'
    ],
    int8: [
        'w8a8',
        'bf16'
    ]
};
const PRECISIONS = [
    'f32',
    'bf16',
    'int8'
];
const BAR_SHAPE = 'qwen3-0.6b';
/** This engine and others on the same weights and prompts, taking turns. */ export async function peersStage(context) {
    const kinds = chosenKinds(context);
    const measurements = [];
    for (const shape of context.shapes){
        const { sids, sidsPath } = await randomCatalogue(ITEMS, context.say);
        const contestants = await start(context, shape, sidsPath, kinds);
        try {
            await takeTurns(context, sids, contestants);
            measurements.push(...rows(shape, contestants));
        } finally{
            for (const { peer } of contestants)await peer.close();
        }
    }
    return measurements;
}
function chosenKinds({ flags, say }) {
    const names = flags.text('peer')?.split(',');
    const known = PEER_KINDS.map(({ name })=>name);
    for (const name of names ?? []){
        if (!known.includes(name)) fail('peer', `of ${known.join(', ')}`, name);
    }
    const wanted = PEER_KINDS.filter((kind)=>names?.includes(kind.name) ?? true);
    for (const kind of wanted.filter((one)=>!isInstalled(one))){
        say(`${kind.name} is not installed: ${installCommand(kind)}`);
    }
    return wanted.filter(isInstalled);
}
async function start({ flags, machine, computeTypes, say }, shape, sidsPath, kinds) {
    const setting = {
        modelPath: randomModel(SHAPES[shape], say),
        sidsPath,
        levels: LEVELS,
        codes: LEVEL_CODES,
        threads: machine.threads,
        promptTokens: PROMPT_TOKENS
    };
    const contestants = [];
    try {
        for (const computeType of computeTypes){
            const options = {
                threadCount: machine.threads
            };
            const engine = await BenchEngine.open(SHAPES[shape], computeType, options, say);
            const one = {
                promptTokens: PROMPT_TOKENS,
                width: WIDTH
            };
            const floors = recallFloors(engine, one, machine.peaks(computeType));
            contestants.push({
                peer: new Ourselves(engine),
                answers: [],
                floors
            });
        }
        for (const kind of kinds){
            if (kind.isSlow === true && shape === BAR_SHAPE && !flags.has('peer')) continue;
            say(`${shape}: starting ${kind.name}`);
            const peer = await orNothing(kind.start(setting), say);
            if (peer !== undefined) contestants.push({
                peer,
                kind,
                answers: []
            });
        }
        return contestants;
    } catch (error) {
        for (const { peer } of contestants)await peer.close();
        throw error;
    }
}
async function takeTurns({ quick, say }, sids, contestants) {
    const rounds = WARM_UP_ROUNDS + ROUNDS[quick ? 'quick' : 'full'];
    for(let round = 0; round < rounds; round += 1){
        const tokens = randomPrompt(sids, PROMPT_TOKENS, FIRST_SEED + round);
        for (const { peer, kind, answers } of contestants){
            if (kind?.isSlow === true && round !== WARM_UP_ROUNDS) continue;
            say(`round ${round}: ${peer.name}`);
            await pause(REST_MS);
            const asked = peer.ask({
                width: WIDTH,
                tokens
            });
            const answer = kind === undefined ? await asked : await orNothing(asked, say);
            if (round >= WARM_UP_ROUNDS && answer !== undefined) answers.push(answer);
        }
    }
}
/** A peer that fails is named and left out; the others go on. */ async function orNothing(made, say) {
    try {
        return await made;
    } catch (error) {
        say(error.message);
        return undefined;
    }
}
function rows(shape, contestants) {
    const prefix = `${shape}, prompt ${PROMPT_TOKENS}, width ${WIDTH}`;
    const reference = contestants.find(({ kind })=>kind?.precision === 'f32' && kind.isSlow !== true) ?? contestants[0];
    return [
        ...contestants.flatMap((one)=>[
                ...timeRows(`${prefix}: ${one.peer.name}`, shape, one, ours(contestants, one)),
                ...agreementRows(`${prefix}: ${one.peer.name}`, one, reference)
            ]),
        ...PRECISIONS.flatMap((precision)=>fastestRows(prefix, shape, contestants, precision))
    ];
}
/** The peer that is fastest at a part of the work, by the precision that it is compared in. */ function fastestRows(prefix, shape, contestants, precision) {
    const peers = contestants.filter(({ kind })=>kind?.precision === precision);
    return FASTEST.flatMap(({ key, name, bar })=>{
        const timed = peers.map((one)=>({
                one,
                value: median(one.answers, key) ?? Number.POSITIVE_INFINITY
            })).sort((a, b)=>a.value - b.value);
        const [first] = timed;
        const own = first && ours(contestants, first.one);
        const base = own && median(own.answers, key);
        if (first === undefined || base === undefined || !Number.isFinite(first.value)) return [];
        const label = `${prefix}: fastest peer's ${name} in ${precision}, ${first.one.peer.name}`;
        const ratio = {
            value: first.value / base,
            to: own?.peer.name ?? ''
        };
        const ownBar = shape === BAR_SHAPE ? bar : null;
        const row = {
            name: label,
            value: first.value,
            unit: 'ms'
        };
        return [
            {
                ...row,
                ratio,
                bar: ownBar
            },
            ...floorRows(row, key, own?.floors)
        ];
    });
}
function ours(contestants, { kind }) {
    if (kind === undefined) return undefined;
    const own = contestants.filter((one)=>one.kind === undefined);
    return MATCHES[kind.precision].map((type)=>own.find(({ peer })=>peer.name === ourName(type))).find((one)=>one !== undefined);
}
const TIMES = [
    {
        key: 'prefillMs',
        name: 'prefill'
    },
    {
        key: 'decodeMs',
        name: 'decode'
    },
    {
        key: 'totalMs',
        name: 'recall'
    }
];
function timeRows(prefix, shape, { kind, answers }, own) {
    return TIMES.flatMap(({ key, name })=>{
        const value = median(answers, key);
        if (value === undefined) return [];
        const base = own === undefined ? undefined : median(own.answers, key);
        const row = {
            name: `${prefix}: ${name}`,
            value,
            unit: 'ms'
        };
        if (own === undefined || base === undefined) return [
            {
                ...row,
                bar: null
            }
        ];
        const bar = shape === BAR_SHAPE ? kind?.bar ?? null : null;
        const timed = {
            ...row,
            ratio: {
                value: value / base,
                to: own.peer.name
            },
            bar
        };
        return [
            timed,
            ...bar === null ? [] : floorRows(row, key, own.floors)
        ];
    });
}
/** Ratio of an engine that takes no longer than the floor: the upper bound of any engine. */ function floorRows({ name, value }, key, floors) {
    if (floors === undefined) return [];
    const { prefill, decode, head } = floors;
    const floor = {
        prefillMs: prefill,
        decodeMs: decode,
        totalMs: prefill + decode + head
    }[key];
    const ratio = {
        value: value / floor,
        to: 'floor'
    };
    return [
        {
            name: `${name}, against the floor`,
            value: floor,
            unit: 'ms',
            ratio,
            bar: null
        }
    ];
}
/** Parts of a recall, with how many times faster than the best of the field they are to be. */ const FASTEST = [
    {
        key: 'prefillMs',
        name: 'prefill',
        bar: 1.1
    },
    {
        key: 'decodeMs',
        name: 'steps',
        bar: 2
    }
];
function median(answers, key) {
    const values = answers.map((answer)=>answer[key]).filter((value)=>value !== undefined);
    return values.length === 0 ? undefined : quantile(values, 0.5);
}
/** Against the first peer that computes in F32, or else this service's own F32. */ function agreementRows(prefix, one, reference) {
    if (reference === undefined || one === reference) return [];
    const pairs = one.answers.flatMap((answer, at)=>{
        const wanted = reference.answers[at];
        return wanted === undefined ? [] : [
            [
                answer,
                wanted
            ]
        ];
    });
    const found = pairs.map(([answer, wanted])=>pathAgreement(answer, wanted)).filter((agreement)=>agreement !== undefined);
    const errors = pairs.map(([answer, wanted])=>logitError(answer, wanted)).filter((error)=>error !== undefined);
    const row = (name, value, unit)=>({
            name: `${prefix}: ${name}`,
            value,
            unit,
            bar: null
        });
    const overlaps = found.map(({ overlap })=>overlap);
    return [
        ...found.length === 0 ? [] : [
            row('first 50 as in F32', 100 * sum(overlaps) / found.length, '%'),
            row('score error to F32', Math.max(...found.map(({ scoreError })=>scoreError)), 'nats')
        ],
        ...errors.length === 0 || found.length > 0 ? [] : [
            row('first level, error to F32', Math.max(...errors), 'nats')
        ]
    ];
}
function sum(values) {
    return values.reduce((total, value)=>total + value, 0);
}
function ourName(computeType) {
    return `Tessera ${computeType}`;
}
/** This service's engine as one of the contestants. */ let Ourselves = class Ourselves {
    engine;
    constructor(engine){
        this.engine = engine;
    }
    get name() {
        return ourName(this.engine.computeType);
    }
    async ask({ width, tokens }) {
        const started = performance.now();
        const { timings, paths } = await this.engine.recall({
            tokens,
            width
        });
        const totalMs = performance.now() - started;
        return {
            prefillMs: timings.prefillUs / 1000,
            decodeMs: timings.decodeUs / 1000,
            totalMs,
            paths
        };
    }
    close() {
        return this.engine.close();
    }
};

//# sourceMappingURL=peers.js.map