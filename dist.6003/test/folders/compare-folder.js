import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EmbeddingModels } from "../../libs/service/embedding/src/index.js";
import { NativeEngine } from "../../libs/engine/src/index.js";
import { TesseraError } from "../../libs/ops/errors/src/index.js";
import { isCrossEncoder, openCrossEncoder } from "../../libs/service/relevance/src/index.js";
/** Of numbers of size 1, and of the largest beyond that; ours are summed in single precision. */ const TOLERANCE = 1e-4;
const THREADS = 1;
const POSITIONS = 4096;
const LABELS = 60;
const BUDGET_US = 60e6;
const LIMITS = {
    threadCount: THREADS,
    tokensMax: POSITIONS,
    textsMax: 64,
    timeTargetUs: 50_000,
    queueTextsMax: 1024,
    requestTextsMax: 1024,
    textBytesMax: 65_536
};
async function embedded(folder, { texts = [] }) {
    const specs = [
        {
            name: 'model',
            path: folder
        }
    ];
    const models = await EmbeddingModels.open({
        specs,
        computeType: 'f32',
        limits: LIMITS
    });
    try {
        const { vectors } = await models.embed({
            model: '',
            texts,
            dimensions: undefined
        });
        return {
            numbers: vectors,
            notes: models.notes.filter((note)=>!note.includes('prompts: '))
        };
    } finally{
        models.close();
    }
}
async function scored(folder, { pairs = [] }) {
    if (!await isCrossEncoder(folder)) {
        throw new TesseraError('MODEL_INVALID', `${folder}: expected a cross-encoder, got none`);
    }
    const options = {
        computeType: 'f32',
        documentsMax: 100,
        pairTokensMax: POSITIONS
    };
    const opened = await openCrossEncoder(folder, Object.assign({}, LIMITS, options));
    try {
        const numbers = [];
        for (const [query, document] of pairs){
            const { outcomes } = await opened.relevance.score({
                query,
                documents: [
                    document
                ],
                tooLong: 'cut',
                failures: 'whole',
                priority: 'normal'
            }, {
                budgetUs: BUDGET_US
            });
            // Of a pair that is too long a query stays whole here.
            const isCut = outcomes.some((of)=>'cutTokens' in of && of.cutTokens > 0);
            const scores = outcomes.map((of)=>'error' in of ? Number.NaN : of.score);
            numbers.push(isCut ? undefined : scores);
        }
        return {
            numbers,
            notes: opened.notes
        };
    } finally{
        opened.close();
    }
}
async function predicted(folder, { kind, prompts = [] }) {
    const labelTokens = Int32Array.from({
        length: LABELS
    }, (_, token)=>token);
    const engine = await NativeEngine.open({
        modelPath: kind === 'adapter' ? join(folder, 'base') : folder,
        computeType: 'f32',
        activationScalesPath: '',
        threadCount: THREADS,
        queueCapacity: 64,
        batchRequestsMax: 8,
        batchRowsMax: 64,
        prefillChunkTokens: 64,
        passTimeTargetUs: 10_000,
        batching: 'continuous',
        kvBytesMax: 16 << 20,
        promptTokensMax: 100,
        widthMax: 1,
        resultCountMax: 1,
        scoreItemsMax: 1,
        headTokens: labelTokens,
        adapterBytesMax: kind === 'adapter' ? 64 << 20 : 0
    });
    try {
        const limits = {
            rankMax: 128,
            normMax: 1e6
        };
        const adapter = kind === 'adapter' ? await engine.loadAdapter(join(folder, 'adapter'), limits) : undefined;
        const answers = engine.relevance(prompts.map((prompt)=>({
                adapter,
                promptTokens: Int32Array.from(prompt),
                labelTokens,
                siblingTokens: 0,
                scoreNorm: 'allowed',
                priority: 'normal',
                budgetUs: BUDGET_US
            })));
        const numbers = (await Promise.all(answers)).map(({ logits })=>logits.slice(0, LABELS));
        return {
            numbers,
            notes: []
        };
    } finally{
        await engine.close();
    }
}
const MAKERS = {
    embedding: embedded,
    reranker: scored,
    decoder: predicted,
    adapter: predicted
};
/** Opens a folder as the service does and compares what it makes of the recorded inputs. */ export async function compareFolder(folder) {
    const text = readFileSync(join(folder, 'expected.json'), 'utf8');
    const expected = JSON.parse(text);
    const about = (detail)=>expected.change === '' ? detail : `[${expected.change}] ${detail}`;
    try {
        const { numbers, notes } = await MAKERS[expected.kind](folder, expected);
        if (expected.error !== undefined) return {
            verdict: 'loaded',
            detail: about(expected.error)
        };
        const apart = distance(numbers, recordedOf(expected));
        if (apart <= TOLERANCE) return {
            verdict: 'equal',
            detail: about('')
        };
        const detail = about(`${apart.toExponential(1)} apart; ${notes.join('; ')}`);
        return {
            verdict: notes.length > 0 ? 'told' : 'wrong',
            detail
        };
    } catch (error) {
        const { message, code } = TesseraError.from(error);
        const isNamed = code !== 'INTERNAL' && /: (expected|no such file)/.test(message);
        return {
            verdict: isNamed ? 'refused' : 'nameless',
            detail: about(message)
        };
    }
}
function recordedOf({ vectors, scores, logits }) {
    const rows = vectors ?? logits?.map((of)=>of.slice(0, LABELS));
    return rows ?? (scores ?? []).map((score)=>[
            score
        ].flat());
}
/** The largest difference; infinite where the counts differ. */ function distance(ours, wanted) {
    if (ours.length !== wanted.length) return Number.POSITIVE_INFINITY;
    let most = 0;
    for (const [i, row] of ours.entries()){
        const other = wanted[i] ?? [];
        if (row === undefined) continue;
        if (row.length !== other.length) return Number.POSITIVE_INFINITY;
        for(let j = 0; j < row.length; j++){
            const [a, b] = [
                row[j] ?? Number.NaN,
                other[j] ?? Number.NaN
            ];
            const apart = Math.abs(a - b) / Math.max(1, Math.abs(b));
            most = Math.max(most, Number.isNaN(apart) ? Number.POSITIVE_INFINITY : apart);
        }
    }
    return most;
}

//# sourceMappingURL=compare-folder.js.map