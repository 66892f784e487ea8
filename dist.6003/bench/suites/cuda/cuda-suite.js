import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { print } from "../../../tools/terminal/command.js";
import { BENCH_CACHE } from "../../models/random-model.js";
import { PYTHON } from "../../peers/peer-kinds.js";
import { buildNativeBench, output } from "../native-bench.js";
import { parseDocument, readDocuments } from "./card-documents.js";
import { cardRows } from "./card-rows.js";
import { CARD_SHAPES, CUDA_STAGES, planLines, planOf } from "./plan.js";
import { SCRIPT_CACHE, scriptOf } from "./script.js";
/** Where a driver shows its cards: on Linux, and on Linux under Windows. */ const CARD_FILES = [
    '/dev/nvidiactl',
    '/dev/dxg'
];
const OUTPUTS = join(BENCH_CACHE, 'card-results');
/**
 * The engine on a card: kernels, recalls against published figures, the constraint against other
 * methods. Without a card it prints what it would measure and fails with ENGINE_UNAVAILABLE.
 * `--script FILE` writes the plan's commands as a shell script for another machine, `--measured
 * FOLDER` takes what they have printed there.
 */ export function cudaSuite(context) {
    return measureOnCard(context, CARD_FILES);
}
/** The suite where a card shows itself by one of these files. */ export async function measureOnCard(context, cardFiles) {
    const { quick, flags } = context;
    const stages = flags.someOf('stage', CUDA_STAGES, CUDA_STAGES);
    const shapes = flags.someOf('shape', CARD_SHAPES, quick ? [
        'qwen3-1.7b'
    ] : CARD_SHAPES);
    const measured = flags.text('measured');
    if (measured !== undefined) return cardRows(readDocuments(measured));
    const script = flags.text('script');
    if (script !== undefined) {
        writeFileSync(script, scriptOf(planOf({
            quick,
            stages,
            shapes,
            cache: SCRIPT_CACHE
        })));
    }
    const tasks = planOf({
        quick,
        stages,
        shapes,
        cache: BENCH_CACHE
    });
    if (!cardFiles.some((path)=>existsSync(path))) await refuse(tasks);
    return runTasks(context, tasks);
}
/** @throws TesseraError ENGINE_UNAVAILABLE, always */ async function refuse(tasks) {
    await print(`A run measures, in this order:\n${planLines(tasks).join('\n')}`);
    throw new TesseraError('ENGINE_UNAVAILABLE', 'this machine has no NVIDIA card, so nothing was measured; --script FILE writes these ' + 'commands for one that has, --measured FOLDER takes what they have printed there', {
        field: 'suite cuda'
    });
}
/** Every task's output is kept as it comes; one that fails is named, and the others go on. */ async function runTasks({ say }, tasks) {
    const program = await buildNativeBench('card_bench', {
        isForCards: true
    });
    rmSync(OUTPUTS, {
        recursive: true,
        force: true
    });
    mkdirSync(OUTPUTS, {
        recursive: true
    });
    const failed = [];
    for (const { name, program: kind, words } of tasks){
        say(`${name}: ${kind} ${words.join(' ')}`);
        try {
            const text = await output(kind === 'python' ? PYTHON : program, words);
            parseDocument(text, name);
            writeFileSync(join(OUTPUTS, `${name}.json`), text);
        } catch (error) {
            say(`${name} failed: ${error.message}`);
            failed.push(name);
        }
    }
    return [
        ...cardRows(readDocuments(OUTPUTS)),
        ...failed.map((name)=>({
                name: `failed: ${name}`,
                value: 1,
                unit: 'task',
                bar: 0,
                bound: 'at-most'
            }))
    ];
}

//# sourceMappingURL=cuda-suite.js.map