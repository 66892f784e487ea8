/** EmbeddingService's messages <-> domain. */

import { type WireEmbedRequest, type WireEmbedResponse, WireNumberType } from '@tessera/contracts';
import { bytesOf, type EmbeddingAnswer, type EmbeddingRequest } from '@tessera/embedding';
import { invalid, text } from '@tessera/grpc';

const NUMBER_TYPES: ReadonlyMap<number, 'f32' | 'f16'> = new Map([
  [WireNumberType.NUMBER_TYPE_UNSPECIFIED, 'f32'],
  [WireNumberType.NUMBER_TYPE_F32, 'f32'],
  [WireNumberType.NUMBER_TYPE_F16, 'f16'],
]);

/** Request from a decoded message. */
export function parseWireEmbed(message: WireEmbedRequest): EmbeddingRequest {
  const { model, texts, dimensions, promptName } = message;
  text('model', model);
  texts.forEach((given, index) => {
    text(`texts[${index}]`, given);
  });
  numberTypeOf(message);
  return { model, texts, dimensions, promptName };
}

function numberTypeOf({ numberType }: WireEmbedRequest) {
  const type = NUMBER_TYPES.get(numberType);
  if (type !== undefined) return type;
  throw invalid('numberType', 'one of NUMBER_TYPE_F32, NUMBER_TYPE_F16', numberType);
}

export function toWireEmbed(answer: EmbeddingAnswer, asked: WireEmbedRequest): WireEmbedResponse {
  const { vectors, ...rest } = answer;
  return { ...rest, vectors: bytesOf(vectors, numberTypeOf(asked)) };
}
