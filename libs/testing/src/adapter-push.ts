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
  const contents = [Buffer.from(JSON.stringify(config)), Buffer.from(weights)];
  const names = ['adapter_config.json', 'adapter_model.safetensors'];
  const files = contents.map((content, i) => ({
    name: names[i] ?? '',
    bytes: content.length,
    sha256: sha256(content),
  }));
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
