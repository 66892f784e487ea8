/**
 * The service among streams while everything around it dies: producers that repeat themselves and
 * come late, callers on topics, users that are erased, and at random times the service, the broker
 * or Redis is killed and comes back. In the end the store holds what a model of all that was sent
 * says, and every request has its answer.
 */

import { until } from '@tessera/testing';
import { Random } from '../../bench/models/random.js';
import { TopicClient } from '../e2e/topic-client.js';
import { pace } from '../soak/pace.js';
import type { Course, Kind, Soak } from '../soak/soak.js';
import { BehaviourModel } from './behaviour-model.js';
import { OfflineRecall } from './offline-recall.js';
import { Traffic } from './traffic.js';
import { judge } from './verdict.js';
import { type Disturbance, STORES, World } from './world.js';

const FLOOD = 10_000;
const CALM_MS_MAX = 1500;

export const trial: Kind = {
  usage: `
  A disturbance of broker, store or service under traffic, at a random time. Faults: something
  was lost, answered twice or answered otherwise than a model says.
  --store NAME    embedded (default) or redis
  --flood N       behaviours of one user in the end (default ${FLOOD})`,
  rounds: 20,
  flags: { store: 'text', flood: 'text' },
  needs: ['kafka', 'redis'],
  start: async (soak) => {
    const store = soak.flags.oneOf('store', STORES, 'embedded');
    const flood = soak.flags.integer('flood', 0, 10_000_000) ?? FLOOD;
    return new Trial(
      soak,
      await World.start(store, soak.random),
      flood,
      await OfflineRecall.open(),
    );
  },
};

class Trial implements Course {
  private readonly topics: TopicClient;
  private readonly model = new BehaviourModel();
  private readonly traffic: Traffic;
  /** Disturbances of this turn that are left: every kind comes once in each. */
  private left: Disturbance[] = [];

  constructor(
    private readonly soak: Soak,
    private readonly world: World,
    private readonly flood: number,
    private readonly offline: OfflineRecall,
  ) {
    const { seed } = soak;
    this.topics = new TopicClient(world.broker.address);
    this.traffic = new Traffic(world, this.topics, this.model, {
      topic: new Random(seed + 1),
      calls: new Random(seed + 2),
      requests: new Random(seed + 3),
      users: new Random(seed + 4),
    });
  }

  async begin(): Promise<void> {
    await this.topics.open();
    this.traffic.begin();
    await this.answered();
  }

  async round(): Promise<void> {
    const { random, say } = this.soak;
    if (this.left.length === 0) this.left = [...this.world.disturbances];
    const [disturbance] = this.left.splice(random.below(this.left.length), 1) as [Disturbance];
    await pace(random.below(CALM_MS_MAX));
    say(`  ${disturbance.name}`);
    await this.world.disturb(disturbance);
    await this.answered();
    await this.traffic.erase();
  }

  async finish(): Promise<void> {
    const { soak, topics, traffic, model, offline, world } = this;
    await traffic.end();
    await traffic.flood(this.flood);
    await until('all topics taken', async () => {
      const lags = await Promise.all(['behaviours', 'recall.requests'].map((t) => topics.lag(t)));
      return lags.every((lag) => lag === 0);
    });
    await until('all answers', () => traffic.asked.every(({ id }) => topics.answers.has(id)));
    await judge({ soak, world, traffic, topics, model, offline });
    soak.count('evictions', world.evictions.length);
  }

  async close(): Promise<void> {
    await this.traffic.end().catch(() => undefined);
    await this.topics.close();
    await this.offline.close();
    await this.world.stop();
  }

  private async answered(): Promise<void> {
    const id = await this.traffic.probe();
    await until(`an answer to ${id}`, () => this.topics.answers.has(id));
  }
}
