import { parseArgs } from "node:util";
import { TesseraError, visible } from "../../libs/ops/errors/src/index.js";
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** A flag that is unknown, missing or out of its bounds. */ export class UsageError extends Error {
}
/** The words after a command, checked flag by flag; every complaint names the flag. */ export class Flags {
    values;
    constructor(values){
        this.values = values;
    }
    /** @throws UsageError for a word that is no flag of the command */ static parse(words, kinds) {
        const options = Object.fromEntries(Object.entries(kinds).map(([name, kind])=>[
                name,
                {
                    type: kind === 'switch' ? 'boolean' : 'string',
                    multiple: kind === 'texts'
                }
            ]));
        try {
            return new Flags(parseArgs({
                args: [
                    ...words
                ],
                options,
                strict: true
            }).values);
        } catch (error) {
            throw new UsageError(error.message.split('\n')[0]);
        }
    }
    has(name) {
        return this.values[name] !== undefined;
    }
    text(name) {
        return this.values[name];
    }
    required(name) {
        return this.text(name) ?? fail(name, 'a value', 'nothing');
    }
    texts(name) {
        return this.values[name] ?? [];
    }
    oneOf(name, choices, fallback) {
        const value = this.text(name) ?? fallback;
        return choices.find((choice)=>choice === value) ?? fail(name, choices.join(', '), value);
    }
    /** Some of the choices, separated by commas. */ someOf(name, choices, fallback) {
        const given = this.text(name)?.split(',');
        return given?.map((value)=>choices.find((choice)=>choice === value) ?? fail(name, `of ${choices.join(', ')}`, value === '' ? 'nothing' : value)) ?? fallback;
    }
    integer(name, min, max) {
        const value = this.text(name);
        return value === undefined ? undefined : integer(name, value, min, max);
    }
    /** Integers separated by commas. */ integers(name, min, max) {
        return this.text(name)?.split(',').map((part)=>integer(name, part, min, max));
    }
    /** `key=value` pairs of a flag that may repeat. */ pairs(name) {
        return Object.fromEntries(this.texts(name).map((pair)=>{
            const at = pair.indexOf('=');
            if (at < 1) fail(name, 'key=value', pair);
            return [
                pair.slice(0, at),
                pair.slice(at + 1)
            ];
        }));
    }
}
export function fail(name, expected, got) {
    throw new UsageError(`--${name}: expected ${expected}, got ${got}`);
}
function integer(name, text, min, max) {
    const value = /^\s*-?\d{1,15}\s*$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    return fail(name, `an integer in ${min}..${max}`, text === '' ? 'nothing' : text);
}
/**
 * Runs a command: usage on --help; what is wrong with a flag and the usage's first line after a bad
 * one (exit 2), a typed line after a TesseraError (exit 1). Complaints go to the standard error, so
 * that what a program reads stays clean.
 */ export async function runCommand(usage, act) {
    const words = process.argv.slice(2);
    if (words.includes('--help')) {
        await print(usage);
        return;
    }
    try {
        await act(words);
    } catch (thrown) {
        process.exitCode = report(thrown, usage);
    }
}
function report(thrown, usage) {
    if (thrown instanceof UsageError) {
        const [first] = usage.split('\n');
        process.stderr.write(visible(`${thrown.message}\n${first}\n--help: all of it\n`));
        return EXIT_USAGE;
    }
    const error = TesseraError.from(thrown);
    const place = error.field === undefined ? '' : ` (${error.field})`;
    process.stderr.write(visible(`${error.code}${place}: ${error.message}\n`));
    if (error.code === 'INTERNAL' && thrown instanceof Error) {
        process.stderr.write(`${thrown.stack}\n`);
    }
    return EXIT_FAILED;
}
/** Writes to the standard output and waits until it is handed over, however long the text. */ export function print(text) {
    return new Promise((resolve, reject)=>{
        process.stdout.write(visible(`${text}\n`), (error)=>error ? reject(error) : resolve());
    });
}

//# sourceMappingURL=command.js.map