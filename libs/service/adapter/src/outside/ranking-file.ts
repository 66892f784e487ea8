import { join } from 'node:path';
import { parseJson, TesseraError } from '@tessera/errors';
import { readRegular, textOf } from '@tessera/files';
import { ItemTemplate, JsonField, type Tokenizer } from '@tessera/prompt';
import type { ItemReading } from '../domain/adapter-choice.js';
import type { EngineAdapter } from '../domain/adapter-engine.js';

const FILE_BYTES_MAX = 16 << 20;
const CODE = 'ADAPTER_INVALID';
const INVOCATION = 'alora_invocation_tokens';
const MEMBERS = ['version', 'name', 'model', 'item', 'maxItemTokens', 'attributes', 'heads'];

async function rootOf(folder: string, file: string): Promise<JsonField> {
  const path = join(folder, file);
  const text = textOf(path, await readRegular(path, FILE_BYTES_MAX), CODE);
  try {
    return new JsonField(CODE, file, '', parseJson(text));
  } catch (cause) {
    throw new TesseraError(CODE, `${file}: expected JSON: ${(cause as Error).message}`, { cause });
  }
}

/** An activated adapter changes the rows from its invocation tokens on, as PEFT has it. */
async function checkInvocation(folder: string, prefix: Int32Array, item: JsonField): Promise<void> {
  const config = await rootOf(folder, 'adapter_config.json');
  const tokens = config.key(INVOCATION).value as readonly number[];
  if (tokens.every((token, at) => token === prefix[at])) return;
  item.fail(`a text of the tokens ${tokens.join(', ')} first (${INVOCATION})`);
}

function scoreWeightOf(head: JsonField): number {
  const weight = head.key('scoreWeight');
  return weight.absent ? 0 : weight.finite();
}

/**
 * How a version's ranked items are read; the engine, which has loaded its heads, has checked them.
 * @param baseModel digest of the model that is served
 * @throws TesseraError ADAPTER_INVALID with the path of the member at fault
 */
export async function readRanking(
  folder: string,
  { isActivated, heads }: EngineAdapter,
  baseModel: string,
  tokenizer: Pick<Tokenizer, 'encode'>,
): Promise<ItemReading> {
  const root = await rootOf(folder, 'ranking.json');
  root.onlyKeys(MEMBERS);
  root.key('version').integer(1, 1);
  const model = root.key('model');
  if (!model.absent && model.value !== baseModel) model.fail(`'${baseModel}', which is served`);
  const item = new ItemTemplate(root, tokenizer);
  if (isActivated) await checkInvocation(folder, item.prefix, root.key('item'));
  const weights = root.key('heads').array(heads.length, heads.length).map(scoreWeightOf);
  return { item, scoreWeights: weights };
}
