import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { expecting, TesseraError } from "../../libs/ops/errors/src/index.js";
import { textOf } from "../../libs/ops/files/src/index.js";
const invalid = expecting('REQUEST_INVALID');
const MOONCAKE_BLOCK_TOKENS = 512;
/** Of a trace without contents: no two prompts have a block in common. */ const AZURE_BLOCK_TOKENS = 512;
const TOKENS_MAX = 2 ** 24;
const MILLISECONDS_MAX = 1e12;
const AZURE_HEADER = 'TIMESTAMP,ContextTokens,GeneratedTokens';
/** A whole number of a line. @throws TesseraError REQUEST_INVALID */ function whole(field, value, least, most) {
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) {
        return value;
    }
    throw invalid(field, `an integer in ${least}..${most}`, value);
}
/** A line of Mooncake's traces: JSON with the hashes of the prompt's blocks. */ function mooncakeLine([number, text]) {
    const at = (field)=>`line ${number}: ${field}`;
    let parsed;
    try {
        parsed = JSON.parse(text);
    } catch (error) {
        throw invalid(`line ${number}`, 'a JSON object', text, error);
    }
    if (typeof parsed !== 'object' || parsed === null) {
        throw invalid(`line ${number}`, 'a JSON object', parsed);
    }
    const { timestamp, input_length, output_length, hash_ids } = parsed;
    const promptTokens = whole(at('input_length'), input_length, 1, TOKENS_MAX);
    const most = Math.ceil(promptTokens / MOONCAKE_BLOCK_TOKENS);
    if (!Array.isArray(hash_ids) || hash_ids.length !== most) {
        const got = Array.isArray(hash_ids) ? `${hash_ids.length}` : hash_ids;
        throw invalid(at('hash_ids'), `${most} for ${promptTokens} tokens`, got);
    }
    return {
        atMs: whole(at('timestamp'), timestamp, 0, MILLISECONDS_MAX),
        promptTokens,
        steps: whole(at('output_length'), output_length, 0, TOKENS_MAX),
        blocks: hash_ids.map((hash, index)=>whole(at(`hash_ids[${index}]`), hash, 0, Number.MAX_SAFE_INTEGER))
    };
}
/** A line of Azure's traces: time, tokens in, tokens out. Blocks get numbers of their own. */ function azureLine([number, text], firstBlock) {
    const at = (field)=>`line ${number}: ${field}`;
    const parts = text.split(',');
    const [time = '', context = '', generated = ''] = parts;
    if (parts.length !== 3) throw invalid(`line ${number}`, '3 fields', `${parts.length}`);
    const atMs = Date.parse(`${time.trim().slice(0, 23).replace(' ', 'T')}Z`);
    if (Number.isNaN(atMs)) throw invalid(at('TIMESTAMP'), 'YYYY-MM-DD HH:MM:SS.sss', time);
    const promptTokens = whole(at('ContextTokens'), numberOf(context), 1, TOKENS_MAX);
    const count = Math.ceil(promptTokens / AZURE_BLOCK_TOKENS);
    return {
        atMs,
        promptTokens,
        steps: whole(at('GeneratedTokens'), numberOf(generated), 0, TOKENS_MAX),
        blocks: Array.from({
            length: count
        }, (_, index)=>firstBlock + index)
    };
}
const numberOf = (text)=>/^\s*\d+\s*$/.test(text) ? Number(text) : text;
/**
 * Conversations have no names in a trace. The first block is the same for all, the second is the
 * conversation's own; a prompt that ends before it is a user of its own.
 */ const userOf = (blocks, line)=>blocks.length > 1 ? `conversation-${blocks[1]}` : `line-${line}`;
/**
 * Arrivals of a trace in Mooncake's format (JSON lines) or Azure's (CSV), told by the first line.
 * @throws TesseraError REQUEST_INVALID with the line
 */ export function parseTrace(text, name) {
    const lines = text.split('\n').map((line, index)=>[
            index + 1,
            line.trim()
        ]).filter(([, line])=>line !== '');
    const [first] = lines;
    if (first === undefined) throw invalid('line 1', 'a request', 'an empty file');
    const isAzure = first[1].replace(/^\uFEFF/, '') === AZURE_HEADER;
    if (!isAzure && !first[1].startsWith('{')) {
        throw invalid('line 1', `a JSON object, or ${AZURE_HEADER}`, first[1]);
    }
    let blocks = 0;
    let lastMs = Number.NEGATIVE_INFINITY;
    let firstMs;
    const arrivals = (isAzure ? lines.slice(1) : lines).map((line)=>{
        const read = isAzure ? azureLine(line, blocks) : mooncakeLine(line);
        blocks += read.blocks.length;
        if (read.atMs < lastMs) {
            throw invalid(`line ${line[0]}: timestamp`, `at least ${lastMs} ms`, read.atMs);
        }
        lastMs = read.atMs;
        firstMs ??= read.atMs;
        const { promptTokens, steps } = read;
        const user = isAzure ? `line-${line[0]}` : userOf(read.blocks, line[0]);
        const wholeBlocks = read.blocks.slice(0, Math.floor(promptTokens / MOONCAKE_BLOCK_TOKENS));
        const atUs = (read.atMs - firstMs) * 1000;
        return {
            atUs,
            kind: 'recall',
            user,
            promptTokens,
            steps,
            blocks: wholeBlocks
        };
    });
    if (arrivals.length === 0) throw invalid('line 2', 'a request', 'nothing');
    return {
        name,
        arrivals,
        blockTokens: MOONCAKE_BLOCK_TOKENS
    };
}
/** @throws TesseraError REQUEST_INVALID, IO_FAILED */ export async function readTrace(path) {
    let bytes;
    try {
        bytes = await readFile(path);
    } catch (error) {
        throw expecting('IO_FAILED')('--trace', 'a file that can be read', path, error);
    }
    try {
        return parseTrace(textOf(basename(path), bytes, 'REQUEST_INVALID'), basename(path));
    } catch (error) {
        const { code, message, field } = TesseraError.from(error);
        throw new TesseraError(code, `${path}: ${message}`, {
            field,
            cause: error
        });
    }
}
/** The same requests, so many times as fast. */ export function spedUp({ arrivals, blockTokens, name }, rate) {
    const faster = arrivals.map(({ atUs, kind, user, promptTokens, steps, blocks })=>({
            atUs: atUs / rate,
            kind,
            user,
            promptTokens,
            steps,
            blocks
        }));
    return {
        name,
        blockTokens,
        arrivals: faster
    };
}

//# sourceMappingURL=trace.js.map