import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIRST_WINDOW_BYTES, SendWindows } from './send-windows.js';

const step = fc.record({
  act: fc.constantFrom('grant', 'send', 'serve', 'reserve', 'give back'),
  bytes: fc.integer({ min: 1, max: 100_000 }),
});

describe('SendWindows', () => {
  it('never lets gate and server together send more than the client has granted', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const windows = new SendWindows();
        let granted = FIRST_WINDOW_BYTES;
        let announced = FIRST_WINDOW_BYTES;
        let sent = 0;
        let served = 0;
        const reserved: number[] = [];
        for (const { act, bytes } of steps) {
          if (act === 'grant') {
            granted += bytes;
            announced += windows.granted(bytes);
          } else if (act === 'send') {
            const part = Math.min(bytes, windows.own);
            windows.sent(part);
            sent += part;
          } else if (act === 'serve') {
            const part = Math.min(bytes, announced - served);
            served += part;
            announced += windows.serverSent(part);
          } else if (act === 'reserve') {
            if (windows.reserve(bytes)) reserved.push(bytes);
          } else windows.giveBack(reserved.pop() ?? 0);
          expect(sent + windows.own + announced).toBe(granted);
          expect(windows.own).toBeGreaterThanOrEqual(0);
          expect(served).toBeLessThanOrEqual(announced);
        }
      }),
    );
  });

  it('lends the server all that is not in use before that has to wait', () => {
    const windows = new SendWindows();
    expect(windows.granted(40_000)).toBe(40_000 - 32_768);
    expect(windows.reserve(30_000)).toBe(true);
    const announced = FIRST_WINDOW_BYTES + 40_000 - 32_768;
    expect(windows.serverSent(announced)).toBe(2768);
    expect(windows.own).toBe(30_000);
  });
});
