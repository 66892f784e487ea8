import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PLAIN } from '@tessera/client';
import { repositoryRoot } from '@tessera/config';
import { ServedWorld } from '../../../tools/world/served-world.js';
import {
  type HourFigures,
  WORLD_DEFAULTS,
  World,
  type WorldOptions,
} from '../../../tools/world/world.js';
import { ServedProcess } from '../overload/served-process.js';
import { ended, onceWords, startChild } from './children.js';
import { FactLog } from './fact-log.js';

const HOUR_MS = 3_600_000;
const MODEL = join(repositoryRoot, 'models', 'demo');

/** A service of its own, a world that lives in it as fast as it answers, and a trainer. */
export class LivedWorld {
  private constructor(
    private readonly service: ServedProcess,
    private readonly served: ServedWorld,
    private readonly facts: FactLog,
    private readonly world: World,
    private readonly folder: string,
    private readonly python: string,
    private readonly moved: (hours: number) => void,
  ) {}

  /** @param days that it is to live: its clock ends now */
  static async start(
    options: Partial<WorldOptions>,
    days: number,
    python: string,
  ): Promise<LivedWorld> {
    const folder = mkdtempSync(join(tmpdir(), 'tessera-learning-'));
    const service = await ServedProcess.start({
      model: { path: MODEL },
      weights: { path: join(folder, 'weights') },
      kv: { diskBytes: 0 },
    });
    let nowMs = Date.now() - 24 * days * HOUR_MS;
    const clock = () => nowMs;
    const served = new ServedWorld(service.grpcAddress, PLAIN, clock);
    const facts = new FactLog(served, join(folder, 'facts'), clock);
    const world = await World.open(facts, { ...WORLD_DEFAULTS, ...options });
    const moved = (hours: number) => {
      nowMs += hours * HOUR_MS;
    };
    return new LivedWorld(service, served, facts, world, folder, python, moved);
  }

  async hours(count: number): Promise<HourFigures[]> {
    const hours: HourFigures[] = [];
    for (let hour = 0; hour < count; hour += 1) {
      hours.push(...(await this.world.hours(1)));
      this.moved(1);
    }
    await this.facts.flush();
    return hours;
  }

  /** One cycle on all that has happened; returns what it printed. */
  async follow(words: readonly string[]): Promise<string> {
    const places = {
      model: MODEL,
      facts: this.facts.folder,
      address: this.service.grpcAddress,
      state: join(this.folder, 'follow'),
    };
    const lines: string[] = [];
    const child = startChild(this.python, [...onceWords(places), ...words], (line) => {
      lines.push(line);
    });
    const status = await ended(child);
    const printed = lines.join('\n');
    if (status !== 0) throw new Error(`the trainer ended with ${status}:\n${printed}`);
    return printed;
  }

  async stop(): Promise<void> {
    this.served.close();
    await this.service.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
