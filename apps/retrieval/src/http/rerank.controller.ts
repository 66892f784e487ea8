import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import type { FastifyReply } from 'fastify';
import { RelevanceEdge } from '../relevance-edge.js';
import { renamed } from '../wire/body-fields.js';
import {
  isRerankBody,
  parseRerank,
  parseTeiRerank,
  rerankAnswer,
  teiAnswer,
} from '../wire/rerank.js';
import { callOf } from './recall.controller.js';

/** Relevance in the bodies and answers that clients of others have. */
@Controller()
export class RerankHttpController {
  constructor(private readonly edge: RelevanceEdge) {}

  /** Cohere and Jina. */
  @Post(['v1/rerank', 'v2/rerank'])
  @HttpCode(200)
  async rerank(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const asked = parsedOnce(() => parseRerank(body));
    return rerankAnswer(await this.edge.score(asked, callOf(reply)), asked());
  }

  /** Text Embeddings Inference; with documents in place of texts, as the routes above. */
  @Post('rerank')
  @HttpCode(200)
  async teiRerank(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    if (isRerankBody(body)) return this.rerank(body, reply);
    const asked = parsedOnce(() => parseTeiRerank(body));
    const answer = await this.edge.score(asked, callOf(reply)).catch((thrown: unknown) => {
      throw renamed(TesseraError.from(thrown), 'documents', 'texts');
    });
    return teiAnswer(answer, asked());
  }
}

/** The edge parses, so that refusals are counted; the answer needs what was parsed. */
function parsedOnce<Parsed extends object>(parse: () => Parsed): () => Parsed {
  let parsed: Parsed | undefined;
  return () => {
    parsed ??= parse();
    return parsed;
  };
}
