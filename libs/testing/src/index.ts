export { byteLevelTokenizer, levelTokenTexts } from './byte-level-tokenizer.js';
export { temporaryFolder } from './temporary-folder.js';
