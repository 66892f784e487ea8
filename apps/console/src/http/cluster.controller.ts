import { Controller, Get, Req } from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import type { FastifyRequest } from 'fastify';
import type { ClusterPage } from '../api-types.js';
import { ConsoleParts } from '../console-parts.js';
import { Gate } from '../gate.js';

@Controller('console/api')
export class ConsoleClusterController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
  ) {}

  /** The nodes of the cluster that this node is one of, as its gateway sees them. */
  @Get('cluster')
  async cluster(@Req() request: FastifyRequest): Promise<ClusterPage> {
    await this.gate.look(request);
    const { gateway, state } = this.parts.cluster;
    if (gateway === '') return { gateway, table: null, fault: '' };
    try {
      return { gateway, table: await state(), fault: '' };
    } catch (thrown) {
      return { gateway, table: null, fault: TesseraError.from(thrown).message };
    }
  }
}
