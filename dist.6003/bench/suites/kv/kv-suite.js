import { fail } from "../../../tools/terminal/command.js";
import { SHAPES } from "../../models/model-shape.js";
import { probeMachine } from "../engine/machine.js";
import { nativeResults } from "../native-bench.js";
import { returningUsers } from "./returning.js";
import { traceFolder } from "./traces.js";
const SHAPE_NAMES = Object.keys(SHAPES);
const FULL = {
    shapes: SHAPE_NAMES,
    histories: [
        128,
        512,
        2048
    ],
    users: 5
};
const HISTORY_TOKENS_MAX = 2048;
const QUICK = {
    shapes: [
        '8x512'
    ],
    histories: [
        128,
        512
    ],
    users: 3
};
/** The savings of the pool for a user who comes back, and its own costs. */ export async function kvSuite(context) {
    const { quick, flags, say } = context;
    const settings = quick ? QUICK : FULL;
    const shapes = flags.text('shape')?.split(',').map(shapeNamed) ?? settings.shapes;
    say('roofline probe');
    const machine = await probeMachine(quick);
    const histories = flags.text('histories')?.split(',').map(tokensNamed) ?? settings.histories;
    const { users } = settings;
    const measurements = [];
    for (const name of shapes){
        const options = {
            shape: SHAPES[name],
            machine,
            histories,
            users,
            say
        };
        measurements.push(...await returningUsers(options));
    }
    say('the pool alone');
    return [
        ...measurements,
        ...await poolAlone(quick)
    ];
}
function tokensNamed(text) {
    const tokens = Number(text);
    const isMeant = Number.isInteger(tokens) && tokens >= 1 && tokens <= HISTORY_TOKENS_MAX;
    return isMeant ? tokens : fail('histories', `of 1..${HISTORY_TOKENS_MAX}`, text);
}
function shapeNamed(name) {
    return SHAPE_NAMES.find((known)=>known === name) ?? fail('shape', `of ${SHAPE_NAMES.join(', ')}`, name);
}
/** Calls, hops, restart and hit rates of native/bench/kv_bench. */ async function poolAlone(quick) {
    const words = [
        ...quick ? [
            '--quick'
        ] : [],
        '--data',
        traceFolder()
    ];
    return (await nativeResults('kv_bench', words)).map((result)=>({
            ...result,
            bar: null
        }));
}

//# sourceMappingURL=kv-suite.js.map