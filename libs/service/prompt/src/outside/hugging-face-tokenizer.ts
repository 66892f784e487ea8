import { Tokenizer as TokenizerLibrary } from '@huggingface/tokenizers';
import { expecting, TesseraError } from '@tessera/errors';
import { AddedTokenFinder, type AddedTokenPlace, touchesWord } from '../domain/added-tokens.js';
import type { Tokenizer } from '../domain/tokenizer.js';
import type { TokenizerDocuments } from '../domain/tokenizer-documents.js';
import { TokenizingThread } from './tokenizing-thread.js';

const invalid = expecting('TOKENIZER_INVALID');

/** A text of so many characters takes a few milliseconds; a longer one has a thread of its own. */
const ASIDE_CHARACTERS_MIN = 2048;

/** The `Tokenizer` port over @huggingface/tokenizers. */
export class HuggingFaceTokenizer implements Tokenizer {
  readonly vocabSize: number;
  private readonly library: TokenizerLibrary;
  private readonly finder: AddedTokenFinder;
  private readonly hasSingleWords: boolean;
  private thread: TokenizingThread | undefined;

  /** @throws TesseraError TOKENIZER_INVALID where the library does not take the documents */
  constructor(
    private readonly documents: TokenizerDocuments,
    readonly digest: string,
  ) {
    try {
      this.library = new TokenizerLibrary(documents.tokenizer, {});
      this.library.encode('a b', { add_special_tokens: false });
    } catch (error) {
      throw refused(documents.fileName, error);
    }
    this.finder = new AddedTokenFinder(documents.addedTokens);
    this.hasSingleWords = documents.addedTokens.some((token) => token.single_word);
    this.vocabSize = documents.vocabSize;
  }

  encode(text: string): number[] {
    if (text === '') return [];
    if (this.hasSingleWords) this.checkSingleWords(text);
    const { ids } = this.library.encode(text, { add_special_tokens: false });
    return whole(text, ids);
  }

  async encodeAside(text: string): Promise<readonly number[]> {
    if (text.length < ASIDE_CHARACTERS_MIN) return this.encode(text);
    if (this.hasSingleWords) this.checkSingleWords(text);
    return whole(text, await this.aside().encode(text));
  }

  /** Begins the thread where there is none: its copy of the vocabulary takes a while. */
  aside(): TokenizingThread {
    if (this.thread === undefined || this.thread.isOver) {
      this.thread = new TokenizingThread(this.documents.tokenizer);
    }
    return this.thread;
  }

  tokenId(text: string): number | undefined {
    return this.library.token_to_id(text);
  }

  addedTokensIn(text: string): AddedTokenPlace[] {
    return this.finder.placesIn(text);
  }

  /** The library finds them inside words as well, where the tokenizer of the model does not. */
  private checkSingleWords(text: string): void {
    const place = this.finder
      .placesIn(text)
      .find((at) => at.token.single_word && touchesWord(text, at));
    if (place === undefined) return;
    throw invalid(
      'tokenizer',
      `${JSON.stringify(place.token.content)}, a single_word token, apart from letters, digits ` +
        'and underscores',
      JSON.stringify(text.slice(Math.max(0, place.start - 20), place.end + 20)),
    );
  }
}

/** @throws TesseraError TOKENIZER_INVALID where a part of the text has no token */
function whole(text: string, ids: readonly (number | undefined)[]): number[] {
  if (ids.every((id) => id !== undefined)) return ids as number[];
  const part = JSON.stringify(text.slice(0, 80));
  throw invalid('tokenizer', `a token for every part of ${part}`, 'none');
}

function refused(fileName: string, error: unknown): TesseraError {
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
