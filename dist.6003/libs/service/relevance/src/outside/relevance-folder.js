import { join } from "node:path";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { readRegular, refuseNoModel, textOf } from "../../../../ops/files/src/index.js";
import { loadTokenizer } from "../../../prompt/src/index.js";
import { labelPaths } from "../domain/label-paths.js";
import { parseRelevance } from "../domain/parse-relevance.js";
import { missingToken, QWEN3_RERANKER } from "../domain/qwen3-reranker.js";
const FILE = 'relevance.json';
const CONFIG = 'config.json';
const FILE_BYTES_MAX = 16 << 20;
const CODE = 'PROMPT_TEMPLATE_INVALID';
/**
 * Tokenizer and template of a model folder. A folder without relevance.json has the form of
 * Qwen3-Reranker where its vocabulary has the tokens of that.
 * @param templatePath file that is read in its place; left out: none
 * @throws TesseraError TOKENIZER_INVALID, PROMPT_TEMPLATE_INVALID naming the field, IO_FAILED
 */ export async function loadRelevance(folder, templatePath) {
    await refuseNoModel(folder, 'MODEL_NOT_FOUND');
    const tokenizer = await loadTokenizer(folder, {
        readsLongTexts: true
    });
    const path = templatePath ?? join(folder, FILE);
    const text = await contentOf(path, templatePath === undefined);
    if (text === undefined) await refuseJudge(folder);
    const template = text === undefined ? published(folder, tokenizer) : parseRelevance(parsed(text, path));
    await checkLabels(folder, template, tokenizer);
    return {
        template,
        tokenizer
    };
}
/** sentence-transformers would write the prompt by a chat template, which is not read. */ async function refuseJudge(folder) {
    const bytes = await readRegular(join(folder, 'modules.json'), FILE_BYTES_MAX).catch(()=>'');
    if (!bytes.toString().includes('.LogitScore"')) return;
    throw new TesseraError(CODE, `${folder}: expected the file ${FILE} (docs/integrate/relevance.md) beside the LogitScore of ` + 'modules.json, whose prompt is a chat template, got none', {
        field: FILE
    });
}
/** The form that a folder without a template has. */ function published(folder, tokenizer) {
    const missing = missingToken(tokenizer);
    if (missing === undefined) return QWEN3_RERANKER;
    throw new TesseraError(CODE, `${folder}: expected the file ${FILE} (docs/integrate/relevance.md), ` + `or the tokens of Qwen3-Reranker, ` + `got neither: the vocabulary has no token ${missing}`, {
        field: FILE
    });
}
/**
 * An engine that is opened for the labels alone would refuse their tokens by numbers of its own.
 * Whatever else is wrong with the model's configuration it says itself.
 */ async function checkLabels(folder, { labels }, tokenizer) {
    const most = await vocabularyOf(folder);
    const { stops } = labelPaths(labels, tokenizer);
    const token = stops.flatMap(({ tokens })=>[
            ...tokens
        ]).find((of)=>of >= most);
    if (token === undefined) return;
    throw new TesseraError('TOKENIZER_INVALID', `${folder}: tokenizer: expected tokens below ${most} for the labels, got ${token}`, {
        field: 'tokenizer'
    });
}
/** Tokens of the model; infinite where its configuration does not say how many. */ async function vocabularyOf(folder) {
    const path = join(folder, CONFIG);
    try {
        const bytes = await readRegular(path, FILE_BYTES_MAX);
        const { vocab_size: size } = JSON.parse(textOf(path, bytes, CODE));
        return typeof size === 'number' ? size : Number.POSITIVE_INFINITY;
    } catch  {
        return Number.POSITIVE_INFINITY;
    }
}
/** Undefined where there is no such file and there need not be one. */ async function contentOf(path, mayMiss) {
    let bytes;
    try {
        bytes = await readRegular(path, FILE_BYTES_MAX);
    } catch (error) {
        const { code, message } = error;
        if (code === undefined) throw new TesseraError(CODE, `${path}: ${message}`, {
            field: FILE
        });
        if (mayMiss && (code === 'ENOENT' || code === 'ENOTDIR')) return undefined;
        throw new TesseraError('IO_FAILED', `${path}: ${message}`, {
            field: FILE,
            cause: error
        });
    }
    return textOf(path, bytes, CODE);
}
function parsed(text, path) {
    try {
        return JSON.parse(text);
    } catch (error) {
        const message = `${path}: expected JSON: ${error.message}`;
        throw new TesseraError(CODE, message, {
            field: FILE,
            cause: error
        });
    }
}

//# sourceMappingURL=relevance-folder.js.map