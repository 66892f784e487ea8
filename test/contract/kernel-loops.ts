import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';

/** Where the addon's build leaves the objects of kernels. */
export const KERNEL_OBJECTS = join(
  ...[repositoryRoot, 'build', 'native', 'src', 'device', 'CMakeFiles', 'tessera_device.dir'],
  'cpu',
);

/** The innermost loops of one kind of product. */
export interface KernelLoops {
  readonly name: string;
  readonly object: string;
  /** The instructions without which it does not run. */
  readonly needs: 'avx2' | 'avx-vnni' | 'avx512' | 'amx';
  /** Functions that are looked at, demangled; all without it. */
  readonly symbol?: RegExp;
  readonly product: RegExp;
  /** Of products that another instruction adds to their sum. */
  readonly sum?: RegExp;
  /** Products in one pass through the loop of the largest tile. */
  readonly largest: number;
  /** At most in that loop: the loads, addresses and counters beside them. */
  readonly instructionsPerProduct: number;
  /** Moves from one vector register to another in any loop of at most `largest` products. */
  readonly registerCopies: number;
}

export const KERNEL_LOOPS: readonly KernelLoops[] = [
  {
    name: 'F32 avx2',
    object: 'avx2.cc.o',
    needs: 'avx2',
    symbol: /panel_tile<\d+, \d+, float>/,
    product: /^vfmadd/,
    largest: 48,
    instructionsPerProduct: 2.2,
    registerCopies: 0,
  },
  {
    name: 'F32 avx512',
    object: 'avx512.cc.o',
    needs: 'avx512',
    symbol: /panel_tile<\d+, \d+, float>/,
    product: /^vfmadd/,
    largest: 112,
    instructionsPerProduct: 2,
    registerCopies: 0,
  },
  {
    name: 'BF16 as F32 avx512',
    object: 'avx512.cc.o',
    needs: 'avx512',
    symbol: /panel_tile<\d+, \d+, unsigned short>/,
    product: /^vfmadd/,
    largest: 192,
    instructionsPerProduct: 2,
    registerCopies: 24,
  },
  {
    name: 'BF16 avx512-bf16',
    object: 'dots_avx512.cc.o',
    needs: 'avx512',
    product: /^vdpbf16ps/,
    largest: 28,
    instructionsPerProduct: 2.2,
    registerCopies: 0,
  },
  {
    name: 'BF16 amx',
    object: 'amx.cc.o',
    needs: 'amx',
    product: /^tdpbf16ps/,
    largest: 4,
    instructionsPerProduct: 5,
    registerCopies: 0,
  },
  {
    name: 'INT8 avx2',
    object: 'int8_avx2.cc.o',
    needs: 'avx2',
    symbol: /multiply_(few|tiles)</,
    product: /^vpmaddwd/,
    sum: /^vpaddd/,
    largest: 24,
    instructionsPerProduct: 3.4,
    registerCopies: 10,
  },
  {
    name: 'INT8 avx-vnni',
    object: 'int8_avx_vnni.cc.o',
    needs: 'avx-vnni',
    product: /^vpdpbusd/,
    largest: 12,
    instructionsPerProduct: 2.1,
    registerCopies: 0,
  },
  {
    name: 'INT8 avx512-vnni',
    object: 'int8_avx512_vnni.cc.o',
    needs: 'avx512',
    product: /^vpdpbusd/,
    largest: 12,
    instructionsPerProduct: 2.1,
    registerCopies: 0,
  },
  {
    name: 'INT8 amx',
    object: 'amx.cc.o',
    needs: 'amx',
    product: /^tdpbssd/,
    largest: 2,
    // 16 rows are converted, scaled and added after each: three instructions a row.
    instructionsPerProduct: 90,
    registerCopies: 0,
  },
];

export interface Instruction {
  readonly address: number;
  readonly name: string;
  readonly operands: string;
  /** As an assembler reads it. */
  readonly text: string;
}

export interface Loop {
  readonly body: readonly Instruction[];
  readonly products: number;
  readonly stackStores: number;
  readonly registerCopies: number;
}

/** Instructions of the functions of an object, one list per function. Needs objdump (binutils). */
function functionsOf(object: string, symbol: RegExp | undefined): Instruction[][] {
  const text = execFileSync('objdump', ['-dC', '--no-show-raw-insn', object], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return text
    .split(/^[0-9a-f]+ </m)
    .slice(1)
    .filter((part) => symbol?.test(part.slice(0, part.indexOf('\n'))) ?? true)
    .map((part) => {
      const lines = part.matchAll(/^\s+([0-9a-f]+):\s+((?:\{vex\} )?)(\S+)[^\S\n]*(.*)$/gm);
      return [...lines].map(([, address = '', prefix = '', name = '', operands = '']) => ({
        address: Number.parseInt(address, 16),
        name,
        operands,
        text: `${prefix}${name} ${operands.replace(/\s+[#<].*$/, '')}`,
      }));
    });
}

/** Loops without a further one inside that have the product in them, by their backward jumps. */
function innermostLoops(all: readonly Instruction[], product: RegExp): Loop[] {
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
    const products = body.filter(({ name }) => product.test(name)).length;
    if (products === 0) return [];
    const moves = (operands: RegExp) =>
      body.filter((one) => one.name.startsWith('vmov') && operands.test(one.operands)).length;
    const stackStores = moves(/^%[xyz]mm\d+,.*\(%r[sb]p/);
    return [{ body, products, stackStores, registerCopies: moves(/^%[xyz]mm\d+,%[xyz]mm\d+$/) }];
  });
}

export function loopsOf({ object, symbol, product }: KernelLoops): Loop[] {
  return functionsOf(join(KERNEL_OBJECTS, object), symbol).flatMap((all) =>
    innermostLoops(all, product),
  );
}
