import type { Config } from '@tessera/config';
import { NativeEngine } from '@tessera/engine';
import { loadRelevance, Relevance } from '@tessera/relevance';

/** The model that scores texts, in an engine of its own. */
export interface OpenedRelevance {
  readonly relevance: Relevance;
  /** `template, parameters, compute type` for people. */
  readonly description: string;
  drain(budgetMs: number): Promise<void>;
  close(): Promise<void>;
}

const PASS_PROMPT_TOKENS = 512;
/** Documents of a call that are handed to the engine together; others follow as these end. */
const REQUESTS_AT_ONCE = 512;

/** Undefined where the configuration names none. */
export async function openRelevance({
  relevance: settings,
  engine: { passTimeTargetUs },
}: Config): Promise<OpenedRelevance | undefined> {
  const { path, computeType, threadCount, documentsMax, promptTokensMax } = settings;
  const { queueCapacity, batchRequestsMax, kvBytesMax } = settings;
  if (path === '') return undefined;
  const parts = await loadRelevance(path);
  const engine = await NativeEngine.open({
    modelPath: path,
    computeType,
    activationScalesPath: '',
    threadCount,
    // Recalls' threads keep to their CPUs, and these go where there is room.
    threadPlacement: 'free',
    queueCapacity,
    batchRequestsMax,
    batchRowsMax: PASS_PROMPT_TOKENS,
    prefillChunkTokens: PASS_PROMPT_TOKENS,
    passTimeTargetUs,
    batching: 'continuous',
    kvBytesMax,
    promptTokensMax,
    widthMax: 1,
    resultCountMax: 1,
    scoreItemsMax: 1,
  });
  try {
    const requestsAtOnce = Math.min(REQUESTS_AT_ONCE, queueCapacity);
    const limits = { documentsMax, promptTokensMax, requestsAtOnce };
    const { parameterCount } = engine.model;
    return {
      relevance: new Relevance({ engine, limits, ...parts }),
      description: `${parts.template.name}, ${parameterCount} parameters, ${computeType}`,
      drain: (budgetMs) => engine.drain(budgetMs),
      close: () => engine.close(),
    };
  } catch (error) {
    await engine.close();
    throw error;
  }
}
