export { CompiledTemplate } from "./domain/compiled-template.js";
export { ItemTemplate } from "./domain/item-template.js";
export { ItemText } from "./domain/item-text.js";
export { JsonField } from "./domain/json-field.js";
export { NO_TOKEN } from "./domain/level-tokens.js";
export { parseTemplate } from "./domain/parse-template.js";
export { slotKeys } from "./domain/prompt-template.js";
export { loadTemplate, loadTokenizer } from "./outside/model-folder.js";
export { samplingNote } from "./outside/sampling-note.js";

//# sourceMappingURL=index.js.map