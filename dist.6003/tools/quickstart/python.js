import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
const FOLDER = '.venv';
const REQUIREMENTS = join('trainer', 'requirements.txt');
/** PyTorch for processors: what pip takes otherwise is for cards, gigabytes of it. */ const TORCH_INDEX = 'https://download.pytorch.org/whl/cpu';
const PIP = [
    '-m',
    'pip',
    'install',
    '--quiet'
];
/**
 * A Python with what the trainer needs, in a virtual environment that is made once for a content of
 * its requirements.
 * @param run runs a command to its end
 */ export async function preparePython(run, tell) {
    const python = join(FOLDER, 'bin', 'python');
    const stamp = join(FOLDER, 'trainer-requirements');
    const requirements = readFileSync(REQUIREMENTS, 'utf8');
    const digest = createHash('sha256').update(requirements).digest('hex');
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return python;
    tell(`Python packages of ${REQUIREMENTS} into ${FOLDER}: some minutes, once`);
    if (!existsSync(python)) await run('python3', [
        '-m',
        'venv',
        FOLDER
    ]);
    await installPackages((words)=>run(python, [
            ...PIP,
            ...words
        ]), requirements, tell);
    writeFileSync(stamp, digest);
    return python;
}
/** Packages of the trainer; PyTorch from its own index where that answers, else from pip's. */ export async function installPackages(install, requirements, tell) {
    const torch = /^torch==.*$/m.exec(requirements)?.[0] ?? 'torch';
    try {
        await install([
            '--retries',
            '1',
            '--index-url',
            TORCH_INDEX,
            torch
        ]);
    } catch  {
        tell(`no PyTorch from ${TORCH_INDEX}: pip's own index has it, with gigabytes for cards`);
    }
    await install([
        '-r',
        REQUIREMENTS
    ]);
}

//# sourceMappingURL=python.js.map