/** Source of an item's text: its title, or attributes of the catalogue. */
export interface TextSource {
  readonly title: string;
  /** JSON object text. */
  readonly attributes: string;
}

const SLOT = /\{([^{}]+)\}/;
const TITLE = 'title';

/** The text of an item, as a pattern has it: `{title}` and names of attributes in braces. */
export class ItemText {
  static readonly ofTitle = new ItemText(`{${TITLE}}`);
  /** Texts around slots at even places, names of slots at odd ones. */
  private readonly parts: readonly string[];

  constructor(pattern: string) {
    this.parts = pattern.split(SLOT);
  }

  get slots(): readonly string[] {
    return this.parts.filter((_, i) => i % 2 === 1);
  }

  /** True if an item's attributes have to be known. */
  get usesAttributes(): boolean {
    return this.slots.some((slot) => slot !== TITLE);
  }

  /** Slots that the item has nothing for are left empty; '' where that is all of them. */
  of({ title, attributes }: TextSource): string {
    const values = this.usesAttributes
      ? { ...(JSON.parse(attributes) as Readonly<Record<string, unknown>>), [TITLE]: title }
      : { [TITLE]: title };
    const filled = this.parts.map((part, i) => (i % 2 === 0 ? part : written(values, part)));
    return filled.some((text, i) => i % 2 === 1 && text !== '') ? filled.join('') : '';
  }
}

function written(values: Readonly<Record<string, unknown>>, name: string): string {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined || value === null) return '';
  return Array.isArray(value) ? value.join(', ') : String(value);
}
