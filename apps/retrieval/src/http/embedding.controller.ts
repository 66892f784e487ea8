import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { bytesOf, type EachAnswer, normalise } from '@tessera/embedding';
import { TesseraError } from '@tessera/errors';
import { HttpCalls } from '@tessera/hosting';
import type { FastifyReply } from 'fastify';
import { EmbeddingEdge } from '../embedding-edge.js';
import { renamed } from '../wire/body-fields.js';
import {
  type AskedVectors,
  EMBED,
  EMBEDDINGS,
  parseEmbed,
  parseEmbeddings,
  promptKeyOf,
} from './embedding-body.js';

/** Vectors of texts as clients of OpenAI and of text-embeddings-inference ask for them. */
@Controller()
export class EmbeddingHttpController {
  constructor(
    private readonly edge: EmbeddingEdge,
    private readonly calls: HttpCalls,
  ) {}

  @Post('v1/embeddings')
  @HttpCode(200)
  async embeddings(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const { encoding, answer } = await this.ask(body, EMBEDDINGS, parseEmbeddings, reply);
    const { model, vectors, tokens, failures } = answer;
    const written = (vector: Float32Array) =>
      encoding === 'base64' ? bytesOf([vector], 'f32').toString('base64') : [...vector];
    return {
      object: 'list',
      data: vectors.flatMap((vector, index) =>
        vector === undefined ? [] : [{ object: 'embedding', index, embedding: written(vector) }],
      ),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
      ...(failures.length > 0 && { failures: failures.map(failureOf(EMBEDDINGS.textsAt)) }),
    };
  }

  /** huggingface_hub's clients ask at the root. */
  @Post(['embed', ''])
  @HttpCode(200)
  async embed(
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<readonly (number[] | null)[]> {
    const { isNormalised, answer } = await this.ask(body, EMBED, parseEmbed, reply);
    return answer.vectors.map((vector) => {
      if (vector === undefined) return null;
      return [...(isNormalised ? normalise(vector) : vector)];
    });
  }

  /** The edge parses, so that refusals are counted; they name the fields of the caller's body. */
  private async ask<Asked extends AskedVectors>(
    body: unknown,
    places: typeof EMBED,
    parse: (body: unknown) => Asked,
    reply: FastifyReply,
  ): Promise<Asked & { readonly answer: EachAnswer }> {
    let asked: Asked | undefined;
    const parsed = () => {
      asked = parse(body);
      return asked;
    };
    try {
      const answer = await this.calls.serve(reply, (call) => this.edge.embedEach(parsed, call));
      return Object.assign({}, asked as Asked, { answer });
    } catch (thrown) {
      const error = renamed(TesseraError.from(thrown), 'texts', places.textsAt);
      throw renamed(error, 'promptName', promptKeyOf(body, places));
    }
  }
}

/** Failure of one text without a vector, where the caller wanted those of the others. */
function failureOf(textsAt: string) {
  return ({ index, error }: EachAnswer['failures'][number]) => {
    const { code, message } = renamed(error, 'texts', textsAt);
    return { index, code, message };
  };
}
