import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { output } from "../native-bench.js";
import { costs } from "./callgrind.js";
/** Differences of two counts leave the start, the loading and the end out. */ const RECALLS = {
    few: 1,
    many: 3
};
const OBJECT = /tessera\.node$/;
/** Folders of native/src that compute; the others decide, look up, hand over. */ const ARITHMETIC = [
    'device',
    'ops',
    'attention',
    'model',
    'tensor'
];
const LIBRARIES = 'libraries';
/**
 * Instructions of a recall outside the arithmetic, counted by callgrind: the same on every run and
 * on a machine with other work. Skipped where valgrind is not installed.
 */ export async function instructionsStage({ say }) {
    if (!await hasValgrind()) {
        say('valgrind is not installed: apt-get install valgrind');
        return [];
    }
    say(`callgrind: ${RECALLS.few} recall`);
    const few = await instructionsByFolder(RECALLS.few);
    say(`callgrind: ${RECALLS.many} recalls`);
    const many = await instructionsByFolder(RECALLS.many);
    const perRecall = [
        ...many
    ].map(([folder, count])=>{
        const difference = count - (few.get(folder) ?? 0);
        return [
            folder,
            difference / (RECALLS.many - RECALLS.few)
        ];
    });
    const rest = perRecall.filter(([folder])=>!ARITHMETIC.includes(folder));
    return [
        row('outside the arithmetic', sum(rest)),
        ...rest.filter(([, count])=>count > 0).map(([folder, count])=>row(folder, count))
    ];
}
function row(name, instructions) {
    return {
        name: `instructions of a recall, prompt 512, width 64: ${name}`,
        value: instructions / 1000,
        unit: 'thousand',
        bar: null
    };
}
function sum(rows) {
    return rows.reduce((total, [, count])=>total + Math.max(count, 0), 0);
}
async function hasValgrind() {
    try {
        await output('valgrind', [
            '--version'
        ]);
        return true;
    } catch  {
        return false;
    }
}
/** Instructions within the addon, by folder of native/src. */ async function instructionsByFolder(recalls) {
    const folder = await mkdtemp(join(tmpdir(), 'tessera-callgrind-'));
    try {
        const profile = join(folder, 'profile');
        const program = join(dirname(fileURLToPath(import.meta.url)), 'instructions-process.js');
        await output('valgrind', [
            ...[
                '--tool=callgrind',
                `--callgrind-out-file=${profile}`
            ],
            // Without a compiler at run time valgrind need not watch for code that changes.
            ...[
                process.execPath,
                '--jitless',
                program,
                String(recalls)
            ]
        ]);
        return await readProfile(profile);
    } finally{
        await rm(folder, {
            recursive: true,
            force: true
        });
    }
}
async function readProfile(path) {
    const lines = [];
    for await (const line of createInterface({
        input: createReadStream(path)
    }))lines.push(line);
    const found = new Map();
    for (const { place, instructions } of costs(lines)){
        if (!OBJECT.test(place.object)) continue;
        const folder = folderOf(place.file) ?? folderOf(place.functionFile) ?? LIBRARIES;
        found.set(folder, (found.get(folder) ?? 0) + instructions);
    }
    return found;
}
function folderOf(file) {
    return /native\/src\/(\w+)\//.exec(file)?.[1];
}

//# sourceMappingURL=instructions.js.map