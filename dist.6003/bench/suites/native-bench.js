import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot } from "../../libs/ops/config/src/index.js";
/** Kernels for cards need a compiler of their own, and a build of their own. */ const BUILD_FOLDERS = {
    host: join('build', 'native-bench'),
    cards: join('build', 'native-cuda-bench')
};
const OUTPUT_BYTES_MAX = 64 << 20;
/**
 * A program of native/bench, ready to run. Configures and builds only what changed; what the
 * compiler says is shown.
 */ export async function buildNativeBench(target, { isForCards } = {
    isForCards: false
}) {
    const folder = isForCards ? BUILD_FOLDERS.cards : BUILD_FOLDERS.host;
    const options = [
        '-DTESSERA_ADDON=OFF',
        '-DTESSERA_BENCH=ON'
    ];
    if (isForCards) options.push('-DTESSERA_CUDA=ON');
    await shown('cmake', [
        '-S',
        'native',
        '-B',
        folder,
        '-G',
        'Ninja',
        ...options
    ]);
    await shown('cmake', [
        '--build',
        folder,
        '--target',
        target,
        '-j',
        '2'
    ]);
    return join(repositoryRoot, folder, 'bench', ...isForCards ? [
        'card'
    ] : [], target);
}
/** Builds and runs a program of native/bench; its numbers. */ export async function nativeResults(target, words) {
    const text = await output(await buildNativeBench(target), words);
    return JSON.parse(text).results;
}
/** The standard output of a program; its standard error is shown when it fails. */ export async function output(program, words) {
    const options = {
        cwd: repositoryRoot,
        maxBuffer: OUTPUT_BYTES_MAX
    };
    const { stdout } = await promisify(execFile)(program, [
        ...words
    ], options);
    return stdout;
}
/** Runs a program with everything it says on the standard error. */ function shown(program, words) {
    return new Promise((resolve, reject)=>{
        const stdio = [
            'ignore',
            2,
            2
        ];
        const child = spawn(program, [
            ...words
        ], {
            cwd: repositoryRoot,
            stdio
        });
        child.on('error', reject);
        child.on('close', (status)=>{
            if (status === 0) resolve();
            else reject(new Error(`${program} ${words.join(' ')} ended with ${status}`));
        });
    });
}

//# sourceMappingURL=native-bench.js.map