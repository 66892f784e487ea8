import {
  type KafkaBroker,
  type RedisServer,
  startKafkaBroker,
  startRedisServer,
  temporaryFolder,
} from '@tessera/testing';
import type { Random } from '../../bench/models/random.js';
import { Service } from '../e2e/service.js';
import { pace } from '../soak/pace.js';
import { RETENTION } from './behaviour-model.js';

export const STORES = ['embedded', 'redis'] as const;
export type Store = (typeof STORES)[number];

const AWAY_MS_MAX = 1500;

export interface Disturbance {
  readonly name: string;
  /** Records may be delivered again: somebody may answer twice. */
  readonly isCrash: boolean;
  readonly act: () => Promise<void>;
}

/** Something after which records are delivered again. */
export interface Crash {
  readonly startMs: number;
  readonly endMs: number;
}

/** The service's message when its group has given it up: it was kept waiting for too long. */
const GIVEN_UP = /not aware of this member|generation id is not valid/;
/** Longer than a group waits for the heartbeat of a member. */
const SILENCE_MS = 15_000;

/** Broker, store and service, and what befalls them. */
export class World {
  private readonly killed: Crash[] = [];
  private readonly services: Service[] = [];
  /** Undefined while there is none to be called. */
  service: Service | undefined;

  private constructor(
    readonly store: Store,
    readonly broker: KafkaBroker,
    private readonly redis: RedisServer | undefined,
    private readonly folder: ReturnType<typeof temporaryFolder>,
    private readonly random: Random,
  ) {}

  static async start(store: Store, random: Random): Promise<World> {
    const broker = await startKafkaBroker();
    const redis = store === 'redis' ? await startRedisServer() : undefined;
    const world = new World(store, broker, redis, temporaryFolder({}), random);
    world.service = await world.startService();
    return world;
  }

  get disturbances(): readonly Disturbance[] {
    const { broker, redis } = this;
    const again = (signal: 'SIGTERM' | 'SIGKILL') => async () => {
      await this.endService(signal);
      this.service = await this.startService();
    };
    const killed = (server: KafkaBroker | RedisServer) => async () => {
      await server.kill();
      await pace(this.random.below(AWAY_MS_MAX));
      await server.start();
    };
    const everywhere = [
      { name: 'the service is stopped in order', isCrash: false, act: again('SIGTERM') },
      { name: 'the service is killed', isCrash: true, act: again('SIGKILL') },
      { name: 'the broker is killed', isCrash: true, act: killed(broker) },
    ];
    // A folder belongs to one process, so that only services on Redis can stand beside each other.
    if (redis === undefined) return everywhere;
    return [
      ...everywhere,
      { name: 'Redis is killed', isCrash: false, act: killed(redis) },
      { name: 'a second service comes and goes', isCrash: false, act: () => this.joined() },
    ];
  }

  async disturb({ isCrash, act }: Disturbance): Promise<void> {
    const startMs = Date.now();
    await act();
    if (isCrash) this.killed.push({ startMs, endMs: Date.now() });
  }

  /** Disturbances that were made, and those of a machine that is too busy. */
  get crashes(): readonly Crash[] {
    return [...this.killed, ...this.evictions];
  }

  get evictions(): readonly Crash[] {
    const lines = this.services.flatMap(({ stderr }) => stderr.split('\n'));
    return lines
      .filter((line) => GIVEN_UP.test(line))
      .map((line) => {
        const endMs = Date.parse((JSON.parse(line) as { time: string }).time);
        return { startMs: endMs - SILENCE_MS, endMs };
      });
  }

  private async joined(): Promise<void> {
    const second = await this.startService('second');
    await pace(this.random.below(AWAY_MS_MAX));
    await stopped(second);
  }

  async stop(): Promise<void> {
    if (this.service !== undefined) await stopped(this.service);
    await this.broker.stop();
    await this.redis?.stop();
    this.folder.remove();
  }

  private async endService(signal: NodeJS.Signals): Promise<void> {
    const { service } = this;
    this.service = undefined;
    if (signal === 'SIGTERM' && service !== undefined) return stopped(service);
    service?.child.kill(signal);
    await service?.ended;
  }

  /** Resolves once it serves its topics. */
  private async startService(place = 'service'): Promise<Service> {
    const variables = {
      TESSERA_BEHAVIOURS_STORE: this.store,
      TESSERA_BEHAVIOURS_PATH: `${this.folder.path}/${place}/behaviours`,
      TESSERA_BEHAVIOURS_REDIS: this.redis?.address ?? '',
      TESSERA_BEHAVIOURS_RETENTION: RETENTION,
      TESSERA_LOG_LEVEL: 'warn',
    };
    const service = await Service.start(variables, ['--kafka', this.broker.address]);
    this.services.push(service);
    await service.topicsServed();
    return service;
  }
}

/** @throws Error where a drain step failed or took too long */
async function stopped(service: Service): Promise<void> {
  const { status, stderr } = await service.stop();
  if (status !== 0) throw new Error(`the service drained with ${status}: ${stderr}`);
}
