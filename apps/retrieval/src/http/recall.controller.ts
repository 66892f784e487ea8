import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { WireScoreRequest } from '@tessera/contracts';
import { invalid } from '@tessera/grpc';
import { type RecallRequest, readEligibility } from '@tessera/recall';
import { carrierOf } from '@tessera/telemetry';
import type { FastifyReply } from 'fastify';
import { type EdgeCall, type Parsed, RecallEdge } from '../recall-edge.js';
import { type AskedExplanation, questionOf, toWireExplanation } from '../wire/explain.mapper.js';
import { type AskedRecall, recallOf, toWireResponse } from '../wire/recall.mapper.js';
import { scoresAskedOf, toWireScores } from '../wire/score.mapper.js';
import { HTTP_JSON, HTTP_RPCS } from './json-form.js';

/** Aborted when the connection closes before the answer was written. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** The parts of an HTTP call that an edge needs. */
export function callOf(reply: FastifyReply): EdgeCall {
  const { headers } = reply.request;
  return {
    edge: 'http',
    signal: goneSignal(reply),
    budgetUs: Number.POSITIVE_INFINITY,
    caller: carrierOf((name) => headers[name]?.toString()),
  };
}

const RECALL = HTTP_RPCS['/v1/recall'];
const SCORE = HTTP_RPCS['/v1/score'];
const EXPLAIN = HTTP_RPCS['/v1/explain'];

/** Its eligibility is the object of docs/concepts/eligibility.md. */
type JsonRecall = AskedRecall & { readonly eligibility: object | undefined };

function jsonRecallOf(asked: JsonRecall): Parsed<RecallRequest> {
  return recallOf(asked, asked.eligibility && readEligibility(asked.eligibility));
}

/** vLLM scores pairs of texts at the same path. */
function refuseTextScores(body: unknown): void {
  const field = ['text_1', 'text_2', 'queries'].find((name) => name in Object(body));
  if (field === undefined) return;
  const expected = 'userId and items of the catalogue: texts are scored by POST /v1/rerank';
  throw invalid(field, expected, 'a text to score');
}

export function parseJsonRecall(body: unknown): Parsed<RecallRequest> {
  return jsonRecallOf(HTTP_JSON.readRequest<JsonRecall>(RECALL, body));
}

/** Bodies are the JSON of the messages of RecallService, ScoreService and ExplainService. */
@Controller('v1')
export class RecallHttpController {
  constructor(private readonly edge: RecallEdge) {}

  @Post('recall')
  @HttpCode(200)
  async recall(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const answer = await this.edge.recall(() => parseJsonRecall(body), callOf(reply));
    return HTTP_JSON.writeResponse(RECALL, toWireResponse(answer));
  }

  @Post('score')
  @HttpCode(200)
  async score(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const parse = () => {
      refuseTextScores(body);
      return scoresAskedOf(HTTP_JSON.readRequest<WireScoreRequest>(SCORE, body));
    };
    const answer = await this.edge.score(parse, callOf(reply));
    return HTTP_JSON.writeResponse(SCORE, toWireScores(answer));
  }

  @Post('explain')
  @HttpCode(200)
  async explain(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const parse = () =>
      questionOf(HTTP_JSON.readRequest<AskedExplanation<JsonRecall>>(EXPLAIN, body), jsonRecallOf);
    const answer = await this.edge.explain(parse, callOf(reply));
    return HTTP_JSON.writeResponse(EXPLAIN, toWireExplanation(answer));
  }
}
