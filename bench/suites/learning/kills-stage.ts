import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { PLAIN } from '@tessera/client';
import { repositoryRoot } from '@tessera/config';
import { AdapterClient } from '../../../tools/served/adapter-client.js';
import { ServedWorld } from '../../../tools/world/served-world.js';
import { WORLD_DEFAULTS, World } from '../../../tools/world/world.js';
import { Random } from '../../models/random.js';
import type { Measurement } from '../../result.js';
import { ServedProcess } from '../overload/served-process.js';
import type { SuiteContext } from '../suite.js';
import { ended, onceWords, startChild } from './children.js';
import { FactLog } from './fact-log.js';

const CYCLES = { quick: 8, full: 50 };
const SEED = 57;
const HOUR_MS = 3_600_000;
const MODEL = join(repositoryRoot, 'models', 'demo');
/** Shares of the cycles in which this happens. */
const CHANCES = { kill: 0.5, service: 0.15, pause: 0.15, second: 0.3 };
const KILL_MS_MAX = 9000;
const POLL_MS = 250;
const CALL_MS = 5000;
/** The table of cycles of a trainer's store, as JSON. */
const READ_CYCLES = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.row_factory = sqlite3.Row
print(json.dumps([dict(row) for row in db.execute("SELECT * FROM cycles")]))
`;

interface Kept {
  readonly id: number;
  readonly state: string;
  readonly parent: string;
  readonly after: number;
  readonly upto: number;
  readonly digest: string;
  readonly notes: string;
}

interface Versions {
  readonly versions: readonly {
    readonly digest: string;
    readonly state: string;
    readonly holder: string;
    readonly leaseUntilMs: number;
  }[];
}

/**
 * Cycles of a trainer that is killed (SIGKILL) at moments by seed, while its service is killed,
 * stopped for a while, and followed by a second trainer.
 */
export async function killsStage({ quick, flags, say }: SuiteContext): Promise<Measurement[]> {
  const python = flags.text('python') ?? '.venv/bin/python';
  const scene = await Scene.open(python, say);
  try {
    const wanted = CYCLES[quick ? 'quick' : 'full'];
    for (let cycle = 1; cycle <= wanted; cycle += 1) await scene.cycle();
    return scene.rows();
  } finally {
    await scene.close();
  }
}

class Scene {
  private readonly random = new Random(SEED);
  private readonly counts = { kills: 0, restarts: 0, pauses: 0, seconds: 0, cycles: 0 };
  /** Digests that served anybody. */
  private readonly served = new Set<string>();
  private holdersMax = 0;

  private constructor(
    private readonly folder: string,
    private readonly python: string,
    private readonly keys: Readonly<Record<string, object>>,
    private service: ServedProcess,
    private readonly world: World,
    private readonly facts: FactLog,
    private readonly adapters: AdapterClient,
    private readonly clock: { nowMs: number },
    private readonly say: (line: string) => void,
  ) {}

  static async open(python: string, say: (line: string) => void): Promise<Scene> {
    const folder = mkdtempSync(join(tmpdir(), 'tessera-kills-'));
    const [http, grpc] = [await freePort(), await freePort()];
    const path = (name: string) => ({ path: join(folder, name) });
    const keys = {
      http: { port: http },
      grpc: { port: grpc },
      model: { path: MODEL },
      adapters: path('adapters'),
      behaviours: path('behaviours'),
      catalogue: { changesPath: join(folder, 'changes'), cachePath: join(folder, 'cache') },
      kv: { diskBytes: 0 },
    };
    const service = await ServedProcess.start(keys);
    const clock = { nowMs: Date.now() - 200 * HOUR_MS };
    const served = new ServedWorld(service.grpcAddress, PLAIN, () => clock.nowMs);
    const facts = new FactLog(served, join(folder, 'facts'), () => clock.nowMs);
    const world = await World.open(facts, { ...WORLD_DEFAULTS, seed: SEED });
    const adapters = new AdapterClient(service.grpcAddress);
    const scene = new Scene(folder, python, keys, service, world, facts, adapters, clock, say);
    // Users begin without a history, and look around first.
    await scene.live(30);
    return scene;
  }

  private async live(hours: number): Promise<void> {
    await this.world.hours(hours);
    this.clock.nowMs += hours * HOUR_MS;
    await this.facts.flush();
  }

  async cycle(): Promise<void> {
    await this.live(1);
    const happens = (chance: number) => this.random.uniform() < chance;
    const trouble = {
      kill: happens(CHANCES.kill) ? this.random.uniform() * KILL_MS_MAX : undefined,
      service: happens(CHANCES.service),
      pause: happens(CHANCES.pause),
    };
    const second = happens(CHANCES.second) ? this.follow('second') : undefined;
    const first = this.follow('first');
    const watching = new AbortController();
    const watched = this.watch(watching.signal);
    if (trouble.service) await this.killService();
    if (trouble.pause) await this.pauseService();
    if (trouble.kill !== undefined) await this.kill(first, trouble.kill);
    else await ended(first);
    if (second !== undefined) await ended(second);
    watching.abort();
    await watched;
    this.counts.cycles += 1;
    this.counts.seconds += second === undefined ? 0 : 1;
    this.say(`cycle ${this.counts.cycles}: ${JSON.stringify(trouble)}`);
  }

  rows(): Measurement[] {
    const stores = ['first', 'second'].flatMap((name) => this.cyclesOf(name));
    const made = new Map(stores.map((cycle) => [cycle.digest, cycle]));
    const gated = [...made.values()].filter(({ notes }) => 'gate' in JSON.parse(notes));
    const checked = new Set(gated.map(({ digest }) => digest));
    const unchecked = [...this.served].filter((digest) => !checked.has(digest));
    const row = (name: string, value: number, bar: number | null = null): Measurement => ({
      name,
      value,
      unit: 'count',
      bar,
      bound: 'at-most',
    });
    const { cycles, kills, restarts, pauses, seconds } = this.counts;
    const how = `${kills} kills, ${restarts} restarts and ${pauses} pauses of the service`;
    return [
      row(`cycles with ${how}, ${seconds} beside a second trainer`, cycles),
      row('versions that served anybody', this.served.size),
      row('examples that are new twice in a lineage', twice(made), 0),
      row('versions that served without a passed gate', unchecked.length, 0),
      row('trainers that held the lease at once, at most', this.holdersMax, 1),
    ];
  }

  async close(): Promise<void> {
    this.adapters.close();
    await this.service.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private follow(name: 'first' | 'second'): ChildProcess {
    const places = {
      model: MODEL,
      facts: this.facts.folder,
      address: this.service.grpcAddress,
      state: join(this.folder, name),
    };
    const words = [
      ...onceWords(places),
      ...['--window-hours', '400', '--every', '20', '--canary-seconds', '2'],
      ...['--examples-min', '10'],
    ];
    return startChild(this.python, words, (line) => this.say(`${name}: ${line}`));
  }

  private async kill(follower: ChildProcess, afterMs: number): Promise<void> {
    await Promise.race([ended(follower), after(afterMs)]);
    if (follower.exitCode === null) {
      this.counts.kills += 1;
      follower.kill('SIGKILL');
      await ended(follower);
    }
    // The next run does all that it left half-done.
    await ended(this.follow('first'));
  }

  private async killService(): Promise<void> {
    await after(this.random.uniform() * KILL_MS_MAX);
    this.counts.restarts += 1;
    process.kill(this.service.pid, 'SIGKILL');
    await after(1000);
    this.service = await ServedProcess.start(this.keys);
  }

  /** Slow is not away. */
  private async pauseService(): Promise<void> {
    await after(this.random.uniform() * KILL_MS_MAX);
    this.counts.pauses += 1;
    process.kill(this.service.pid, 'SIGSTOP');
    await after(2000);
    process.kill(this.service.pid, 'SIGCONT');
  }

  private async watch(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      const asked = this.adapters.call<Versions>('List', { name: 'main' }, CALL_MS);
      const { versions } = await asked.catch(() => ({ versions: [] }));
      const holders = new Set<string>();
      for (const { digest, state, holder, leaseUntilMs } of versions) {
        if (/CANARY|ACTIVE/.test(state)) this.served.add(digest);
        if (Number(leaseUntilMs) > Date.now()) holders.add(holder);
      }
      this.holdersMax = Math.max(this.holdersMax, holders.size);
      await after(POLL_MS);
    }
  }

  private cyclesOf(name: string): Kept[] {
    const file = join(this.folder, name, 'follow.sqlite');
    try {
      return JSON.parse(execFileSync(this.python, ['-c', READ_CYCLES, file]).toString());
    } catch {
      return [];
    }
  }
}

/** Examples in the spans of two cycles of one lineage; each cycle has its own span of its store. */
function twice(made: ReadonlyMap<string, Kept>): number {
  let most = 0;
  for (const last of made.values()) {
    let count = 0;
    for (let cycle: Kept | undefined = last; cycle !== undefined; cycle = made.get(cycle.parent)) {
      const parent = made.get(cycle.parent);
      if (parent !== undefined) count += Math.max(0, parent.upto - cycle.after);
    }
    most = Math.max(most, count);
  }
  return most;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
