import { labelPaths } from "./label-paths.js";
import { readsVocabulary } from "./relevance-score.js";
/**
 * Tokens whose logits a template reads, ascending: an engine that scores by this template alone
 * needs no more of its head (`headTokens` of the engine's options). Empty: those of the whole
 * vocabulary.
 * @throws TesseraError PROMPT_TEMPLATE_INVALID as labelPaths() does
 */ export function labelTokens({ template, tokenizer }) {
    const paths = labelPaths(template.labels, tokenizer);
    if (readsVocabulary(template, paths)) return new Int32Array();
    return Int32Array.from(new Set(paths.stops.flatMap(({ tokens })=>[
            ...tokens
        ]))).sort();
}

//# sourceMappingURL=label-tokens.js.map