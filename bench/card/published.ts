/** A figure that others have published, and where. */
export interface Published {
  readonly value: number;
  readonly unit: 'ms' | 'requests/s' | 'bytes/s';
  readonly setting: string;
  readonly source: string;
}

const RECALL_SETTING = 'one H100 80 GB, Qwen3-1.7B shape, BF16, beam 256, 3 tokens a SID';
const RECALL_SOURCE = 'NVIDIA recsys-examples, examples/sid-gr-inference';

/** Milliseconds of so many recalls together, by tokens of context and requests. */
const RECALLS: Readonly<Record<string, number>> = {
  '1000x1': 17.6,
  '1000x8': 93.2,
  '5000x1': 42.3,
  '5000x4': 154.2,
  '5000x8': 307.9,
};

/** Milliseconds that ours are to take of them at most. */
const WANTED: Readonly<Record<string, number>> = {
  '1000x1': 15,
  '1000x8': 75,
  '5000x1': 36,
  '5000x8': 250,
};

export const RECALL_CASES: readonly string[] = Object.keys(RECALLS);
/** The shape that the published recalls are of. */
export const PUBLISHED_SHAPE = 'qwen3-1.7b';

export function publishedRecall(context: number, requests: number): Published | undefined {
  const value = RECALLS[`${context}x${requests}`];
  return value === undefined
    ? undefined
    : { value, unit: 'ms', setting: RECALL_SETTING, source: RECALL_SOURCE };
}

export const wantedRecallMs = (context: number, requests: number): number | undefined =>
  WANTED[`${context}x${requests}`];

/** Online, with four requests in flight at a context of 5,000. */
export const PUBLISHED_RATE: Published = {
  value: 20.1,
  unit: 'requests/s',
  setting: `${RECALL_SETTING}, context 5,000, 4 in flight`,
  source: RECALL_SOURCE,
};
export const PUBLISHED_RATE_CONTEXT = 5000;
/** Requests a second that ours is to answer at 95 % of its rate alone. */
export const WANTED_RATE = 24;

/** Keys and values from the host's memory to the card. */
export const PUBLISHED_LINK: Published = {
  value: 45 * 2 ** 30,
  unit: 'bytes/s',
  setting: 'H100, 71 % of PCIe',
  source: 'NVIDIA recsys-examples, corelib/recsys_kvcache_manager',
};
