import { expect, it } from 'vitest';
import { PairTokenMaker } from './pair-tokens.js';

const TOKENS_MAX = 64;

/** A token for each word, which counts the characters that it has read. */
function wordTokenizer() {
  const read = { characters: 0 };
  const encode = async (text: string) => {
    read.characters += text.length;
    return text.split(' ').flatMap((word) => (word === '' ? [] : word.length + 10));
  };
  const encodePair = async (first: string, second: string) => {
    const ids = [1, ...(await encode(first)), 2, ...(await encode(second)), 2];
    return { ids, segments: ids.map(() => 0) };
  };
  return { read, tokenizer: { encode, encodePair } };
}

it.each(['word '.repeat(180_000), 'x'.repeat(900_000), '😀'.repeat(165_000)])(
  'reads of a text no more than the pair may have tokens for, %#',
  async (text) => {
    const { read, tokenizer } = wordTokenizer();
    const maker = await PairTokenMaker.of(tokenizer, TOKENS_MAX);
    const query = await maker.queryTokens('a query');
    read.characters = 0;
    await expect(maker.queryTokens(text)).rejects.toThrow(
      /query: expected at most \d+ bytes, got \d+/,
    );
    await expect(maker.pairOf(query, text, 'documents[0]', false)).rejects.toThrow(
      'documents[0]: expected at most 1024 bytes, or truncation to be asked for',
    );
    expect(read.characters).toBe(0);
    const pair = await maker.pairOf(query, text, 'documents[0]', true);
    expect(pair.tokens.length).toBeLessThanOrEqual(TOKENS_MAX);
    expect(read.characters).toBeLessThanOrEqual(1024);
  },
);
