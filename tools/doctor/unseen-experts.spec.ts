import { describe, expect, it } from 'vitest';
import { unseenLines } from './unseen-experts.js';

describe('experts that a calibration did not reach', () => {
  it('are named layer by layer with the rule for their scales', () => {
    const unseen = [
      { layer: 0, expert: 3 },
      { layer: 2, expert: 1 },
      { layer: 2, expert: 7 },
    ];
    expect(unseenLines(unseen)).toEqual([
      "layer 0: no row chose expert 3; the scale is the largest of the layer's other experts",
      "layer 2: no row chose experts 1, 7; the scale is the largest of the layer's other experts",
    ]);
  });

  it('are no lines where every expert was chosen', () => {
    expect(unseenLines([])).toEqual([]);
  });
});
