import { createHash } from 'node:crypto';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

export interface FakePush {
  readonly header: {
    readonly name: string;
    readonly baseModel: string;
    readonly files: readonly { name: string; bytes: number; sha256: string }[];
    readonly remark: string;
  };
  readonly contents: readonly Buffer[];
}

/** A push of an adapter that FakeAdapterEngine takes; `weights` make it another version. */
export function fakePush(
  name: string,
  weights: string,
  config: object = {},
  baseModel = 'fake-model',
): FakePush {
  const texts = {
    'adapter_config.json': JSON.stringify(config),
    'adapter_model.safetensors': weights,
  };
  return pushOf(name, texts, baseModel);
}

/** A push of these files. */
export function pushOf(
  name: string,
  texts: Readonly<Record<string, string>>,
  baseModel = 'fake-model',
): FakePush {
  const contents = Object.values(texts).map((text) => Buffer.from(text));
  const files = Object.keys(texts).map((file, i) => {
    const content = contents[i] ?? Buffer.of();
    return { name: file, bytes: content.length, sha256: sha256(content) };
  });
  return { header: { name, baseModel, files, remark: '' }, contents };
}

/** Its parts as they come in, in chunks of `chunkBytes`. */
export async function* partsOf({ header, contents }: FakePush, chunkBytes = 5) {
  yield { header };
  const all = Buffer.concat(contents);
  for (let at = 0; at < all.length; at += chunkBytes) {
    yield { data: all.subarray(at, at + chunkBytes) };
  }
  yield { isEnd: true as const };
}
