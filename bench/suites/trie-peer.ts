import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { output } from './native-bench.js';
import type { TrieTimes } from './trie-process.js';
import type { Share } from './trie-workload.js';

const HEAP_MEBIBYTES = 12_288;

export interface TrieForm {
  readonly items: number;
  readonly levelSize: number;
  readonly repetitions: number;
  readonly widths: readonly number[];
  /** Left out: all items. */
  readonly share?: Share;
}

/** Times of a pointer trie in JavaScript, measured in a process of its own. */
export async function pointerTrie(
  { kind }: { readonly kind: string },
  { items, levelSize, repetitions, widths, share }: TrieForm,
): Promise<TrieTimes> {
  const program = join(dirname(fileURLToPath(import.meta.url)), 'trie-process.js');
  const { modulus, rest } = share ?? { modulus: 1, rest: 0 };
  const numbers = [items, levelSize, repetitions, modulus, rest, ...widths].map(String);
  const heap = `--max-old-space-size=${HEAP_MEBIBYTES}`;
  return JSON.parse(await output(process.execPath, [heap, program, kind, ...numbers])) as TrieTimes;
}
