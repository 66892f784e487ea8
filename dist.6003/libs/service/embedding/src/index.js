export { parseModelSpecs } from "./domain/model-specs.js";
export { bytesOf } from "./domain/number-bytes.js";
export { normalise } from "./domain/shorten.js";
export { beginningTokens, TEXTS_AT_ONCE } from "./domain/text-tokens.js";
export { PASS_LIMITS, TEXT_LIMITS } from "./embedding-choices.js";
export { EmbeddingModel } from "./embedding-model.js";
export { EmbeddingModels, NO_MODELS } from "./embedding-models.js";
export { measureTexts } from "./measure-texts.js";

//# sourceMappingURL=index.js.map