import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DRAW, draw, textKey } from './random.js';
import { Truth } from './truth.js';

/** The trainer reads the same file: its heads learn the chances of this world. */
const fixture = JSON.parse(readFileSync('test/fixtures/world/chances.json', 'utf8'));
const WITHOUT_DRIFT = { hours: 24, ads: 0, topics: 0, seasons: 0 };

describe('the truth of a world', () => {
  it('has the chances that the trainer of the demo learns', () => {
    const places = readFileSync('models/demo/catalogue.jsonl', 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ item_id: item, sid, attributes }) => {
        const { category: categoryName, discount } = attributes;
        return { item, sid, categoryName, discount };
      });
    const truth = new Truth(fixture.seed, WITHOUT_DRIFT, places, fixture.users.length);
    for (const { user, daypart, last, chances } of fixture.users) {
      const clicked = truth.ads.get(last);
      if (clicked !== undefined) truth.click(user, clicked);
      for (const [item, chance] of Object.entries<number>(chances)) {
        const ad = truth.ads.get(item);
        if (ad === undefined) throw new Error(`expected ad ${item}, got none`);
        expect(truth.attraction(user, ad, daypart) / chance).toBeCloseTo(1, 4);
      }
    }
    for (const [item, luck] of Object.entries<number>(fixture.purchases)) {
      expect(draw(fixture.seed, DRAW.purchase, textKey(item))).toBeCloseTo(luck, 6);
    }
  });
});
