export {
  CompiledTemplate,
  type Prompt,
  type PromptInput,
  type ShownItem,
} from './domain/compiled-template.js';
export type { PromptItem } from './domain/history-plan.js';
export { ItemTemplate } from './domain/item-template.js';
export { ItemText } from './domain/item-text.js';
export { JsonField } from './domain/json-field.js';
export { NO_TOKEN } from './domain/level-tokens.js';
export { parseTemplate } from './domain/parse-template.js';
export {
  type PromptTemplate,
  slotKeys,
} from './domain/prompt-template.js';

export type { Tokenizer } from './domain/tokenizer.js';
export { loadTemplate, loadTokenizer } from './outside/model-folder.js';
export { samplingNote } from './outside/sampling-note.js';
