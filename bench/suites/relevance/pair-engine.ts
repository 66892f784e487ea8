import { loadConfig } from '@tessera/config';
import { type EngineRelevanceRequest, NativeEngine } from '@tessera/engine';
import type { ModelShape } from '../../models/model-shape.js';
import { POSITIONS } from '../../models/model-shape.js';
import { randomModel } from '../../models/random-model.js';
import { LABELS } from './prompts.js';

const BUDGET_US = 600e6;

/** Logits per prompt, and the time that all of them took. */
export interface PairAnswer {
  readonly totalMs: number;
  readonly logits: readonly (readonly number[])[];
}

/** The engine in this process with a random model, asked by tokens. */
export class PairEngine {
  private constructor(private readonly engine: NativeEngine) {}

  static async open(
    shape: ModelShape,
    computeType: 'f32' | 'bf16',
    threadCount: number,
    say: (line: string) => void,
  ): Promise<PairEngine> {
    const engine = await NativeEngine.open({
      ...loadConfig().config.engine,
      modelPath: randomModel(shape, say),
      computeType,
      activationScalesPath: '',
      threadCount,
      passTimeTargetUs: 0,
      promptTokensMax: POSITIONS,
    });
    return new PairEngine(engine);
  }

  async ask(prompts: readonly (readonly number[])[]): Promise<PairAnswer> {
    const order = prompts.map((_, i) => i).sort((a, b) => compare(prompts, a, b));
    const requests = order.map((i): EngineRelevanceRequest => {
      const promptTokens = Int32Array.from(prompts[i] ?? []);
      return {
        promptTokens,
        labelTokens: LABELS,
        siblingTokens: 0,
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

  get computedTokens(): number {
    return this.engine.stats().prefillTokens;
  }

  close(): Promise<void> {
    return this.engine.close();
  }
}

function compare(prompts: readonly (readonly number[])[], a: number, b: number): number {
  const one = prompts[a] ?? [];
  const other = prompts[b] ?? [];
  const at = one.findIndex((token, i) => token !== other[i]);
  return at < 0 ? one.length - other.length : (one[at] ?? -1) - (other[at] ?? -1);
}
