import type { Measurement } from '../../result.js';
import { BenchCluster } from '../cluster/bench-cluster.js';
import type { SuiteContext } from '../suite.js';
import { medianRows } from './overload-rows.js';
import { Offering, type Parts, partsOf } from './rounds.js';
import { keepOnCores, watchedCluster } from './watched-service.js';

const NODES = [1, 3] as const;
const DEADLINES_MS = ['400', '100'] as const;
const LOOK_EVERY_MS = 200;
/** First core: nodes and gateway. Second core: the generator. */
const CORES = ['0', '1'] as const;

interface ClusterState {
  readonly nodes: readonly { readonly name: string; readonly state: string }[];
}

/** One node and three behind a gateway, under the loads of a service alone. */
export async function gateway(context: SuiteContext): Promise<Measurement[]> {
  const parts = partsOf(context, ['plain']);
  const rows: Measurement[] = [];
  const counts = context.flags.integers('nodes', 1, 9) ?? NODES;
  for (const nodes of counts) rows.push(...(await behindGateway(context, parts, nodes)));
  return rows;
}

async function behindGateway(
  { flags, say }: SuiteContext,
  parts: Parts,
  nodes: number,
): Promise<Measurement[]> {
  const deadlinesMs = flags.someOf('deadlines', DEADLINES_MS, DEADLINES_MS).map(Number);
  const name = nodes === 1 ? 'gateway, 1 node' : `gateway, ${nodes} nodes`;
  say(`${name}: starting`);
  const cluster = await BenchCluster.start(nodes, {});
  const offering = new Offering(say);
  const rounds: Measurement[][] = [];
  try {
    const watched = watchedCluster(cluster);
    if (parts.isPinned) {
      keepOnCores(watched.pids, CORES[0]);
      offering.keepOnCores(CORES[1]);
    }
    await offering.warmUp(watched, parts);
    const looking = new NodeLooks(cluster.httpUrl);
    for (let round = 0; round < parts.rounds; round++) {
      for (const kind of parts.kinds) {
        rounds.push(await offering.round({ name, watched, kind, parts, deadlinesMs }));
      }
    }
    return [...medianRows(rounds), ...looking.end(name)];
  } finally {
    await offering.stop();
    await cluster.end();
  }
}

/** Looks at the gateway's nodes: all of them serve all the time, so that none may be down. */
class NodeLooks {
  private readonly timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
  private down: ReadonlySet<string> = new Set();
  private falls = 0;
  private due = 0;
  private answered = 0;
  private isAsking = false;

  constructor(private readonly httpUrl: string) {}

  end(name: string): Measurement[] {
    clearInterval(this.timer);
    return [
      {
        name: `${name}: nodes taken for down wrongly`,
        value: this.falls,
        unit: 'times',
        bar: 0,
        bound: 'at-most',
      },
      // A gateway whose event loop stands still shows no falls either.
      {
        name: `${name}: looks at the nodes that were answered`,
        value: this.answered / Math.max(1, this.due),
        unit: 'of those due',
        bar: null,
      },
    ];
  }

  private async look(): Promise<void> {
    this.due += 1;
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      const reply = await fetch(`${this.httpUrl}/v1/cluster`);
      if (!reply.ok) return;
      this.answered += 1;
      const { nodes } = (await reply.json()) as ClusterState;
      const down = new Set(nodes.filter(({ state }) => state === 'down').map(({ name }) => name));
      for (const name of down) if (!this.down.has(name)) this.falls += 1;
      this.down = down;
    } catch {
      // A gateway that cannot answer this one tells nothing about its nodes.
    } finally {
      this.isAsking = false;
    }
  }
}
