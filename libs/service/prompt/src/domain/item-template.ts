import { ItemText, type TextSource } from './item-text.js';
import type { JsonField } from './json-field.js';
import type { Tokenizer } from './tokenizer.js';

const SID = '{sid}';
const TEXT_LENGTH_MAX = 10_000;
/** The engine's own limit (native/abi/limits.json). */
const TOKENS_MAX = 64;
const DEFAULT_TOKENS = 32;

/** How a ranked item is read behind the prompt (docs/integrate/ranking.md). */
export class ItemTemplate {
  /** Tokens before the SID of every item. */
  readonly prefix: Int32Array;
  /** Tokens behind the SID of every item; undefined: they are the item's own. */
  readonly suffix: readonly number[] | undefined;
  private readonly behind: ItemText;
  private readonly suffixTokensMax: number;

  /**
   * Template of `item` and `maxItemTokens` of ranking.json.
   * @throws TesseraError of the field at fault, in its code
   */
  constructor(
    root: JsonField,
    private readonly tokenizer: Pick<Tokenizer, 'encode'>,
  ) {
    const field = root.key('item');
    const [before = '', behind = '', ...more] = field.filledText(TEXT_LENGTH_MAX).split(SID);
    const isOnce = field.value !== before && more.length === 0;
    if (!isOnce || new ItemText(before).slots.length > 0) {
      field.fail(`${SID} once, and slots behind it alone`);
    }
    const most = root.key('maxItemTokens');
    const tokensMax = most.absent ? DEFAULT_TOKENS : most.integer(1, TOKENS_MAX);
    this.prefix = Int32Array.from(this.encoded(before));
    this.suffixTokensMax = tokensMax - this.prefix.length;
    if (this.suffixTokensMax < 0) {
      field.fail(`at most ${tokensMax} tokens before ${SID} (maxItemTokens)`);
    }
    this.behind = new ItemText(behind);
    this.suffix = this.behind.slots.length === 0 ? this.cut(behind) : undefined;
  }

  /** Maximum tokens beside the SID's, over all items. */
  get tokensMax(): number {
    return this.prefix.length + (this.suffix?.length ?? this.suffixTokensMax);
  }

  suffixOf(item: TextSource): readonly number[] {
    return this.suffix ?? this.cut(this.behind.of(item));
  }

  private cut(text: string): readonly number[] {
    return this.encoded(text).slice(0, this.suffixTokensMax);
  }

  private encoded(text: string): readonly number[] {
    return text === '' ? [] : this.tokenizer.encode(text);
  }
}
