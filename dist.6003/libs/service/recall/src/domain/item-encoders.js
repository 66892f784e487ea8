import { expecting } from "../../../../ops/errors/src/index.js";
const invalid = expecting('CATALOGUE_INVALID');
/** The models of texts as encoders of items: the one that a digest names. */ export class ModelEncoders {
    models;
    constructor(models){
        this.models = models;
    }
    find(mark) {
        const { facts, computeType } = this.models;
        const found = facts.find(({ digest, tokensDigest })=>digest === mark.modelDigest && tokensDigest === (mark.tokensDigest ?? tokensDigest));
        if (found === undefined || computeType !== mark.computeType) return undefined;
        const isNamedWhole = mark.tokensDigest !== undefined;
        return new ModelEmbedder(this.models, {
            name: found.name,
            dimension: found.dimension,
            isNamedWhole
        }, Math.min(mark.dimension, found.dimension));
    }
}
/** A model's vectors of items' texts: the bits of `npm run embed`. */ let ModelEmbedder = class ModelEmbedder {
    models;
    model;
    dimension;
    name;
    constructor(models, model, dimension){
        this.models = models;
        this.model = model;
        this.dimension = dimension;
        const unnamed = model.isNamedWhole ? '' : ' (the codebooks do not say with which tokenizer)';
        this.name = `model ${model.name}${unnamed}`;
    }
    async embed(texts, fieldOf) {
        for (const [index, text] of texts.entries()){
            const problem = this.models.problemOf(text);
            if (problem !== undefined) throw invalid(fieldOf(index), problem.expected, problem.got);
        }
        const { requestTextsMax } = this.models.limits;
        const { name: model, dimension: whole } = this.model;
        const dimensions = this.dimension === whole ? undefined : this.dimension;
        const made = [];
        // One request after another, so that a large batch leaves others room in the queue.
        for(let first = 0; first < texts.length; first += requestTextsMax){
            const part = texts.slice(first, first + requestTextsMax);
            const { vectors } = await this.models.embed({
                model,
                texts: part,
                dimensions
            });
            for (const vector of vectors)made.push(vector);
        }
        return made;
    }
};

//# sourceMappingURL=item-encoders.js.map