export { type ModelSpec, parseModelSpecs } from './domain/model-specs.js';
export { bytesOf } from './domain/number-bytes.js';
export { normalise } from './domain/shorten.js';
export {
  beginningTokens,
  type EncodedPair,
  TEXTS_AT_ONCE,
  type TextTokenizer,
} from './domain/text-tokens.js';
export { PASS_LIMITS, TEXT_LIMITS } from './embedding-choices.js';
export { type EmbeddingCall, EmbeddingModel, type ModelLimits } from './embedding-model.js';
export {
  type EachAnswer,
  type EmbeddingAnswer,
  type EmbeddingLimits,
  EmbeddingModels,
  type EmbeddingOptions,
  type EmbeddingRequest,
  type ModelFacts,
  type ModelState,
  NO_MODELS,
} from './embedding-models.js';
export { measureTexts, type StaticScales } from './measure-texts.js';
export type { TextFolder } from './outside/text-folder.js';
