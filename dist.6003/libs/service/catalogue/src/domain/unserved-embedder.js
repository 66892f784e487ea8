import { expecting } from "../../../../ops/errors/src/index.js";
const invalid = expecting('CATALOGUE_INVALID');
/** Of codebooks whose encoder this process does not have: vectors are taken, texts are refused. */ export class UnservedEmbedder {
    name;
    dimension;
    expected;
    constructor({ modelDigest, tokensDigest, computeType, dimension }){
        this.dimension = dimension;
        const tokens = tokensDigest === undefined ? '' : ` with tokens ${tokensDigest}`;
        const needed = `model ${modelDigest}${tokens} in ${computeType}`;
        this.name = `none: embedding.models lacks ${needed}, which made the codebooks' vectors`;
        this.expected = `a vector, or ${needed} in embedding.models, which made the codebooks' vectors`;
    }
    embed(texts, fieldOf) {
        return Promise.reject(invalid(fieldOf(0), this.expected, texts[0]));
    }
}

//# sourceMappingURL=unserved-embedder.js.map