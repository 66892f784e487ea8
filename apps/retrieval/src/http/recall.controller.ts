import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { ExplainAnswer, RecallAnswer, ScoreAnswer } from '@tessera/recall';
import type { FastifyReply } from 'fastify';
import { RecallEdge } from '../recall-edge.js';
import { parseJsonExplain } from './explain.mapper.js';
import { parseJsonRecall } from './recall.mapper.js';
import { parseJsonScore } from './score.mapper.js';

/** Aborted when the connection closes before the answer was written. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
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
    const signal = goneSignal(reply);
    const call = { edge: 'http' as const, signal, budgetUs: Number.POSITIVE_INFINITY };
    return this.edge.recall(() => parseJsonRecall(body), call);
  }

  /** The answer's JSON has the fields of ScoreResponse; outcomes are `scored` and `unknown`. */
  @Post('score')
  @HttpCode(200)
  score(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ScoreAnswer> {
    const signal = goneSignal(reply);
    const call = { edge: 'http' as const, signal, budgetUs: Number.POSITIVE_INFINITY };
    return this.edge.score(() => parseJsonScore(body), call);
  }

  /** The answer's JSON has the fields of ExplainResponse; verdicts are words such as `pruned`. */
  @Post('explain')
  @HttpCode(200)
  explain(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ExplainAnswer> {
    const signal = goneSignal(reply);
    const call = { edge: 'http' as const, signal, budgetUs: Number.POSITIVE_INFINITY };
    return this.edge.explain(() => parseJsonExplain(body), call);
  }
}
