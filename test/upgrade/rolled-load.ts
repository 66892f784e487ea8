import { ClusterCallers, codeOf } from '../cluster/cluster-callers.js';
import type { RealCluster } from '../cluster/real-cluster.js';
import { pace } from '../soak/pace.js';
import type { Soak } from '../soak/soak.js';

/** How soon a balancer knows that a gateway is not ready; shutdown.delayMs is well above it. */
const LOOK_MS = 100;
const WRITE_MS = 500;
const WRITTEN_ITEM = '1';
const WRITE_ATTEMPTS = 20;

interface Answered {
  readonly items: readonly { readonly itemId: string }[];
}

/**
 * Callers of a cluster behind a balancer that asks gateways for their readiness: recalls of fixed
 * users, each attempted once, and changes of one item, each repeated by its key until acknowledged.
 */
export class RolledLoad {
  private readonly callers: ClusterCallers;
  private readonly expected = new Map<string, string>();
  private ready: readonly string[];
  private isOver = false;
  private turn = 0;
  private writes = 0;
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly soak: Soak,
    private readonly cluster: RealCluster,
    private readonly callsPerSecond: number,
  ) {
    this.callers = new ClusterCallers(cluster);
    this.ready = cluster.gateways;
  }

  /** Users with behaviours, and their answers as they are now. */
  async prepare(users: number): Promise<void> {
    for (let at = 0; at < users; at += 1) {
      const userId = `rolled-${at}`;
      await this.callers.begin(this.gateway(), userId, 1 + 11 * at);
      this.expected.set(userId, await this.itemsOf(userId));
    }
  }

  start(): void {
    this.running = Promise.all([this.look(), this.recallAll(), this.writeAll()]);
  }

  /** A node that lacks an acknowledged change is a fault. */
  async finish(): Promise<void> {
    await this.end();
    this.soak.count('writes', this.writes);
    for (const node of this.cluster.nodes) {
      const count = (await this.callers.items(node)).get(WRITTEN_ITEM)?.count ?? 0;
      if (count !== this.writes) this.soak.fault(`${node}: has ${count} of ${this.writes} changes`);
    }
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.running;
    this.callers.close();
  }

  private gateway(): string {
    this.turn += 1;
    const among = this.ready.length > 0 ? this.ready : this.cluster.gateways;
    return among[this.turn % among.length] as string;
  }

  private async itemsOf(userId: string): Promise<string> {
    const answer = (await this.callers.recall(this.gateway(), userId)) as unknown as Answered;
    return answer.items.map(({ itemId }) => itemId).join();
  }

  private async look(): Promise<void> {
    while (!this.isOver) {
      const found = await Promise.all(
        this.cluster.gateways.map(async (name) => {
          const url = `${this.cluster.httpOf(name)}/health/ready`;
          const reply = await fetch(url).catch(() => undefined);
          return reply?.ok === true ? [name] : [];
        }),
      );
      this.ready = found.flat();
      await pace(LOOK_MS);
    }
  }

  private async recallAll(): Promise<void> {
    const users = [...this.expected.keys()];
    const underWay = new Set<Promise<void>>();
    for (let at = 0; !this.isOver; at += 1) {
      const one = this.recallOnce(users[at % users.length] as string);
      underWay.add(one);
      void one.finally(() => underWay.delete(one));
      await pace(1000 / this.callsPerSecond);
    }
    await Promise.all(underWay);
  }

  private async recallOnce(userId: string): Promise<void> {
    this.soak.count('recalls');
    try {
      const items = await this.itemsOf(userId);
      if (items === this.expected.get(userId)) return;
      this.soak.count('wrong');
      this.soak.fault(`${userId}: expected ${this.expected.get(userId)}, got ${items}`);
    } catch (error) {
      this.soak.count('lost');
      this.soak.fault(`${userId}: ${codeOf(error)}`);
    }
  }

  private async writeAll(): Promise<void> {
    while (!this.isOver) {
      const count = this.writes + 1;
      const set = JSON.stringify({ count });
      const change = { patchAttributes: { itemId: WRITTEN_ITEM, set } };
      await this.writeOnce(change, `rolled ${count}`);
      this.writes = count;
      await pace(WRITE_MS);
    }
  }

  /** By one key until it is acknowledged: a change waits for the nodes that serve. */
  private async writeOnce(change: object, key: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.callers.apply(this.gateway(), [change], key);
        return;
      } catch (error) {
        if (attempt === WRITE_ATTEMPTS) throw error;
        await pace(WRITE_MS);
      }
    }
  }
}
