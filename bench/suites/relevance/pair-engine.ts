import { loadConfig } from '@tessera/config';
import {
  ENGINE_CHOICES,
  type EngineOptions,
  type EngineRelevanceRequest,
  NativeEngine,
} from '@tessera/engine';
import { QUEUE_DOCUMENTS_MAX } from '@tessera/relevance';
import type { ModelShape } from '../../models/model-shape.js';
import { POSITIONS } from '../../models/model-shape.js';
import { randomModel } from '../../models/random-model.js';
import { commonTokens, inTokenOrder, LABELS, type Prompt } from './prompts.js';

const BUDGET_US = 600e6;
/** Of a pass, as in apps/standalone/src/relevance.ts. */
const PASS_PROMPT_TOKENS = 512;
/** Documents that share forward passes, as in the service. */
const BATCH_DOCUMENTS_MAX = 32;

export type PairComputeType = 'f32' | 'bf16';

/** Logits per prompt, and the time that all of them took. */
export interface PairAnswer {
  readonly totalMs: number;
  readonly logits: readonly (readonly number[])[];
}

/**
 * The engine in this process with a random model, set up as the service sets up the one that scores
 * texts, and asked by tokens.
 */
export class PairEngine {
  private constructor(private readonly engine: NativeEngine) {}

  /** @param threadCount left out: what the service takes on this machine */
  static async open(
    shape: ModelShape,
    computeType: PairComputeType,
    say: (line: string) => void,
    threadCount?: number,
  ): Promise<PairEngine> {
    const { relevance, engine: own } = loadConfig().config;
    const engine = await NativeEngine.open({
      modelPath: randomModel(shape, say),
      computeType,
      activationScalesPath: '',
      threadCount: threadCount ?? own.threadCount,
      ...ENGINE_CHOICES,
      queueCapacity: QUEUE_DOCUMENTS_MAX,
      batchRequestsMax: BATCH_DOCUMENTS_MAX,
      batchRowsMax: PASS_PROMPT_TOKENS,
      prefillChunkTokens: PASS_PROMPT_TOKENS,
      kvBytesMax: relevance.kvBytesMax,
      promptTokensMax: POSITIONS,
      widthMax: 1,
      resultCountMax: 1,
      scoreItemsMax: 1,
      headTokens: LABELS,
    } satisfies EngineOptions);
    return new PairEngine(engine);
  }

  async ask(prompts: readonly Prompt[]): Promise<PairAnswer> {
    const order = inTokenOrder(prompts);
    let before: Prompt = [];
    const requests = order.map((i): EngineRelevanceRequest => {
      const prompt = prompts[i] ?? [];
      const siblingTokens = commonTokens(prompt, before);
      before = prompt;
      return {
        promptTokens: Int32Array.from(prompt),
        labelTokens: LABELS,
        siblingTokens,
        scoreNorm: 'allowed',
        priority: 'normal',
        budgetUs: BUDGET_US,
      };
    });
    const started = performance.now();
    const answers = await Promise.all(this.engine.relevance(requests));
    const totalMs = performance.now() - started;
    const logits = new Array<readonly number[]>(prompts.length);
    for (const [at, i] of order.entries()) logits[i] = [...(answers[at]?.logits ?? [])];
    return { totalMs, logits };
  }

  close(): Promise<void> {
    return this.engine.close();
  }
}
