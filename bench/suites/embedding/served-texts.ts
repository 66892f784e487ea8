import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddingModels } from '@tessera/embedding';
import { type ServedStack, startStack } from '../../../tools/served/served-stack.js';
import { runtimeOptions } from '../../../tools/terminal/model-flags.js';
import { writeCodebooks } from '../../models/random-codebooks.js';
import { MINILM, randomEncoder } from '../../models/random-encoder.js';
import type { SuiteContext } from '../suite.js';
import { openOwn } from './own-models.js';

const DEADLINE_MS = 600_000;

/** The demo's recalls in a process that has an encoder of MiniLM's shape, and codebooks of it. */
export interface ServedTexts {
  readonly stack: ServedStack;
  readonly modelPath: string;
  readonly threads: number;
}

/** Runs `act` beside the service, and closes that. */
export async function withServedTexts<Made>(
  { flags, say }: SuiteContext,
  act: (served: ServedTexts) => Promise<Made>,
): Promise<Made> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-bench-texts-'));
  const threads = flags.integer('threads', 1, 256) ?? os.availableParallelism();
  const modelPath = randomEncoder(MINILM, say);
  const models = await openOwn({ modelPath, threads }, 'f32');
  try {
    const stack = await open(
      folder,
      models,
      runtimeOptions(flags, () => undefined),
    ).catch((error: unknown) => {
      models.close();
      throw error;
    });
    try {
      return await act({ stack, modelPath, threads });
    } finally {
      await stack.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function open(
  folder: string,
  models: EmbeddingModels,
  options: ReturnType<typeof runtimeOptions>,
): Promise<ServedStack> {
  const [{ digest: modelDigest, dimension } = { digest: '', dimension: 0 }] = models.facts;
  const codebooksPath = join(folder, 'codebooks');
  mkdirSync(codebooksPath);
  const { path } = options.catalogueSources[0] ?? { path: '' };
  const { computeType } = models;
  writeCodebooks(codebooksPath, levelSizesOf(path), { modelDigest, computeType, dimension });
  const changes = {
    folder: join(folder, 'changes'),
    sync: 'commit' as const,
    levelSizes: [],
    compactAfterChanges: 0,
    codebooksPath,
    onCompacted: () => undefined,
  };
  const textModels = models;
  return startStack(Object.assign({}, options, { changes, textModels }), DEADLINE_MS, models);
}

/** Codes that the items of a file of JSON lines use, by level. */
function levelSizesOf(path: string): number[] {
  const sizes: number[] = [];
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '') continue;
    const { sid } = JSON.parse(line) as { readonly sid: readonly number[] };
    for (const [level, code] of sid.entries()) {
      sizes[level] = Math.max(sizes[level] ?? 0, code + 1);
    }
  }
  return sizes;
}
