import { expect, it } from 'vitest';
import { AnswerForecast } from './answer-forecast.js';

/** One whose answers have lasted 100 each, or 50 and 150 by turns. */
function knowing(lasting: readonly number[]): AnswerForecast {
  const forecast = new AnswerForecast();
  for (const us of lasting) {
    const account = forecast.admit(0);
    account.begin(0);
    account.end(us);
  }
  return forecast;
}

it('gives an answer a place at once while one is free, and none where there are none', () => {
  const forecast = knowing([100]);
  expect(forecast.beginOf(1000, 1, 1000)).toBe(1000);
  expect(forecast.beginOf(1000, 0, 1000)).toBe(Number.POSITIVE_INFINITY);
  forecast.admit(900).begin(950);
  expect(forecast.beginOf(1000, 2, 1000)).toBe(1000);
  expect(forecast.beginOf(1000, 1, 1000)).toBe(1050);
});

it('puts prompts that are complete before on the places first, and no others', () => {
  const forecast = knowing([100]);
  const begun = forecast.admit(0);
  begun.begin(1000);
  for (const readyUs of [1010, 1020, 1300]) forecast.admit(readyUs);
  // The places are free at 1000 and 1100: two prompts take them until 1110 and 1200.
  expect(forecast.beginOf(1050, 2, 1000)).toBe(1110);
  begun.drop();
  expect(forecast.beginOf(1050, 2, 1000)).toBe(1110);
  expect(forecast.beginOf(1250, 2, 1000)).toBe(1250);
});

it('expects of an old answer what those that became older lasted', () => {
  const forecast = knowing([50, 150]);
  forecast.admit(0).begin(1000);
  expect(forecast.beginOf(1000, 1, 1000)).toBe(1100);
  expect(forecast.beginOf(1060, 1, 1060)).toBe(1150);
});
