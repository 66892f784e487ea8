import { MemoryBehaviourStore } from '@tessera/behaviour';
import { prepareCatalogue } from '@tessera/catalogue';
import {
  type Binding,
  type Catalogue,
  type EngineModel,
  type EngineRequest,
  type KvPrefetch,
  readModelShape,
} from '@tessera/engine';
import { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import { CompiledTemplate, loadTemplate, loadTokenizer } from '@tessera/prompt';
import { type RecallEngine, type RecallRuntimeOptions, UseCases } from '@tessera/recall';
import type { Case } from '../evaluate/cases.js';

const BUDGET_US = 60e6;

/** Ends each request once its prompt is there. */
const RECORDED = new TesseraError('ENGINE_UNAVAILABLE', 'prompts are being recorded');
const refuse = () => Promise.reject(RECORDED);

/** Keeps the prompts that it is asked for, and computes nothing. */
class PromptRecorder implements RecallEngine {
  readonly prompts: Int32Array[] = [];
  readonly score = refuse;
  readonly rank = refuse;
  readonly append = refuse;

  constructor(readonly model: EngineModel) {}

  bind(catalogue: Catalogue): Binding {
    return { slot: 0, catalogue };
  }

  recall({ promptTokens }: EngineRequest): Promise<never> {
    this.prompts.push(promptTokens);
    return refuse();
  }

  prefetch(): KvPrefetch {
    return { ticket: 0, release: () => undefined };
  }
}

/** The prompts that the service would give the engine for these histories. */
export async function promptsOf(
  options: RecallRuntimeOptions,
  cases: readonly Case[],
): Promise<readonly Int32Array[]> {
  const { modelPath, catalogueSources, titlesPath, cacheDir, engine: limits } = options;
  const template = await loadTemplate(modelPath);
  const tokenizer = await loadTokenizer(modelPath);
  const { catalogue } = await prepareCatalogue({
    sources: catalogueSources,
    titlesPath,
    cacheDir,
    onProgress: options.onProgress,
  });
  try {
    const engine = new PromptRecorder(shapeAlone(modelPath));
    const useCases = new UseCases({
      engine,
      catalogue,
      binding: engine.bind(catalogue),
      template: new CompiledTemplate(template, tokenizer, catalogue.summary.levelSizes),
      behaviours: new MemoryBehaviourStore(new Map()),
      erasures: new Erasures(),
      process: options.process,
      defaults: options.recall,
      promptTokensMax: limits.promptTokensMax,
      widthMax: limits.widthMax,
      resultCountMax: limits.resultCountMax,
      scoreItemsMax: limits.scoreItemsMax,
    });
    for (const { history } of cases) {
      await useCases.recall(asked(history), context()).catch((thrown) => {
        if (thrown !== RECORDED) throw thrown;
      });
    }
    return engine.prompts;
  } finally {
    catalogue.close();
  }
}

/** How long prompts may be is the model's to say; nothing is computed with it. */
function shapeAlone(modelPath: string): EngineModel {
  const shape = readModelShape(modelPath);
  return {
    ...shape,
    digest: '',
    computeType: 'bf16',
    kvBytesPerPosition: 0,
    slotBytes: 0,
    stateBytes: 0,
    headSize: shape.vocabSize,
    weightBytes: 0,
    instructionSet: '',
  };
}

function asked(history: readonly string[]) {
  return {
    requestId: '',
    history,
    profile: {},
    scene: {},
    resultCount: 0,
    widths: [],
    itemsPerSid: 0,
    skipUnknownItems: true,
  };
}

function context() {
  return { signal: new AbortController().signal, budgetUs: BUDGET_US };
}
