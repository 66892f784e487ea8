import { ServiceClient } from '@tessera/client';
import { CatalogueClient } from '../../../tools/served/catalogue-client.js';
import { type Measurement, quantile } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { withServedTexts } from './served-texts.js';
import { drawTexts, TITLE } from './texts.js';

const ADS = { quick: 200, full: 2000 };
const WARM_UP = 20;
const CALL_MS = 60_000;
const SEED = 77;
/** Milliseconds from a text to its semantic ID in recalls. */
const BARS = [
  { name: 'p50', share: 0.5, bar: 10 },
  { name: 'p99', share: 0.99, bar: 50 },
];

interface Applied {
  readonly sequence: number;
}

/** New ads by their texts over gRPC, one after another: durable, and in the recall behind each. */
export function placedStage(context: SuiteContext): Promise<Measurement[]> {
  const count = ADS[context.quick ? 'quick' : 'full'];
  return withServedTexts(context, async ({ stack }) => {
    context.say(`${count} ads by their texts`);
    const catalogue = new CatalogueClient(stack.grpcAddress);
    const recalls = new ServiceClient('tessera.recall.v1.RecallService', stack.grpcAddress);
    const [userId = ''] = stack.sampleUserIds;
    const times: number[] = [];
    try {
      for (const [number, { text }] of drawTexts(WARM_UP + count, SEED, TITLE).entries()) {
        const changes = [{ upsert: { itemId: `ad-${number}`, text, title: text } }];
        const started = performance.now();
        const { sequence } = await catalogue.call<Applied>('Apply', { changes }, CALL_MS);
        const took = performance.now() - started;
        if (number >= WARM_UP) times.push(took);
        const deadline = Date.now() + CALL_MS;
        const { versions } = await recalls.call('Recall', { userId }, { deadline });
        if (Number(versions?.catalogueSequence) < Number(sequence)) {
          throw new Error(`the recall behind change ${sequence} does not know it`);
        }
      }
    } finally {
      recalls.close();
      catalogue.close();
    }
    return BARS.map(({ name, share, bar }) => ({
      name: `text to semantic ID in recalls, MiniLM, ${count} ads: ${name}`,
      value: quantile(times, share),
      unit: 'ms',
      bar,
      bound: 'at-most' as const,
    }));
  });
}
