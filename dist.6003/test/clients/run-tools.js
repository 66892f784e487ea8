/** Programs that build, install and run packages of callers. */ import { execFile, spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
/** A first run fetches compilers' and packages' files. */ export const BUILD_MS = 900_000;
/** True, with a message, where the tool is absent. */ export function skipWithout(tool, flag = '--version') {
    if (spawnSync(tool, [
        flag
    ], {
        stdio: 'ignore'
    }).status === 0) return false;
    console.log(`clients: skipped, ${tool} is absent`);
    return true;
}
/** Output of a command; rejects with all that it printed where it fails. */ export async function run(cwd, command, words, env = process.env) {
    const options = {
        cwd: resolve(cwd),
        env,
        maxBuffer: 1 << 26
    };
    const { stdout } = await promisify(execFile)(command, words, options).catch((thrown)=>{
        throw new Error(`${command} ${words.join(' ')}:\n${thrown.stdout}\n${thrown.stderr}`);
    });
    return stdout;
}
/** IDs that a program prints, a line each, before the first tab. */ export const printedIds = (text)=>stripVTControlCharacters(text).split('\n').filter((line)=>line.includes('\t')).map((line)=>line.split('\t')[0]);

//# sourceMappingURL=run-tools.js.map