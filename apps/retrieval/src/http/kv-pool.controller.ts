import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { KvChain, KvIntegrity } from '@tessera/engine';
import { callerOf } from '@tessera/hosting';
import type { AppendAnswer } from '@tessera/recall';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { KvEdge } from '../kv-edge.js';
import { asItemId, asText, deadlineOf, objectWith, userSource } from './json-fields.js';
import { callOf } from './recall.controller.js';

/** The JSON of both directions has the fields of KvPoolService in camel case. */
@Controller('v1/kv')
export class KvPoolHttpController {
  constructor(private readonly edge: KvEdge) {}

  @Post('inspect')
  @HttpCode(200)
  inspect(@Body() body: unknown): { readonly chains: readonly KvChain[] } {
    const { userId } = objectWith(['userId'], body);
    return { chains: this.edge.inspect(asItemId('userId', userId)) };
  }

  @Post('drop-user')
  @HttpCode(200)
  async dropUser(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const fields = objectWith(['userId', 'deadlineMs'], body);
    const request = asItemId('userId', fields.userId);
    const parsed = { request, deadlineMs: deadlineOf(fields) };
    await this.edge.dropUser(parsed, callOf(reply), callerOf(reply.request));
    return {};
  }

  @Post('drop-version')
  @HttpCode(200)
  async dropVersion(@Body() body: unknown, @Req() request: FastifyRequest): Promise<object> {
    const { version } = objectWith(['version'], body);
    await this.edge.dropVersion(asText('version', version), 'http', callerOf(request));
    return {};
  }

  @Post('check-integrity')
  @HttpCode(200)
  checkIntegrity(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<KvIntegrity> {
    objectWith([], body ?? {});
    return this.edge.checkIntegrity(callOf(reply).signal);
  }

  @Post('append')
  @HttpCode(200)
  append(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AppendAnswer> {
    const fields = objectWith(['requestId', 'userId', 'profile', 'deadlineMs'], body);
    const request = userSource(fields);
    return this.edge.append({ request, deadlineMs: deadlineOf(fields) }, callOf(reply));
  }
}
