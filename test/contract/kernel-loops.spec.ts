/**
 * The innermost loops of kernels, as the compiler has made them: what a machine of this build may
 * not be able to run is looked at in its instructions. Reads the objects that the addon is linked
 * of.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KERNEL_LOOPS, KERNEL_OBJECTS, loopsOf } from './kernel-loops.js';

describe('the innermost loops', () => {
  for (const kernel of KERNEL_LOOPS) {
    const isBuilt = existsSync(join(KERNEL_OBJECTS, kernel.object));
    it.skipIf(!isBuilt)(`of ${kernel.name} keep their sums in registers`, () => {
      const loops = loopsOf(kernel);
      const { largest } = kernel;
      expect(Math.max(...loops.map(({ products }) => products))).toBeGreaterThanOrEqual(largest);
      for (const { body, ...loop } of loops) {
        const found = JSON.stringify({ ...loop, instructions: body.length });
        expect(loop.stackStores, found).toBe(0);
        // Loops with more products find out where columns start, once for many rows.
        if (loop.products > largest) continue;
        expect(loop.registerCopies, found).toBeLessThanOrEqual(kernel.registerCopies);
        if (loop.products < largest) continue;
        expect(body.length, found).toBeLessThanOrEqual(kernel.instructionsPerProduct * largest);
      }
    });
  }
});
