import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import { HttpCalls } from '@tessera/hosting';
import type { FastifyReply } from 'fastify';
import type { Parsed } from '../recall-edge.js';
import { type AskedRelevance, RelevanceEdge } from '../relevance-edge.js';
import { renamed } from '../wire/body-fields.js';
import {
  isRerankBody,
  parseRerank,
  parseTeiRerank,
  rerankAnswer,
  teiAnswer,
} from '../wire/rerank.js';

/** Relevance in the bodies and answers that clients of others have. */
@Controller()
export class RerankHttpController {
  constructor(
    private readonly edge: RelevanceEdge,
    private readonly calls: HttpCalls,
  ) {}

  /** Cohere and Jina. */
  @Post(['v1/rerank', 'v2/rerank'])
  @HttpCode(200)
  async rerank(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const asked = parsedOnce(() => parseRerank(body));
    return rerankAnswer(await this.score(asked, reply), asked());
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
    const answer = await this.score(asked, reply).catch((thrown: unknown) => {
      throw renamed(TesseraError.from(thrown), 'documents', 'texts');
    });
    return teiAnswer(answer, asked());
  }

  private score(asked: () => Parsed<AskedRelevance>, reply: FastifyReply) {
    return this.calls.serve(reply, (call) => this.edge.score(asked, call));
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
