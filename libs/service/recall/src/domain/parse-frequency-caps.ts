import { expecting } from '@tessera/errors';
import type { FrequencyCap } from './recall-types.js';

const KEY = 'recall.frequencyCaps';
const invalid = expecting('CONFIG_INVALID');
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * `impression=3,1d; impression=10,7d,campaign`: at most 3 impressions of an item in a day, and 10
 * of the items of a campaign in a week.
 * @throws TesseraError CONFIG_INVALID
 */
export function parseFrequencyCaps(text: string): readonly FrequencyCap[] {
  const caps = text.split(';').map((part) => part.trim());
  return caps.filter((part) => part !== '').map(parseCap);
}

function parseCap(text: string): FrequencyCap {
  const match = /^([^=]+)=\s*(\d+)\s*,\s*(\d+)([smhd])\s*(?:,(.+))?$/.exec(text);
  if (match === null) {
    throw invalid(KEY, 'ACTION=COUNT,WINDOW or ACTION=COUNT,WINDOW,ATTRIBUTE', `'${text}'`);
  }
  const [, action = '', count = '', window = '', unit = '', attribute = ''] = match;
  return {
    action: action.trim(),
    maxBehaviours: Number(count),
    windowSeconds: Number(window) * (UNIT_SECONDS[unit] as number),
    attribute: attribute.trim(),
  };
}
