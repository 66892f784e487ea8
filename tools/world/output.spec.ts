import { describe, expect, it } from 'vitest';
import { FakeWorld } from './fake-world.js';
import { HEADER, hourLine } from './hour-lines.js';
import { Pace } from './pace.js';
import { worldPicture } from './picture.js';
import { truthLines } from './truth-lines.js';
import { WORLD_DEFAULTS, World } from './world.js';

const service = new FakeWorld();
const world = await World.open(service, Object.assign({}, WORLD_DEFAULTS, { users: 20 }));
service.world = world;
const [first, second] = await world.hours(2);
if (first === undefined || second === undefined) throw new Error('expected two hours');
const followed = Object.assign({}, second, {
  freshnessSeconds: 61.2,
  versions: { '': 3, abcdef0123456789: 1 },
  lost: 2,
});

describe('what a world writes', () => {
  it('is a line an hour under one header', () => {
    expect(hourLine(first)).toMatch(/^ {3}1 00:00 .* - {2}base$/);
    expect(hourLine(followed)).toMatch(/ 61 s {2}base 75 %, abcdef01 25 %; lost visits: 2$/);
    expect(hourLine(first).lastIndexOf('  base')).toBe(HEADER.lastIndexOf('  versions'));
  });

  it('is a picture, which marks a new version and has freshness where there is any', () => {
    const [alone, live] = [worldPicture([first, second]), worldPicture([first, followed])];
    expect(alone).toMatch(/^<svg [\s\S]*Click rate[\s\S]*Coverage[\s\S]*<\/svg>\n$/);
    expect([alone.includes('Freshness'), alone.includes('abcdef')]).toEqual([false, false]);
    expect([live.includes('Freshness'), live.includes('abcdef')]).toEqual([true, true]);
  });

  it('is the truth of all ads and users', () => {
    const [ads, ...users] = truthLines(world, 1)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(Object.keys(ads.appeal)).toHaveLength(world.truth.ads.size);
    expect(users.map(({ user }) => user).slice(-2)).toEqual(['w-7-18', 'w-7-19']);
    expect(Object.keys(users[0].topics)).toHaveLength(60);
  });
});

describe('the pace of a world', () => {
  it('has a tick when it is due, is late with a slow service, skips one away', async () => {
    let now = 0;
    const clock = {
      nowMs: () => now,
      after: async (ms: number) => {
        now += ms;
      },
    };
    const pace = new Pace(360, clock);
    const next = async () => [await pace.next(), now];
    expect([await next(), await next(), await next()]).toEqual([
      ['now', 0],
      ['now', 1000],
      ['now', 2000],
    ]);
    now = 7500;
    expect([await next(), await next()]).toEqual([
      ['now', 7500],
      ['now', 8500],
    ]);
    for (let attempt = 0; attempt < 4; attempt += 1) await pace.waitAgain(attempt);
    expect(now).toBe(12_250);
    expect([await next(), await next(), await next(), await next()]).toEqual([
      ['past', 12_250],
      ['past', 12_250],
      ['now', 12_250],
      ['now', 13_250],
    ]);
  });

  it('gives a service up that stays away', async () => {
    const pace = new Pace(undefined, { nowMs: () => 0, after: async () => undefined });
    expect([await pace.waitAgain(0), await pace.waitAgain(120)]).toEqual([true, false]);
    expect(await pace.next()).toBe('now');
  });
});
