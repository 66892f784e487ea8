import { expect, it } from 'vitest';
import { profileLines } from './profile.js';

const TIME = 'gpu__time_duration.sum';
const COMPUTE = 'sm__throughput.avg.pct_of_peak_sustained_elapsed';
const MEMORY = 'dram__throughput.avg.pct_of_peak_sustained_elapsed';

it('reads the longest kernels of what ncu prints, beside what the program prints', () => {
  const launch = (id: number, name: string, ns: string, compute: number, memory: number) =>
    [
      [TIME, ns],
      [COMPUTE, compute],
      [MEMORY, memory],
    ].map(([metric, value]) => `"${id}","card_bench","${name}","${metric}","${value}"`);
  const text = [
    '==PROF== Connected to process 12',
    '{"card": "a card", "results": []}',
    '"ID","Process Name","Kernel Name","Metric Name","Metric Value"',
    ...launch(0, 'attend', '3,000', 40, 80),
    ...launch(1, 'multiply', '1000', 90, 10),
    ...launch(2, 'attend', '1000', 80, 40),
    ...Array.from({ length: 6 }, (_, at) => launch(3 + at, `norm ${at}`, '100', 1, 2)).flat(),
  ].join('\n');
  const lines = profileLines(text).map(({ name, value }) => [name, value]);
  expect(lines.slice(0, 3)).toEqual([
    ['profile/attend/of all kernels', expect.closeTo((100 * 4000) / 5600, 9)],
    ['profile/attend/computing, of the most', 50],
    ['profile/attend/memory, of the most', 70],
  ]);
  expect(lines.length).toBe(15);
});
