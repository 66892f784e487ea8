import type { Tokenizer } from '@tessera/prompt';
import { ItemText } from '@tessera/prompt';
import type { RelevanceTemplate } from './relevance-template.js';

/**
 * The form of Qwen3-Reranker as its authors publish it (model card of Qwen3-Reranker-0.6B): their
 * system text, the instruction where none is given, and an empty block of thinking.
 */
export const QWEN3_RERANKER: RelevanceTemplate = {
  name: 'qwen3-reranker',
  itemText: ItemText.ofTitle,
  segments: [
    '<|im_start|>system\nJudge whether the Document meets the requirements based on the Query ' +
      'and the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n' +
      '<|im_start|>user\n',
    '<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {item}',
    '<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n',
  ],
  instruction: 'Given a web search query, retrieve relevant passages that answer the query',
  labels: [
    { text: 'yes', value: 1 },
    { text: 'no', value: 0 },
  ],
  over: 'labels',
  score: 'expectation',
  tokensMax: 8192,
};

/** The first token of that form that a vocabulary has not; undefined where it has all. */
export function missingToken(tokenizer: Tokenizer): string | undefined {
  const needed = ['<|im_start|>', '<|im_end|>', '<think>', '</think>', 'yes', 'no'];
  return needed.find((text) => tokenizer.tokenId(text) === undefined);
}
