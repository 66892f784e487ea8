import type { KvPoolOptions } from '@tessera/engine';
import { quantile } from '../result.js';
import { BenchEngine, type BenchFolders } from '../suites/engine/bench-engine.js';
import { headWork, prefillWork, stepWork, type Work } from '../suites/engine/floor.js';
import { comeBack, FRESH_TOKENS, inPlace } from '../suites/kv/returning.js';
import type { CardLine } from './card-documents.js';
import { WHOLE_PROMPTS } from './card-models.js';

const WIDTH = 256;

/** Places of a user's history, with their names in the lines. */
const PLACES = {
  nowhere: 'computed',
  device: 'found on the card',
  host: 'found on the host',
  disk: 'found on disk',
} as const;
type Place = keyof typeof PLACES;

export interface ReturningOptions {
  readonly device: string;
  readonly histories: readonly number[];
  readonly users: number;
  readonly say: (line: string) => void;
}

/** A user who comes back with a little more history: the whole recall, by where the rest lies. */
export async function returningOnCard(
  folders: BenchFolders,
  { device, histories, users, say }: ReturningOptions,
): Promise<CardLine[]> {
  const { shape } = folders;
  const open = (kv: KvPoolOptions) =>
    BenchEngine.openFolders(folders, 'bf16', Object.assign({ device, kv }, WHOLE_PROMPTS));
  const lines: CardLine[] = [];
  for (const place of Object.keys(PLACES) as Place[]) {
    await inPlace(place, { shape, histories, users, open }, async (engine) => {
      for (const history of histories) {
        say(`${shape.name}: ${history} tokens of history, ${PLACES[place]}`);
        const visits = await comeBack(engine, place, history, users, WIDTH);
        const times = visits.map(({ milliseconds }) => 1000 * milliseconds);
        const found = place === 'nowhere' ? 0 : history;
        lines.push({
          name: `returning/${shape.name}/context ${history}/${PLACES[place]}`,
          value: quantile(times, 0.5),
          unit: 'us',
          ...leastWork(engine, folders.random.form.levels, history + FRESH_TOKENS, found),
          linkBytes: place === 'host' ? engine.model.kvBytesPerPosition * history : 0,
        });
      }
    });
  }
  return lines;
}

/** Work of a recall whose first `found` tokens are there. */
function leastWork(
  { shape, format }: BenchEngine,
  levels: number,
  promptTokens: number,
  found: number,
): Pick<CardLine, 'operations' | 'bytes'> {
  const all = prefillWork(shape, promptTokens, format);
  const there = prefillWork(shape, found, format);
  const parts: Work[] = [
    { ...all, operations: all.operations - there.operations },
    headWork(shape, { rows: 1, isFull: true }, format),
  ];
  const attention = all.attentionOperations - there.attentionOperations;
  for (let level = 1; level < levels; level += 1) {
    parts.push(stepWork(shape, { users: 1, width: WIDTH, promptTokens }, format));
    parts.push(headWork(shape, { rows: WIDTH, isFull: true }, format));
  }
  const steps = parts.slice(1).reduce((sum, part) => sum + part.attentionOperations, 0);
  return {
    operations: parts.reduce((sum, part) => sum + part.operations, attention + steps),
    bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
  };
}
