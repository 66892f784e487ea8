/** Frequency caps as requests and the configuration name them. */

import type { Retention } from '@tessera/behaviour';
import { REACH_LIMITS } from '@tessera/engine';
import { expecting } from '@tessera/errors';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { FrequencyCap } from './request-types.js';

/** A cap's action that behaviours of all actions count for. */
export const ALL_ACTIONS = '*';

const ACTION_LENGTH_MAX = 64;
const ATTRIBUTE_LENGTH_MAX = 256;

/** The behaviours of a user that a recall can count. */
export interface CountableBehaviours {
  /** The newest that are read. */
  readonly historyItemsMax: number;
  /** Retention of their source; undefined: everything that it has, or not known here. */
  readonly retention?: Retention | undefined;
}

/**
 * Refuses what has no meaning, and what no behaviours that are kept could ever prove.
 * @param path of the list
 * @throws TesseraError of `refuse` with the path of the member at fault
 */
export function checkFrequencyCaps(
  caps: readonly FrequencyCap[],
  path: string,
  countable: CountableBehaviours,
  refuse: ReturnType<typeof expecting>,
): void {
  const { frequencyCaps } = REACH_LIMITS;
  if (caps.length > frequencyCaps) throw refuse(path, `at most ${frequencyCaps} caps`, caps.length);
  caps.forEach((cap, index) => {
    const { action, maxBehaviours, windowSeconds, attribute } = cap;
    const within = (field: string, min: number, max: number, got: number, of = '') => {
      if (Number.isInteger(got) && got >= min && got <= max) return;
      throw refuse(`${path}[${index}].${field}`, `${min}..${max}${of}`, got);
    };
    within('action', 1, ACTION_LENGTH_MAX, action.length, ' characters');
    within('attribute', 0, ATTRIBUTE_LENGTH_MAX, attribute.length, ' characters');
    const { historyItemsMax, retention } = countable;
    const read = ', which a recall reads (recall.historyItemsMax)';
    within('maxBehaviours', 1, historyItemsMax, maxBehaviours, read);
    within('windowSeconds', 1, Number.MAX_SAFE_INTEGER, windowSeconds);
    const kept = retention?.windows[retention.windowOf(action)];
    if (kept === undefined || action === ALL_ACTIONS) return;
    const keeps = `, which behaviours.retention keeps of '${action}'`;
    within('maxBehaviours', 1, kept.behavioursMax, maxBehaviours, keeps);
    const ageSecondsMax = kept.ageMsMax / MILLISECONDS_PER_SECOND;
    within('windowSeconds', 1, ageSecondsMax, windowSeconds, keeps);
  });
}

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
