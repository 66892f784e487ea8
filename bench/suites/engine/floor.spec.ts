import { readModelShape } from '@tessera/engine';
import { temporaryFolder, valuesOf } from '@tessera/testing';
import { describe, expect, it } from 'vitest';
import { configOf, SHAPES, tensorsOf } from '../../models/model-shape.js';
import {
  floorSeconds,
  headWork,
  kvNumbersPerPosition,
  layerParameters,
  prefillWork,
  stateNumbers,
  stepWork,
} from './floor.js';

const large = SHAPES['qwen3-0.6b'];
const hybrid = SHAPES['qwen3.5-0.8b'];
const format = { weightBytes: 2, headBytes: 2, kvBytes: 2 };
const peaks = { operations: 6.33e12, attentionOperations: 6.33e12, bandwidth: 35e9 };
const ms = (work: ReturnType<typeof prefillWork>) => 1000 * floorSeconds(work, peaks);

describe('the floor model', () => {
  it('counts the parameters that the tensors have', () => {
    for (const shape of Object.values(SHAPES)) {
      const matrices = tensorsOf(shape).filter(
        (tensor) => tensor.name.startsWith('model.layers') && tensor.shape.length === 2,
      );
      const count = matrices.reduce((sum, { shape: [a = 0, b = 0] }) => sum + a * b, 0);
      expect(layerParameters(shape)).toBe(count);
    }
  });

  it.each(Object.values(SHAPES))('has the tensors that the engine reads: $name', (shape) => {
    const folder = temporaryFolder({ 'config.json': configOf(shape) });
    const count = tensorsOf(shape).reduce((sum, tensor) => sum + valuesOf(tensor), 0);
    expect(readModelShape(folder.path).parameterCount).toBe(count);
    folder.remove();
  });

  it('gives the figures of a machine whose peaks are known', () => {
    expect(layerParameters(large) / 1e6).toBeCloseTo(440.4, 1);
    expect(kvNumbersPerPosition(large) * 2).toBe(112 * 1024);
    expect(ms(prefillWork(large, 512, format))).toBeGreaterThan(71);
    expect(ms(prefillWork(large, 512, format))).toBeLessThan(77);
    const step = { users: 1, width: 64, promptTokens: 512 };
    expect(ms(stepWork(large, step, format))).toBeCloseTo(26.8, 0);
    expect(ms(headWork(large, { rows: 64, isFull: false }, format))).toBeCloseTo(0.24, 2);
  });

  it('reads the state of a hybrid once a pass, however many rows there are', () => {
    expect(kvNumbersPerPosition(hybrid)).toBe(6 * 2 * 2 * 256);
    expect((stateNumbers(hybrid) * 4) / 2 ** 20).toBe(18);
    const bytes = (width: number) =>
      stepWork(hybrid, { users: 1, width, promptTokens: 512 }, format).bytes;
    expect(bytes(512)).toBe(bytes(1));
  });

  it('is bound by memory for a few rows and by computing for many', () => {
    const step = (users: number) => stepWork(large, { users, width: 64, promptTokens: 8 }, format);
    expect(ms(step(2)) / ms(step(1))).toBeLessThan(1.01);
    expect(ms(step(32)) / ms(step(16))).toBeGreaterThan(1.9);
  });
});
