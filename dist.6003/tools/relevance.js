import os from "node:os";
import { resolve } from "node:path";
import { NativeEngine, queueCapacityFor } from "../libs/engine/src/index.js";
import { visible } from "../libs/ops/errors/src/index.js";
import { isCrossEncoder, labelTokens, loadRelevance, openCrossEncoder, Relevance } from "../libs/service/relevance/src/index.js";
import { Flags, fail, print, runCommand } from "./terminal/command.js";
import { readTexts } from "./terminal/json-file.js";
import { COMPUTE_TYPES } from "./terminal/model-flags.js";
import { table } from "./terminal/table.js";
const USAGE = `usage: npm run relevance -- --model DIR --query TEXT --documents FILE [flags]

Scores texts for a query with a language model or a cross-encoder (docs/integrate/relevance.md).
  --documents FILE     JSON: an array of texts
  --template FILE      read in place of relevance.json of the model folder
  --instruction TEXT   in place of the template's
  --too-long cut|refuse   of a document that does not fit (default cut)
  --adapter DIR        a LoRA adapter as PEFT saves it (docs/integrate/adapters.md)
  --dtype f32|bf16|w8a8   (default bf16)
  --threads N          (default: all cores)
  --json               [{index, score}], best first; equal scores in the order of the file; where a
                       document has no score {index, error} behind all others`;
const THREADS_MAX = 256;
const DOCUMENTS_MAX = 100_000;
const PROMPT_TOKENS_MAX = 32_768;
const IN_A_PASS = 64;
const AT_ONCE = 4096;
const CHUNK_TOKENS = 512;
const KV_BYTES = 2 ** 31;
const ADAPTER_BYTES = 2 ** 30;
const ADAPTER_LIMITS = {
    rankMax: 128,
    normMax: 1_000_000
};
const BUDGET_US = 86_400e6;
const PASS_US = 50_000;
await runCommand(USAGE, async (words)=>{
    const flags = Flags.parse(words, {
        model: 'text',
        query: 'text',
        documents: 'text',
        template: 'text',
        instruction: 'text',
        'too-long': 'text',
        adapter: 'text',
        dtype: 'text',
        threads: 'text',
        json: 'switch'
    });
    const ranked = rank(await answerOf(flags));
    if (flags.has('json')) return print(JSON.stringify(ranked));
    const columns = [
        {
            name: 'index',
            right: true
        },
        {
            name: 'score',
            right: true
        }
    ];
    const rows = ranked.map((row)=>[
            `${row.index}`,
            'error' in row ? row.error : `${row.score}`
        ]);
    return print(table(columns, rows));
});
async function answerOf(flags) {
    const documents = await readTexts('documents', flags.required('documents'));
    const modelPath = resolve(flags.required('model'));
    const query = flags.required('query');
    const isPairs = await isCrossEncoder(modelPath);
    const scorer = await (isPairs ? openClassifier(flags, modelPath) : openDecoder(flags, modelPath));
    try {
        return await scorer.relevance.score({
            query,
            instruction: flags.text('instruction'),
            documents,
            tooLong: flags.oneOf('too-long', [
                'cut',
                'refuse'
            ], 'cut'),
            failures: 'each',
            priority: 'normal',
            adapter: flags.text('adapter')
        }, {
            budgetUs: BUDGET_US
        });
    } finally{
        await scorer.close();
    }
}
async function openClassifier(flags, modelPath) {
    if (flags.text('template') !== undefined) {
        fail('template', 'none for a classifier of pairs', 'one');
    }
    const opened = await openCrossEncoder(modelPath, {
        computeType: flags.oneOf('dtype', COMPUTE_TYPES, 'bf16'),
        threadCount: threadsOf(flags),
        documentsMax: DOCUMENTS_MAX,
        pairTokensMax: PROMPT_TOKENS_MAX,
        tokensMax: PROMPT_TOKENS_MAX,
        textsMax: IN_A_PASS,
        timeTargetUs: PASS_US,
        queueTextsMax: DOCUMENTS_MAX
    });
    for (const note of opened.notes)process.stderr.write(visible(`${note}\n`));
    return opened;
}
async function openDecoder(flags, modelPath) {
    const parts = await loadRelevance(modelPath, flags.text('template'));
    const engine = await openEngine(flags, modelPath, labelTokens(parts));
    const limits = {
        documentsMax: DOCUMENTS_MAX,
        promptTokensMax: PROMPT_TOKENS_MAX,
        requestsAtOnce: AT_ONCE
    };
    try {
        const adapters = await namedAdapters(engine, flags.text('adapter'));
        return {
            relevance: new Relevance({
                engine,
                limits,
                adapters,
                ...parts
            }),
            close: ()=>engine.close()
        };
    } catch (error) {
        await engine.close();
        throw error;
    }
}
/** The adapter's name is its folder. */ async function namedAdapters(engine, folder) {
    if (folder === undefined) return new Map();
    return new Map([
        [
            folder,
            await engine.loadAdapter(folder, ADAPTER_LIMITS)
        ]
    ]);
}
function threadsOf(flags) {
    return flags.integer('threads', 1, THREADS_MAX) ?? os.availableParallelism();
}
function openEngine(flags, modelPath, headTokens) {
    return NativeEngine.open({
        modelPath,
        computeType: flags.oneOf('dtype', COMPUTE_TYPES, 'bf16'),
        activationScalesPath: '',
        threadCount: threadsOf(flags),
        queueCapacity: queueCapacityFor(AT_ONCE),
        batchRequestsMax: IN_A_PASS,
        batchRowsMax: CHUNK_TOKENS + IN_A_PASS,
        prefillChunkTokens: CHUNK_TOKENS,
        passTimeTargetUs: 0,
        batching: 'continuous',
        kvBytesMax: KV_BYTES,
        promptTokensMax: PROMPT_TOKENS_MAX,
        widthMax: 1,
        resultCountMax: 1,
        scoreItemsMax: 1,
        headTokens,
        adapterBytesMax: flags.text('adapter') === undefined ? 0 : ADAPTER_BYTES
    });
}
function rank({ outcomes }) {
    const rows = outcomes.map((outcome, index)=>'error' in outcome ? {
            index,
            error: outcome.error.message
        } : {
            index,
            score: outcome.score
        });
    const scoreOf = (row)=>'error' in row ? Number.NEGATIVE_INFINITY : row.score;
    return rows.sort((a, b)=>scoreOf(b) - scoreOf(a) || a.index - b.index);
}

//# sourceMappingURL=relevance.js.map