import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { ExplainAnswer, RecallAnswer, ScoreAnswer } from '@tessera/recall';
import { carrierOf } from '@tessera/telemetry';
import type { FastifyReply } from 'fastify';
import { type EdgeCall, RecallEdge } from '../recall-edge.js';
import { parseJsonExplain } from './explain.mapper.js';
import { parseJsonRecall } from './recall.mapper.js';
import { parseJsonScore } from './score.mapper.js';

/** Aborted when the connection closes before the answer was written. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** What an edge needs of a call over HTTP. */
export function callOf(reply: FastifyReply): EdgeCall {
  const { headers } = reply.request;
  return {
    edge: 'http',
    signal: goneSignal(reply),
    budgetUs: Number.POSITIVE_INFINITY,
    caller: carrierOf((name) => headers[name]?.toString()),
  };
}

@Controller('v1')
export class RecallHttpController {
  constructor(private readonly edge: RecallEdge) {}

  /** The answer's JSON has the fields of RecallResponse in camel case. */
  @Post('recall')
  @HttpCode(200)
  recall(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RecallAnswer> {
    return this.edge.recall(() => parseJsonRecall(body), callOf(reply));
  }

  /** The answer's JSON has the fields of ScoreResponse; outcomes are `scored` and `unknown`. */
  @Post('score')
  @HttpCode(200)
  score(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ScoreAnswer> {
    return this.edge.score(() => parseJsonScore(body), callOf(reply));
  }

  /** The answer's JSON has the fields of ExplainResponse; verdicts are words such as `pruned`. */
  @Post('explain')
  @HttpCode(200)
  explain(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ExplainAnswer> {
    return this.edge.explain(() => parseJsonExplain(body), callOf(reply));
  }
}
