import { availableParallelism } from "node:os";
import { EmbeddingModels, PASS_LIMITS, parseModelSpecs, TEXT_LIMITS } from "../../../libs/service/embedding/src/index.js";
/**
 * Compute threads of an encoder: those of the engine, to which it gives way, and one on the core
 * that the engine leaves to the edges.
 */ export function encoderThreads({ engine }) {
    return Math.min(availableParallelism(), engine.threadCount + 1);
}
/** The models of texts that the configuration names; `own` limits stand for the service's. */ export function openEmbedding(config, own = {}) {
    const { models, computeType, passTokensMax } = config.embedding;
    return EmbeddingModels.open({
        specs: parseModelSpecs(models, 'embedding.models'),
        computeType,
        limits: {
            threadCount: encoderThreads(config),
            tokensMax: passTokensMax,
            ...PASS_LIMITS,
            ...TEXT_LIMITS,
            ...own
        }
    });
}

//# sourceMappingURL=embedding.js.map