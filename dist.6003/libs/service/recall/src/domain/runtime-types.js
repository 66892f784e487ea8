import { slotKeys } from "../../../prompt/src/index.js";
/** Changes what is served. A class, so that it can be a token of dependency injection. */ export class RecallOperations {
}
/** Steps of a search: the depth of the catalogue and the terminal tokens. */ function stepsOf({ catalogue, template }) {
    return catalogue.summary.depth + template.levelTokens.terminal.length;
}
/** Tokens of a prompt that leave room for the answer: its last token is chosen, never fed. */ export function promptRoom(parts) {
    const { maxPositions } = parts.engine.model;
    return Math.min(parts.promptTokensMax, maxPositions - stepsOf(parts) + 1);
}
export function requestLimits(parts) {
    const { defaults, resultCountMax, scoreItemsMax, widthMax } = parts;
    const { template } = parts.template;
    const { headSize, vocabSize } = parts.engine.model;
    return {
        resultCountMax,
        scoreItemsMax,
        widthMax,
        stepsMax: stepsOf(parts),
        itemsPerSidMax: resultCountMax,
        historyItemsMax: defaults.historyItemsMax,
        retention: parts.behaviours.retention,
        defaultResultCount: defaults.resultCount,
        defaultSearch: defaults.search,
        defaultRowBudget: defaults.rowBudget,
        hasWholeVocabulary: headSize === vocabSize,
        profileKeys: slotKeys(template, 'profile'),
        sceneKeys: slotKeys(template, 'scene')
    };
}

//# sourceMappingURL=runtime-types.js.map