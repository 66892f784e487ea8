import { SHAPES } from "../../models/model-shape.js";
import { aloneStage } from "./alone.js";
import { instructionsStage } from "./instructions.js";
import { kernelsStage } from "./kernels.js";
import { loadStage } from "./load.js";
import { longPromptStage } from "./long-prompt.js";
import { probeMachine } from "./machine.js";
import { peersStage } from "./peers.js";
import { sharingStage } from "./sharing.js";
import { togetherStage } from "./together.js";
import { vocabularyStage } from "./vocabulary.js";
/** In the order in which they run. */ const STAGES = {
    kernels: kernelsStage,
    alone: aloneStage,
    together: togetherStage,
    load: loadStage,
    'long-prompt': longPromptStage,
    sharing: sharingStage,
    vocabulary: vocabularyStage,
    instructions: instructionsStage,
    peers: peersStage
};
export const STAGE_NAMES = Object.keys(STAGES);
const SHAPE_NAMES = Object.keys(SHAPES);
const COMPUTE_TYPES = [
    'f32',
    'bf16',
    'w8a8'
];
/** The others take long, or are not there on a fresh clone. */ const LONG_STAGES = [
    'vocabulary',
    'instructions',
    'peers'
];
const QUICK_STAGES = STAGE_NAMES.filter((name)=>!LONG_STAGES.includes(name));
const QUICK_SHAPES = [
    '8x512'
];
/** The engine against the ceilings of the machine, under load, and beside other engines. */ export async function engineSuite(context) {
    const { quick, flags, say } = context;
    const stages = flags.someOf('stage', STAGE_NAMES, quick ? QUICK_STAGES : STAGE_NAMES);
    const shapes = flags.someOf('shape', SHAPE_NAMES, quick ? QUICK_SHAPES : SHAPE_NAMES);
    const computeTypes = flags.someOf('compute', COMPUTE_TYPES, COMPUTE_TYPES);
    say('roofline probe');
    const machine = await probeMachine(quick);
    const measurements = [
        ...machine.measurements
    ];
    for (const name of stages){
        say(`stage ${name}`);
        const stage = STAGES[name];
        measurements.push(...await stage({
            quick,
            flags,
            say,
            machine,
            shapes,
            computeTypes
        }));
    }
    return measurements;
}

//# sourceMappingURL=engine-suite.js.map