import { Controller, Get, Res } from '@nestjs/common';
import { Readiness } from '@tessera/lifecycle';
import type { FastifyReply } from 'fastify';
import { ServedVersions } from './served-versions.js';

const OK = 200;
const UNAVAILABLE = 503;

interface HealthAnswer {
  readonly live: true;
  readonly ready: boolean;
  readonly state: string;
  /** Why the state is `failed`. */
  readonly reason?: string;
  readonly versions: ServedVersions['versions'];
}

@Controller('health')
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly served: ServedVersions,
  ) {}

  /** 200 while requests are taken, else 503. */
  @Get(['', 'ready'])
  ready(@Res({ passthrough: true }) reply: FastifyReply): HealthAnswer {
    reply.status(this.readiness.ready ? OK : UNAVAILABLE);
    return this.answer();
  }

  /** 200 while the process runs. */
  @Get('live')
  live(): HealthAnswer {
    return this.answer();
  }

  private answer(): HealthAnswer {
    const { ready, state, reason } = this.readiness;
    const told = reason === '' ? {} : { reason };
    return { live: true, ready, state, ...told, versions: this.served.versions };
  }
}
