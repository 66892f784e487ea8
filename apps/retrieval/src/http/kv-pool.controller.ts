import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type {
  WireAppendRequest,
  WireDropUserRequest,
  WireDropVersionRequest,
  WireInspectRequest,
} from '@tessera/contracts';
import { callerOf } from '@tessera/hosting';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { KvEdge } from '../kv-edge.js';
import { HTTP_JSON, HTTP_RPCS } from './json-form.js';
import { callOf } from './recall.controller.js';

type Path = keyof typeof HTTP_RPCS;
const readRequest = <Request>(path: Path, body: unknown) =>
  HTTP_JSON.readRequest<Request>(HTTP_RPCS[path], body);
const writeResponse = (path: Path, message: object) =>
  HTTP_JSON.writeResponse(HTTP_RPCS[path], message);

/** Bodies are the JSON of the messages of KvPoolService. */
@Controller('v1/kv')
export class KvPoolHttpController {
  constructor(private readonly edge: KvEdge) {}

  @Post('inspect')
  @HttpCode(200)
  inspect(@Body() body: unknown): object {
    const { userId } = readRequest<WireInspectRequest>('/v1/kv/inspect', body);
    return writeResponse('/v1/kv/inspect', { chains: this.edge.inspect(userId) });
  }

  @Post('drop-user')
  @HttpCode(200)
  async dropUser(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const { userId, deadlineMs } = readRequest<WireDropUserRequest>('/v1/kv/drop-user', body);
    const parsed = { request: userId, deadlineMs };
    await this.edge.dropUser(parsed, callOf(reply), callerOf(reply.request));
    return {};
  }

  @Post('drop-version')
  @HttpCode(200)
  async dropVersion(@Body() body: unknown, @Req() request: FastifyRequest): Promise<object> {
    const { version } = readRequest<WireDropVersionRequest>('/v1/kv/drop-version', body);
    await this.edge.dropVersion(version, 'http', callerOf(request));
    return {};
  }

  @Post('check-integrity')
  @HttpCode(200)
  async checkIntegrity(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    readRequest('/v1/kv/check-integrity', body === undefined ? {} : body);
    const report = await this.edge.checkIntegrity(callOf(reply).signal);
    return writeResponse('/v1/kv/check-integrity', report);
  }

  @Post('append')
  @HttpCode(200)
  async append(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const asked = readRequest<WireAppendRequest>('/v1/kv/append', body);
    const { requestId, userId, profile, deadlineMs } = asked;
    const request = { requestId, userId, profile, scene: {}, skipUnknownItems: false };
    const answer = await this.edge.append({ request, deadlineMs }, callOf(reply));
    return writeResponse('/v1/kv/append', answer);
  }
}
