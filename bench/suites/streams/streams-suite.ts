import { startKafkaBroker } from '@tessera/testing';
import { fail } from '../../../tools/terminal/command.js';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { ceiling } from './ceiling.js';
import { edges } from './edges.js';
import { ingest } from './ingest.js';
import { overlap } from './overlap.js';
import { returning } from './returning.js';

type Part = (context: SuiteContext) => Promise<Measurement[]>;

/** A broker of its own: no part reads what another one wrote. */
function withBroker(part: (context: SuiteContext, broker: string) => Promise<Measurement[]>): Part {
  return async (context) => {
    const broker = await startKafkaBroker();
    try {
      return await part(context, broker.address);
    } finally {
      await broker.stop();
    }
  };
}

const PARTS: Readonly<Record<string, Part>> = {
  edges: withBroker(edges),
  ceiling: withBroker(ceiling),
  ingest: withBroker(ingest),
  returning,
  overlap,
};

export const STREAM_PARTS = Object.keys(PARTS);

/** The service among streams: what edges and topics add, take and save. A real broker and Redis. */
export async function streamsSuite(context: SuiteContext): Promise<Measurement[]> {
  const wanted = context.flags.text('stage')?.split(',') ?? STREAM_PARTS;
  for (const name of wanted) {
    if (!Object.hasOwn(PARTS, name)) fail('stage', `of ${STREAM_PARTS.join(', ')}`, name);
  }
  const measurements: Measurement[] = [];
  for (const name of wanted) measurements.push(...(await (PARTS[name] as Part)(context)));
  return measurements;
}
