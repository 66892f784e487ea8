import { Tokenizer as TokenizerLibrary } from '@huggingface/tokenizers';
import { TesseraError } from '@tessera/errors';
import type { Tokenizer } from '../domain/tokenizer.js';
import type { TokenizerDocuments } from '../domain/tokenizer-documents.js';

/** The `Tokenizer` port over @huggingface/tokenizers. */
export class HuggingFaceTokenizer implements Tokenizer {
  readonly vocabSize: number;
  private readonly library: TokenizerLibrary;
  private readonly addedTokens: AddedTokenFinder;

  /** @throws TesseraError TOKENIZER_INVALID where the library does not take the documents */
  constructor(
    documents: TokenizerDocuments,
    readonly digest: string,
  ) {
    try {
      this.library = new TokenizerLibrary(documents.tokenizer, {});
      this.library.encode('a b', { add_special_tokens: false });
    } catch (error) {
      throw invalid(documents.fileName, error);
    }
    this.addedTokens = new AddedTokenFinder(documents.addedTokenTexts);
    this.vocabSize = documents.vocabSize;
  }

  encode(text: string): number[] {
    if (text === '') return [];
    const ids: readonly (number | undefined)[] = this.library.encode(text, {
      add_special_tokens: false,
    }).ids;
    if (ids.every((id) => id !== undefined)) return ids as number[];
    throw new TesseraError(
      'TOKENIZER_INVALID',
      'tokenizer: expected a token for every part of ' +
        `${JSON.stringify(text.slice(0, 80))}, got none`,
      { field: 'tokenizer' },
    );
  }

  tokenId(text: string): number | undefined {
    return this.library.token_to_id(text);
  }

  findAddedToken(text: string): string | undefined {
    return this.addedTokens.findIn(text);
  }
}

function invalid(fileName: string, error: unknown): TesseraError {
  const reason = error instanceof Error ? error.message : String(error);
  return new TesseraError(
    'TOKENIZER_INVALID',
    `${fileName}: the tokenizer library says: ${reason}`,
    {
      field: fileName,
      cause: error,
    },
  );
}

/** Added tokens by their first two characters: catalogues add tens of thousands of them. */
class AddedTokenFinder {
  private readonly byStart = new Map<string, string[]>();

  constructor(texts: readonly string[]) {
    for (const text of texts) {
      const start = text.slice(0, 2);
      const list = this.byStart.get(start);
      if (list === undefined) this.byStart.set(start, [text]);
      else list.push(text);
    }
  }

  findIn(text: string): string | undefined {
    for (let i = 0; i < text.length; i += 1) {
      const found =
        this.byStart.get(text.slice(i, i + 2))?.find((token) => text.startsWith(token, i)) ??
        this.byStart.get(text[i] as string)?.find((token) => text.startsWith(token, i));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
