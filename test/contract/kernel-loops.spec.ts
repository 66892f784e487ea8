/**
 * The innermost loops of kernels, as the compiler has made them: what a machine of this build may
 * not be able to run is looked at in its instructions. Reads the objects that the addon is linked
 * of, with objdump (binutils).
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { describe, expect, it } from 'vitest';

const OBJECTS = join(
  ...[repositoryRoot, 'build', 'native', 'src', 'device', 'CMakeFiles', 'tessera_device.dir'],
  'cpu',
);

interface Instruction {
  readonly address: number;
  readonly name: string;
  readonly operands: string;
}

interface Loop {
  readonly instructions: number;
  readonly products: number;
  readonly stackStores: number;
  readonly registerCopies: number;
}

function instructionsOf(object: string): Instruction[] {
  const text = execFileSync('objdump', ['-d', '--no-show-raw-insn', object], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const lines = text.matchAll(/^\s+([0-9a-f]+):\s+(?:\{vex\} )?(\S+)[^\S\n]*(.*)$/gm);
  return [...lines].map(([, address = '', name = '', operands = '']) => ({
    address: Number.parseInt(address, 16),
    name,
    operands,
  }));
}

/** Loops without a further one inside that have the product in them, by their backward jumps. */
function innermostLoops(all: readonly Instruction[], product: string): Loop[] {
  const at = new Map(all.map(({ address }, index) => [address, index]));
  const spans = all.flatMap(({ name, operands, address }, end) => {
    if (!name.startsWith('j') || name === 'jmp') return [];
    const target = Number.parseInt(operands, 16);
    const begin = at.get(target);
    return begin === undefined || target >= address ? [] : [{ begin, end }];
  });
  const isInnermost = (one: { begin: number; end: number }) =>
    !spans.some((other) => other !== one && other.begin >= one.begin && other.end <= one.end);
  return spans.filter(isInnermost).flatMap(({ begin, end }) => {
    const body = all.slice(begin, end + 1);
    const count = (test: (one: Instruction) => boolean) => body.filter(test).length;
    const products = count(({ name }) => name === product);
    const isMove = ({ name }: Instruction) => name.startsWith('vmov');
    return products === 0
      ? []
      : [
          {
            ...{ instructions: body.length, products },
            stackStores: count(
              (one) => isMove(one) && /^%[xyz]mm\d+,.*\(%r[sb]p/.test(one.operands),
            ),
            registerCopies: count(
              (one) => isMove(one) && /^%[xyz]mm\d+,%[xyz]mm\d+$/.test(one.operands),
            ),
          },
        ];
  });
}

/** Object, product, products of the largest tile: of its rows by its vectors of columns. */
const KERNELS = [
  ['int8_avx512_vnni.cc.o', 'vpdpbusd', 24],
  ['int8_avx_vnni.cc.o', 'vpdpbusd', 12],
  ['dots_avx512.cc.o', 'vdpbf16ps', 28],
] as const;

describe('the innermost loops', () => {
  for (const [file, product, largest] of KERNELS) {
    const object = join(OBJECTS, file);
    it.skipIf(!existsSync(object))(`of ${file} keep their sums in registers`, () => {
      const loops = innermostLoops(instructionsOf(object), product);
      expect(Math.max(...loops.map(({ products }) => products))).toBeGreaterThanOrEqual(largest);
      for (const loop of loops) {
        expect(loop, JSON.stringify(loop)).toMatchObject({ stackStores: 0 });
        // Loops with more products find out where columns start, once for many rows.
        if (loop.products > largest) continue;
        expect(loop, JSON.stringify(loop)).toMatchObject({ registerCopies: 0 });
        // A broadcast for two products, the loads of a group, the rows' addresses, counters: no
        // more beside them.
        if (loop.products === largest) {
          expect(loop.instructions).toBeLessThanOrEqual(2.2 * largest);
        }
      }
    });
  }
});
