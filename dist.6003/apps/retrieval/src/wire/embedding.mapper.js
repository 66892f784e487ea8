/** EmbeddingService's messages <-> domain. */ import { WireNumberType } from "../../../../libs/ops/contracts/src/index.js";
import { bytesOf } from "../../../../libs/service/embedding/src/index.js";
import { invalid, text } from "../../../../libs/edge/grpc/src/index.js";
const NUMBER_TYPES = new Map([
    [
        WireNumberType.NUMBER_TYPE_UNSPECIFIED,
        'f32'
    ],
    [
        WireNumberType.NUMBER_TYPE_F32,
        'f32'
    ],
    [
        WireNumberType.NUMBER_TYPE_F16,
        'f16'
    ]
]);
/** Of bytes that a decoder read. */ export function parseWireEmbed(message) {
    const { model, texts, dimensions, promptName } = message;
    text('model', model);
    texts.forEach((given, index)=>{
        text(`texts[${index}]`, given);
    });
    numberTypeOf(message);
    return {
        model,
        texts,
        dimensions,
        promptName
    };
}
function numberTypeOf({ numberType }) {
    const type = NUMBER_TYPES.get(numberType);
    if (type !== undefined) return type;
    throw invalid('numberType', 'one of NUMBER_TYPE_F32, NUMBER_TYPE_F16', numberType);
}
export function toWireEmbed(answer, asked) {
    const { vectors, ...rest } = answer;
    return {
        ...rest,
        vectors: bytesOf(vectors, numberTypeOf(asked))
    };
}

//# sourceMappingURL=embedding.mapper.js.map