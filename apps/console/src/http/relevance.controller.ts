import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RelevancePage } from '../api-types.js';
import { ConsoleParts } from '../console-parts.js';
import { Gate } from '../gate.js';
import { goneSignal } from '../gone-signal.js';

@Controller('console/api/relevance')
export class ConsoleRelevanceController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly gate: Gate,
  ) {}

  /** The body is that of `POST /v1/rerank`. Changes nothing. */
  @Post()
  @HttpCode(200)
  async score(
    @Req() request: FastifyRequest,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RelevancePage> {
    await this.gate.ask(request);
    return this.parts.scoreTexts(body, goneSignal(reply));
  }
}
