import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SHAPES } from "../../models/model-shape.js";
import { randomAdapter } from "../../models/random-adapter.js";
import { quantile } from "../../result.js";
import { BenchEngine, withEngine } from "../engine/bench-engine.js";
import { closedLoop } from "../engine/in-flight.js";
const PROMPT_TOKENS = 64;
const WIDTH = 16;
const IN_FLIGHT = 32;
const RANK = 16;
const ADAPTERS = [
    1,
    8,
    32
];
/** Of the base model's throughput, with every request's adapter of another one. */ const SHARE_BAR = 0.7;
const LOAD_RANKS = [
    8,
    16,
    64,
    128
];
const ARENA_BYTES = 2 ** 31;
const ITEMS = 20_000;
const QUICK = {
    shapes: [
        '8x512'
    ],
    milliseconds: 2000,
    rounds: 2,
    loads: 3
};
const FULL = {
    shapes: Object.keys(SHAPES),
    milliseconds: 8000,
    rounds: 3,
    loads: 7
};
/** The costs of adapters for the engine: throughput, memory, and the time to load them. */ export async function throughput(context) {
    const settings = context.quick ? QUICK : FULL;
    const threadCount = Number(context.flags.text('threads') ?? 2);
    const folder = mkdtempSync(join(tmpdir(), 'tessera-adapters-'));
    const measurements = [];
    try {
        for (const name of settings.shapes){
            const opened = BenchEngine.open(SHAPES[name], 'bf16', {
                threadCount,
                batchRequestsMax: IN_FLIGHT,
                adapterBytesMax: ARENA_BYTES
            }, context.say, ITEMS);
            const measure = async (engine)=>{
                const part = new ShapeRun(engine, folder, context, settings);
                measurements.push(...await part.rates(), ...await part.loads());
            };
            await withEngine(opened, measure);
        }
    } finally{
        rmSync(folder, {
            recursive: true,
            force: true
        });
    }
    return measurements;
}
let ShapeRun = class ShapeRun {
    engine;
    folder;
    context;
    settings;
    seed = 0;
    constructor(engine, folder, context, settings){
        this.engine = engine;
        this.folder = folder;
        this.context = context;
        this.settings = settings;
    }
    get shape() {
        return this.engine.shape;
    }
    /**
   * Recalls per second with 32 in flight. A model with its adapter merged in costs what the base
   * costs, but requests of different ones share no pass: N of them, each with its part of the
   * requests in flight, take turns.
   */ async rates() {
        const adapters = [];
        const most = Math.max(...ADAPTERS);
        for(let seed = 0; seed < most; seed += 1)adapters.push(await this.load(RANK, seed));
        const { usedBytes } = this.engine.adapterArena();
        const cases = [
            {
                name: 'base',
                use: [],
                inFlight: IN_FLIGHT
            },
            ...ADAPTERS.map((count)=>({
                    name: `${count} adapters`,
                    use: adapters.slice(0, count),
                    inFlight: IN_FLIGHT
                })),
            ...ADAPTERS.slice(1).map((count)=>({
                    name: `${count} merged models, taking turns`,
                    use: [],
                    inFlight: IN_FLIGHT / count
                }))
        ];
        const best = new Map();
        // In rounds, so that what else the machine does meets all of them.
        for(let round = 0; round < this.settings.rounds; round += 1){
            for (const { name, use, inFlight } of cases){
                this.context.say(`${this.shape.name}: ${name}, round ${round + 1}`);
                const rate = await this.rate(use, inFlight);
                best.set(name, Math.max(rate, best.get(name) ?? 0));
            }
        }
        for (const adapter of adapters)this.engine.releaseAdapter(adapter);
        const base = best.get('base') ?? Number.NaN;
        const prefix = `${this.shape.name} bf16, prompt ${PROMPT_TOKENS}, width ${WIDTH}, rank ${RANK}`;
        const rows = cases.map(({ name })=>{
            const value = best.get(name) ?? Number.NaN;
            return {
                name: `${prefix}: ${name}, ${IN_FLIGHT} in flight`,
                value,
                unit: 'recalls/s',
                ratio: {
                    value: value / base,
                    to: 'base'
                },
                bar: name === `${most} adapters` ? SHARE_BAR : null
            };
        });
        const memory = `${this.shape.name}: memory of an adapter of rank ${RANK}`;
        return [
            ...rows,
            {
                name: memory,
                value: usedBytes / most / 2 ** 20,
                unit: 'MiB',
                bar: null
            }
        ];
    }
    rate(adapters, inFlight) {
        return closedLoop(inFlight, this.settings.milliseconds, (at)=>{
            const adapter = adapters[at % Math.max(adapters.length, 1)];
            this.seed += 1;
            return this.engine.recall({
                tokens: this.engine.prompt(PROMPT_TOKENS, this.seed),
                width: WIDTH,
                ...adapter === undefined ? {} : {
                    adapter
                }
            });
        });
    }
    /** Reading, checking and packing, files in the page cache. */ async loads() {
        const measurements = [];
        for (const rank of LOAD_RANKS){
            this.context.say(`${this.shape.name}: loading rank ${rank}`);
            const times = [];
            let bytes = 0;
            for(let at = 0; at < this.settings.loads; at += 1){
                const path = this.write(rank, at);
                const started = performance.now();
                const adapter = await this.engine.loadAdapter(path);
                times.push(performance.now() - started);
                bytes = adapter.bytes;
                this.engine.releaseAdapter(adapter);
            }
            const name = `${this.shape.name}: loading rank ${rank}, ${Math.round(bytes / 2 ** 20)} MiB`;
            measurements.push({
                name,
                value: quantile(times, 0.5),
                unit: 'ms',
                bar: null
            });
        }
        return measurements;
    }
    write(rank, seed) {
        const path = join(this.folder, `${this.shape.name}-${rank}-${seed}`);
        randomAdapter(path, this.shape, rank, seed);
        return path;
    }
    load(rank, seed) {
        return this.engine.loadAdapter(this.write(rank, seed));
    }
};

//# sourceMappingURL=throughput.js.map