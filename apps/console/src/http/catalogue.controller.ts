import { Body, Controller, Get, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { CataloguePage } from '../api-types.js';
import { ConsoleParts } from '../console-parts.js';
import { fieldsOf, integerOf } from '../fields.js';
import { Gate } from '../gate.js';

@Controller('console/api/catalogue')
export class ConsoleCatalogueController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
  ) {}

  @Get()
  async page(@Req() request: FastifyRequest): Promise<CataloguePage> {
    await this.gate.look(request);
    const changes = this.parts.runtime.changesOf('');
    const { sequence, liveItemCount, changedItemCount } = changes.state();
    const { bundleUuid } = changes;
    const generations = await changes.generations();
    return { sequence, liveItemCount, changedItemCount, bundleUuid, generations };
  }

  /** Makes the items those of an earlier version, as one more change. */
  @Post('roll-back')
  @HttpCode(200)
  async rollBack(
    @Req() request: FastifyRequest,
    @Body() body: unknown,
  ): Promise<{ readonly sequence: number }> {
    await this.gate.ask(request);
    const fields = fieldsOf(body, ['sequence']);
    const sequence = integerOf(fields, 'sequence', { min: 0, max: Number.MAX_SAFE_INTEGER });
    const name = String(sequence);
    const action = { action: 'roll-back-catalogue', role: 'admin', name } as const;
    return this.gate.act(request, action, async () => ({
      sequence: await this.parts.runtime.changesOf('').rollBack(sequence),
    }));
  }
}
