import { resolve } from 'node:path';
import { loadConfig } from '@tessera/config';
import { type EmbeddingModels, TEXT_LIMITS } from '@tessera/embedding';
import { TEXT_COMPUTE_TYPES } from '@tessera/engine';
import { visible } from '@tessera/errors';
import { encoderThreads, openEmbedding } from '../apps/standalone/src/embedding.js';
import { embedFile } from './embed/embed-file.js';
import { Flags, fail, print, runCommand } from './terminal/command.js';
import { readTexts } from './terminal/json-file.js';
import { ProgressLine } from './terminal/progress.js';

const THREADS_MAX = 256;
const DIMENSIONS_MAX = 65_536;
const NAME = 'model';

const USAGE = `usage: npm run embed -- --model DIR --texts FILE.json [flags]

Vectors of texts by a Hugging Face or SentenceTransformers folder (docs/integrate/embedding.md).
  --texts FILE       an array of texts
  --dtype TYPE       of the products: f32 (default), bf16, w8a8 or w8a8-static, which
                     npm run doctor -- --calibrate --model DIR --texts FILE comes before
  --dimensions N     first numbers of each vector alone
  --prompt-name NAME   which of the model's prompts stands before each text (default: its own)
  --threads N
  --out FILE.npy     the vectors as an array of NumPy, and FILE.json with what made them, for
                     trainer sids (docs/concepts/semantic-ids.md); the same command resumes
  --json             an array of vectors on the standard output and nothing else`;

async function printed(
  models: EmbeddingModels,
  flags: Flags,
  texts: readonly string[],
): Promise<string> {
  const dimensions = flags.integer('dimensions', 1, DIMENSIONS_MAX);
  const promptName = flags.text('prompt-name');
  const answer = await models.embed({ model: NAME, texts, dimensions, promptName });
  const { vectors, tokens, truncated, modelDigest } = answer;
  return flags.has('json')
    ? JSON.stringify(vectors.map((vector) => [...vector]))
    : `${vectors.length} vectors of ${answer.dimensions} numbers, ${tokens} tokens, ` +
        `${truncated} texts truncated; model ${modelDigest}`;
}

async function written(
  models: EmbeddingModels,
  flags: Flags,
  texts: readonly string[],
  out: string,
): Promise<string> {
  if (flags.text('prompt-name') !== undefined) {
    fail('prompt-name', 'none with --out: new ads get the default prompt', 'one');
  }
  if (!out.endsWith('.npy')) fail('out', 'a name that ends in .npy', out);
  const progress = new ProgressLine();
  const made = await embedFile(models, texts, out, progress.update);
  progress.end();
  if (flags.has('json')) return JSON.stringify(made);
  const { dimension, truncated, emptyTexts, resumed, modelDigest } = made;
  const notes = `${truncated} truncated, ${emptyTexts} empty (zeros), ${resumed} were there`;
  return `${made.texts} vectors of ${dimension} numbers in ${out}; ${notes}; model ${modelDigest}`;
}

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, {
    model: 'text',
    texts: 'text',
    dtype: 'text',
    dimensions: 'text',
    'prompt-name': 'text',
    threads: 'text',
    out: 'text',
    json: 'switch',
  });
  const texts = await readTexts('texts', flags.required('texts'));
  const { config } = loadConfig();
  const asked = {
    models: `${NAME}=${resolve(flags.required('model'))}`,
    computeType: flags.oneOf('dtype', TEXT_COMPUTE_TYPES, config.embedding.computeType),
  };
  const embedding = Object.assign({}, config.embedding, asked);
  const models = await openEmbedding(
    { embedding, engine: config.engine },
    {
      threadCount: flags.integer('threads', 1, THREADS_MAX) ?? encoderThreads(config),
      requestTextsMax: Math.max(texts.length, TEXT_LIMITS.requestTextsMax),
      queueTextsMax: Math.max(texts.length, TEXT_LIMITS.queueTextsMax),
    },
  );
  for (const note of models.notes) process.stderr.write(visible(`${note}\n`));
  try {
    const out = flags.text('out');
    await print(
      out === undefined
        ? await printed(models, flags, texts)
        : await written(models, flags, texts, out),
    );
  } finally {
    models.close();
  }
});
