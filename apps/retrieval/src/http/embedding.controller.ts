import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { bytesOf, normalise } from '@tessera/embedding';
import type { FastifyReply } from 'fastify';
import { EmbeddingEdge } from '../embedding-edge.js';
import { parseEmbed, parseEmbeddings } from './embedding-body.js';
import { callOf } from './recall.controller.js';

/** As clients of OpenAI and of text-embeddings-inference ask for vectors of texts. */
@Controller()
export class EmbeddingHttpController {
  constructor(private readonly edge: EmbeddingEdge) {}

  @Post('v1/embeddings')
  @HttpCode(200)
  async embeddings(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    let encoding = 'float';
    const parse = () => {
      const asked = parseEmbeddings(body);
      encoding = asked.encoding;
      return asked;
    };
    const { model, vectors, tokens } = await this.edge.embed(parse, callOf(reply));
    const written = (vector: Float32Array) =>
      encoding === 'base64' ? bytesOf([vector], 'f32').toString('base64') : [...vector];
    return {
      object: 'list',
      data: vectors.map((vector, index) => ({
        object: 'embedding',
        index,
        embedding: written(vector),
      })),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    };
  }

  @Post('embed')
  @HttpCode(200)
  async embed(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<readonly number[][]> {
    let isNormalised = true;
    const parse = () => {
      const asked = parseEmbed(body);
      isNormalised = asked.isNormalised;
      return asked;
    };
    const { vectors } = await this.edge.embed(parse, callOf(reply));
    return vectors.map((vector) => [...(isNormalised ? normalise(vector) : vector)]);
  }
}
