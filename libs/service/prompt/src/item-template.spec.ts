import { TesseraError } from '@tessera/errors';
import { describe, expect, it } from 'vitest';
import { ItemTemplate } from './domain/item-template.js';
import { JsonField } from './domain/json-field.js';

/** A token for each character. */
const tokenizer = { encode: (text: string) => [...text].map((one) => one.charCodeAt(0)) };
const templateOf = (document: object) =>
  new ItemTemplate(new JsonField('ADAPTER_INVALID', 'ranking.json', '', document), tokenizer);
const texts = (tokens: Iterable<number>) => String.fromCharCode(...tokens);
const shoe = { title: 'Red shoe', attributes: '{"brand":"Ada"}' };

describe('how a ranked item is read', () => {
  it.each([
    ['{sid}', '', ''],
    ['<{sid}>', '<', '>'],
    ['<{sid} {title} by {brand}', '<', ' Red shoe by Ada'],
    ['{sid}{missing}', '', ''],
    ['{sid} {title}, a long text behind it', '', ' Red shoe, a long text behind it'],
  ])('%s', (item, prefix, suffix) => {
    const template = templateOf({ item });
    expect(texts(template.prefix)).toBe(prefix);
    expect(texts(template.suffixOf(shoe))).toBe(suffix);
    expect(template.suffix === undefined).toBe(/[^d]}/.test(item));
  });

  it('is cut at its end', () => {
    const template = templateOf({ item: '<{sid}{title}', maxItemTokens: 4 });
    expect(texts(template.suffixOf(shoe))).toBe('Red');
    expect(templateOf({ item: '<{sid}>', maxItemTokens: 1 }).suffix).toEqual([]);
  });

  it.each([
    [{}, 'item: expected a string, got nothing'],
    [{ item: 'x' }, 'item: expected {sid} once, and slots behind it alone, got "x"'],
    [{ item: '{sid}{sid}' }, 'item: expected {sid} once'],
    [{ item: '{title}{sid}' }, 'item: expected {sid} once, and slots behind it alone'],
    [{ item: 'abc{sid}', maxItemTokens: 2 }, 'item: expected at most 2 tokens before {sid}'],
    [{ item: '{sid}', maxItemTokens: 65 }, 'maxItemTokens: expected an integer in 1..64, got 65'],
    [{ item: '{sid}', maxItemTokens: 0 }, 'maxItemTokens: expected an integer in 1..64, got 0'],
  ])('%j is refused', (document, message) => {
    const thrown = (() => {
      try {
        return templateOf(document);
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(TesseraError);
    expect((thrown as TesseraError).message).toContain(`ranking.json: ${message}`);
  });
});
