/** How behaviours become the history of a prompt: repeats, the time between them, their actions. */

import { CompiledTemplate, loadTokenizer, type PromptItem, parseTemplate } from '@tessera/prompt';
import { byteLevelTokenizer, temporaryFolder } from '@tessera/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const HISTORY = {
  slot: 'history',
  before: ' Seen: ',
  separator: ', ',
  actionTexts: { click: '<|click|>', '*': '<|other|>' },
  timeGaps: [
    { atLeastSeconds: 600, text: '<|minutes|>' },
    { atLeastSeconds: 86_400, text: '<|days|>' },
  ],
  mergeRepeatsSeconds: 300,
};
const DOCUMENT = {
  version: 1,
  name: 'shaped',
  levels: ['<a_{code}>'],
  segments: [{ text: 'Which?' }, HISTORY, { slot: 'scene', key: 'hour', before: ' At ' }],
};
const CODES = 3;
const added = [
  ...Array.from({ length: CODES }, (_, code) => `<a_${code}>`),
  ...['<|click|>', '<|other|>', '<|minutes|>', '<|days|>'],
];
const folder = temporaryFolder({ 'tokenizer.json': byteLevelTokenizer(added) });
afterAll(() => folder.remove());
let tokenizer: Awaited<ReturnType<typeof loadTokenizer>>;
let compiled: CompiledTemplate;
beforeAll(async () => {
  tokenizer = await loadTokenizer(folder.path);
  compiled = new CompiledTemplate(parseTemplate(DOCUMENT), tokenizer, [CODES]);
});

const item = (code: number, action: string, time: number): PromptItem => ({
  sid: [code],
  action,
  domain: '',
  time,
});

/** Histories in the order of time; some items without one. */
const histories = fc
  .array(
    fc.record({
      code: fc.nat(CODES - 1),
      action: fc.constantFrom('click', 'view'),
      after: fc.constantFrom(0, 1, 100, 299, 300, 301, 600, 90_000),
    }),
    { maxLength: 14 },
  )
  .map((steps) => {
    let time = 1_700_000_000;
    return steps.map(({ code, action, after }) => {
      time += after;
      return item(code, action, time);
    });
  });

/** The prompt as the page describes it, one item after another. */
function described(history: readonly PromptItem[]): string {
  let text = 'Which?';
  let shown: PromptItem | undefined;
  for (const entry of history) {
    const [code] = entry.sid;
    const isSame = shown?.sid[0] === code && shown?.action === entry.action;
    if (shown !== undefined && isSame && entry.time <= shown.time + 300) continue;
    if (shown === undefined) {
      text += ' Seen: ';
    } else {
      const seconds = entry.time - shown.time;
      text += ', ';
      if (seconds >= 86_400) text += '<|days|>';
      else if (seconds >= 600) text += '<|minutes|>';
    }
    text += `${entry.action === 'click' ? '<|click|>' : '<|other|>'}<a_${code}>`;
    shown = entry;
  }
  return text;
}

const render = (history: readonly PromptItem[], hour?: string) =>
  compiled.render({ profile: {}, scene: hour === undefined ? {} : { hour }, history }, 10_000);

describe('a history of behaviours', () => {
  it('is written with actions and gaps, repeats once', () => {
    fc.assert(
      fc.property(histories, (history) => {
        expect([...render(history).tokens]).toEqual(tokenizer.encode(described(history)));
      }),
      { numRuns: 300 },
    );
  });

  it('keeps what an earlier prompt began with, whatever comes later', () => {
    fc.assert(
      fc.property(histories, fc.nat(14), (history, cut) => {
        const now = render(history.slice(0, cut), '7');
        const later = render(history, '23');
        expect([...later.tokens.subarray(0, now.keepTokens)]).toEqual([
          ...now.tokens.subarray(0, now.keepTokens),
        ]);
      }),
      { numRuns: 300 },
    );
  });

  it('has neither gaps nor repeats left out where times are not known', () => {
    const history = [0, 0, 1].map((code) => item(code, '', 0));
    expect([...render(history).tokens]).toEqual(
      tokenizer.encode('Which? Seen: <|other|><a_0>, <|other|><a_0>, <|other|><a_1>'),
    );
  });

  it('does not count a repeat as trimmed', () => {
    const history = [item(0, 'click', 1000), item(0, 'click', 1001), item(1, 'click', 1002)];
    expect(render(history)).toMatchObject({ historyItems: 2, trimmedItems: 0 });
  });

  it.each([
    [{ timeGaps: [] }, 'timeGaps: expected'],
    [{ timeGaps: [{ atLeastSeconds: -1, text: '' }] }, 'timeGaps[0].atLeastSeconds: expected'],
    [
      { timeGaps: [600, 600].map((atLeastSeconds) => ({ atLeastSeconds, text: 'x' })) },
      'timeGaps: expected atLeastSeconds in ascending order',
    ],
    [{ mergeRepeatsSeconds: 'soon' }, 'mergeRepeatsSeconds: expected'],
    [{ actionTexts: { click: 7 } }, 'actionTexts.click: expected'],
  ])('is refused as %j with the path', (over, message) => {
    const segments = [{ ...HISTORY, ...over }];
    expect(() => parseTemplate({ ...DOCUMENT, segments })).toThrow(`segments[0].${message}`);
  });
});
