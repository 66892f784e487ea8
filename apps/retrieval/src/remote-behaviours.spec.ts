import { TesseraError } from '@tessera/errors';
import { describe, expect, it } from 'vitest';
import { answerMs, RemoteBehaviours } from './remote-behaviours.js';

describe('the feature process', () => {
  it('has a quarter of what a request has left, between one second and ten', () => {
    expect([0, 100, 4000, 8000, 240_000, Number.POSITIVE_INFINITY].map(answerMs)).toEqual([
      1000, 1000, 1000, 2000, 10_000, 10_000,
    ]);
  });

  it('is waited for that long, and away where it does not answer', async () => {
    const waited: number[] = [];
    const client = {
      history: async (_userId: string, _limit: number, waitMs: number) => {
        waited.push(waitMs);
        throw new TesseraError('DEADLINE_EXCEEDED', 'no answer');
      },
    };
    const behaviours = new RemoteBehaviours({ client, address: 'features:1' });
    for (const budgetMs of [100, 20_000]) {
      await expect(behaviours.user('1', 5, budgetMs)).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: 'behaviours.remote: features:1: no answer',
      });
    }
    expect(waited).toEqual([1000, 5000]);
  });
});
