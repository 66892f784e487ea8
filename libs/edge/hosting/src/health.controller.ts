import { randomUUID } from 'node:crypto';
import { Controller, Get, Res } from '@nestjs/common';
import { type Condition, Readiness } from '@tessera/lifecycle';
import type { FastifyReply } from 'fastify';
import { ServedVersions } from './served-versions.js';

const OK = 200;
const UNAVAILABLE = 503;

interface HealthAnswer {
  readonly live: true;
  readonly ready: boolean;
  readonly state: string;
  /** Why `ready` is false though the process has started. */
  readonly reason?: string;
  /** Dependencies of the process and the stores that it writes to, each with its own state. */
  readonly conditions: readonly Condition[];
  readonly versions: ServedVersions['versions'];
  /** Random name of the process, which its health over gRPC knows as a service. */
  readonly instance: string;
  /** Users' chains in the KV pool; left out: the process has none. */
  readonly chains?: number;
  /** Nodes of one word find each other's keys and values in a store; left out: in none. */
  readonly kvStore?: string;
  /** `RelevanceProfile` of libs/cluster/routing; left out: the process scores no texts. */
  readonly relevance?: object;
  /** How far the process is in the log of its cluster; left out: it follows none. */
  readonly clusterLog?: object;
}

/** Reports of a process on its own work in `/health`. DI token. */
export class OwnState {
  readonly instance = randomUUID();
  /** Users' chains in the KV pool; undefined: the process has none. */
  readonly chains: (() => number) | undefined;
  /** Undefined, or undefined from it: keys and values of users are its own. */
  readonly kvStore: (() => string | undefined) | undefined;
  /** Undefined: the process scores no texts. */
  readonly relevance: (() => object) | undefined;
  /** Undefined: it follows no log. */
  readonly clusterLog: (() => { readonly isStale: boolean }) | undefined;

  constructor({ chains, kvStore, relevance, clusterLog }: Partial<OwnState>) {
    this.chains = chains;
    this.kvStore = kvStore;
    this.relevance = relevance;
    this.clusterLog = clusterLog;
  }

  /** It has been cut off from its log for longer than it may. */
  get isStale(): boolean {
    return this.clusterLog?.().isStale ?? false;
  }

  /** Parts of the answer that the process has. */
  read(): Pick<HealthAnswer, 'chains' | 'kvStore' | 'relevance' | 'clusterLog'> {
    const { chains, kvStore, relevance, clusterLog } = this;
    const all = {
      chains: chains?.(),
      kvStore: kvStore?.(),
      relevance: relevance?.(),
      clusterLog: clusterLog?.(),
    };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  }
}

@Controller('health')
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly served: ServedVersions,
    private readonly own: OwnState,
  ) {}

  /** 200 while requests are taken, else 503. */
  @Get(['', 'ready'])
  ready(@Res({ passthrough: true }) reply: FastifyReply): HealthAnswer {
    reply.status(this.readiness.ready ? OK : UNAVAILABLE);
    return this.answer();
  }

  /** 200 while requests are taken and the state is the newest that the log has, else 503. */
  @Get('current')
  current(@Res({ passthrough: true }) reply: FastifyReply): HealthAnswer {
    const isCurrent = this.readiness.ready && !this.own.isStale;
    reply.status(isCurrent ? OK : UNAVAILABLE);
    return this.answer();
  }

  /** 200 while the process runs. */
  @Get('live')
  live(): HealthAnswer {
    return this.answer();
  }

  private answer(): HealthAnswer {
    const { ready, state: own, reason } = this.readiness;
    // It has started and takes calls: something that most of them need is away.
    const state = own === 'ready' && !ready ? 'blocked' : own;
    const why = reason === '' ? {} : { reason };
    const conditions = this.readiness.conditions.all();
    const { versions } = this.served;
    const who = { versions, instance: this.own.instance };
    return { live: true, ready, state, ...why, conditions, ...who, ...this.own.read() };
  }
}
