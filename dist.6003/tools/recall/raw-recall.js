import os from "node:os";
import { parseSource, prepareCatalogue } from "../../libs/service/catalogue/src/index.js";
import { loadConfig } from "../../libs/ops/config/src/index.js";
import { NativeEngine, queueCapacityFor } from "../../libs/engine/src/index.js";
import { TesseraError } from "../../libs/ops/errors/src/index.js";
import { certificateOf, rowBudgetFor } from "../../libs/service/recall/src/index.js";
import { fail, print } from "../terminal/command.js";
import { readJson } from "../terminal/json-file.js";
import { ProgressLine } from "../terminal/progress.js";
import { readSearch } from "../terminal/search-flags.js";
import { table } from "../terminal/table.js";
import { EXPLORE_FLAGS, VALUE_FLAGS } from "../terminal/value-flags.js";
import { itemsOfSids } from "./items-of-sids.js";
import { searchReport, writeReports } from "./search-report.js";
/** The engine's own limits (native/src/engine/options.h). */ const WIDTH_MAX = 4096;
const ITEMS_MAX = 65_536;
const PROMPT_TOKENS_MAX = 1 << 20;
const THREADS_MAX = 256;
const TOKEN_MAX = 0x7fff_ffff;
const TERMINAL_TOKENS_MAX = 8;
const IN_FLIGHT_MAX = 16;
const PREFILL_CHUNK_TOKENS = 512;
const BUDGET_US = 3600e6;
const DEFAULT_RESULTS = 10;
/**
 * Drives the engine by token ids, with neither tokenizer nor template: one JSON array of paths for
 * --prompt-tokens, an array of such arrays for --prompts.
 */ export async function rawRecall(flags) {
    const { answers, reports } = await rawAnswers(flags);
    await writeReports(flags.text('report'), reports);
    if (flags.has('json')) {
        await print(JSON.stringify(flags.has('prompts') ? answers : answers[0]));
        return;
    }
    for (const paths of answers)await print(`${pathTable(paths)}\n`);
}
/** Paths for each prompt, best first. */ export async function rawAnswers(flags) {
    const options = await readOptions(flags);
    const progress = new ProgressLine();
    const found = await answerAll(options, progress);
    progress.end();
    return {
        answers: found.map(({ paths })=>paths),
        reports: found.map(({ report })=>report)
    };
}
function searchMembers(flags) {
    const { recall } = loadConfig().config;
    const { search, rowBudget } = readSearch(flags, recall.search);
    const results = flags.integer('results', 1, ITEMS_MAX) ?? DEFAULT_RESULTS;
    const budget = rowBudget ?? rowBudgetFor(results, recall.rowBudget);
    return {
        results,
        rowBudget: search === 'beam' ? 0 : budget,
        widths: flags.integers('widths', 1, WIDTH_MAX) ?? [
            DEFAULT_RESULTS
        ]
    };
}
async function readOptions(flags) {
    const worded = Object.keys({
        ...VALUE_FLAGS,
        ...EXPLORE_FLAGS
    }).find((name)=>flags.has(name));
    if (worded !== undefined) fail(worded, 'none with token ids', 'one');
    if (flags.has('prompts') === flags.has('prompt-tokens')) {
        fail('prompt-tokens', 'exactly one of --prompt-tokens and --prompts', 'none or both');
    }
    const tokens = flags.integers('prompt-tokens', 0, TOKEN_MAX);
    const prompts = tokens === undefined ? await readPrompts(flags.required('prompts')) : [
        tokens
    ];
    if (!flags.has('level-token-base')) fail('level-token-base', 'a base per level', 'nothing');
    return {
        modelPath: flags.required('model'),
        cataloguePaths: flags.texts('catalogue'),
        titlesPath: flags.text('titles') ?? '',
        prompts,
        levelTokenBase: flags.integers('level-token-base', 0, TOKEN_MAX) ?? [],
        terminalTokens: flags.integers('terminal-tokens', 0, TOKEN_MAX) ?? [],
        ...searchMembers(flags),
        itemsPerSid: flags.integer('items-per-sid', 1, ITEMS_MAX) ?? ITEMS_MAX,
        scoreNorm: flags.oneOf('score', [
            'full',
            'level',
            'allowed'
        ], 'full'),
        computeType: flags.oneOf('dtype', [
            'f32',
            'bf16',
            'w8a8'
        ], 'bf16'),
        activationScalesPath: flags.text('activation-scales') ?? '',
        threadCount: flags.integer('threads', 1, THREADS_MAX) ?? os.availableParallelism()
    };
}
/** Prompts as token ids: an array of arrays. */ export async function readPrompts(path) {
    const document = await readJson('prompts', path);
    const isToken = (value)=>Number.isInteger(value) && value >= 0 && value <= TOKEN_MAX;
    const good = Array.isArray(document) && document.every((prompt)=>Array.isArray(prompt) && prompt.length > 0 && prompt.every(isToken));
    return good ? document : fail('prompts', 'an array of token-id arrays', path);
}
async function answerAll(options, progress) {
    const { catalogue } = await prepareCatalogue({
        sources: options.cataloguePaths.map(parseSource),
        titlesPath: options.titlesPath,
        cacheDir: loadConfig().config.catalogue.cachePath,
        onProgress: progress.update
    });
    let engine;
    try {
        const tokens = levelTokens(options, catalogue);
        engine = await NativeEngine.open({
            modelPath: options.modelPath,
            computeType: options.computeType,
            activationScalesPath: options.activationScalesPath,
            threadCount: options.threadCount,
            queueCapacity: queueCapacityFor(IN_FLIGHT_MAX),
            batchRequestsMax: IN_FLIGHT_MAX,
            batchRowsMax: WIDTH_MAX,
            prefillChunkTokens: PREFILL_CHUNK_TOKENS,
            passTimeTargetUs: 0,
            batching: 'continuous',
            kvBytesMax: 2 ** 30,
            promptTokensMax: PROMPT_TOKENS_MAX,
            widthMax: WIDTH_MAX,
            resultCountMax: ITEMS_MAX,
            scoreItemsMax: 64
        });
        const binding = engine.bind(catalogue, tokens);
        const found = await inFlight(options, engine, binding, progress);
        return withItems(found, options, catalogue);
    } finally{
        await engine?.close();
        catalogue.close();
    }
}
function levelTokens({ levelTokenBase, terminalTokens }, catalogue) {
    const { depth, levelSizes } = catalogue.summary;
    if (levelTokenBase.length < depth) {
        fail('level-token-base', `${depth} bases, one per level`, `${levelTokenBase.length}`);
    }
    if (terminalTokens.length > TERMINAL_TOKENS_MAX) {
        fail('terminal-tokens', `at most ${TERMINAL_TOKENS_MAX}`, `${terminalTokens.length}`);
    }
    const levels = levelSizes.map((size, level)=>Int32Array.from({
            length: size
        }, (_, code)=>(levelTokenBase[level] ?? 0) + code));
    return {
        levels,
        terminal: terminalTokens
    };
}
/** Answers all prompts, a few at a time, in their order. */ async function inFlight(options, engine, binding, progress) {
    const answers = new Array(options.prompts.length);
    let next = 0;
    let done = 0;
    const serve = async ()=>{
        for(let at = next++; at < options.prompts.length; at = next++){
            answers[at] = await answerOne(options, engine, binding, at);
            done += 1;
            progress.update('prompts', done, options.prompts.length);
        }
    };
    await Promise.all(Array.from({
        length: IN_FLIGHT_MAX
    }, serve));
    return answers;
}
async function answerOne(options, engine, binding, at) {
    const { widths, rowBudget, results, scoreNorm } = options;
    const promptTokens = Int32Array.from(options.prompts[at] ?? []);
    try {
        const answer = await engine.recall({
            binding,
            promptTokens,
            widths,
            rowBudget,
            // One of each SID makes the best items those of the best SIDs.
            resultCount: results,
            itemsPerSid: 1,
            scoreNorm,
            priority: 'normal',
            budgetUs: BUDGET_US
        });
        const search = rowBudget > 0 ? 'certified' : 'beam';
        const report = searchReport(certificateOf(search, answer), answer.passes);
        return {
            paths: pathsOf(answer),
            report
        };
    } catch (thrown) {
        if (options.prompts.length === 1) throw thrown;
        const { code, message, field } = TesseraError.from(thrown);
        throw new TesseraError(code, `prompts[${at}]: ${message}`, {
            field,
            cause: thrown
        });
    }
}
/** Of each path all items that may be. */ function withItems(found, { itemsPerSid }, catalogue) {
    if (itemsPerSid === 1) return [
        ...found
    ];
    const sids = found.flatMap(({ paths })=>paths.map(({ sid })=>sid));
    const items = itemsOfSids(catalogue, sids);
    const whole = (path)=>{
        const own = items.get(path.sid.join()) ?? path.items;
        return {
            ...path,
            items: own.slice(0, itemsPerSid)
        };
    };
    return found.map(({ paths, report })=>({
            paths: paths.map(whole),
            report
        }));
}
function pathsOf(answer) {
    const items = answer.paths.map(()=>[]);
    for (const { path, itemId } of answer.items)items[path]?.push(itemId);
    return answer.paths.map(({ sid, score }, path)=>({
            sid,
            score,
            items: items[path] ?? []
        }));
}
function pathTable(paths) {
    return table([
        {
            name: 'rank',
            right: true
        },
        {
            name: 'SID'
        },
        {
            name: 'score',
            right: true
        },
        {
            name: 'items'
        }
    ], paths.map(({ sid, score, items }, index)=>[
            String(index + 1),
            sid.join(','),
            score.toFixed(6),
            items.join(', ')
        ]));
}

//# sourceMappingURL=raw-recall.js.map