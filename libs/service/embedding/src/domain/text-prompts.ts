import { expecting } from '@tessera/errors';

const invalid = expecting('REQUEST_INVALID');

/** Texts that a model was trained to see before others, by their names. */
export class TextPrompts {
  static readonly NONE = new TextPrompts(new Map(), '');

  constructor(
    private readonly texts: ReadonlyMap<string, string>,
    /** Name of the prompt where a caller names none; empty: none. */
    readonly defaultName: string,
  ) {}

  get names(): readonly string[] {
    return [...this.texts.keys()];
  }

  /** A line for people; undefined where no prompt changes a text. */
  get note(): string | undefined {
    const names = this.names.filter((name) => this.texts.get(name) !== '');
    if (names.length === 0) return undefined;
    const own = this.defaultText === '' ? 'none' : this.defaultName;
    return `prompts: ${names.join(', ')}; by default: ${own}`;
  }

  /** Prefix of a text where a caller names no prompt. */
  get defaultText(): string {
    return this.texts.get(this.defaultName) ?? '';
  }

  /**
   * @param name undefined: the model's own
   * @throws TesseraError REQUEST_INVALID naming `promptName`
   */
  textOf(name: string | undefined): string {
    if (name === undefined) return this.defaultText;
    const text = this.texts.get(name);
    if (text !== undefined) return text;
    const known =
      this.names.length === 0
        ? 'none: the model has no prompts'
        : `one of ${this.names.join(', ')}`;
    throw invalid('promptName', known, name);
  }
}
