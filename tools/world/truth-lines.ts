import { userNameOf, type World } from './world.js';

/** JSON lines of what users like: a line of ads, and one of each user. */
export function truthLines({ truth, options }: World, hour: number): string {
  const appeal = Object.fromEntries(
    [...truth.ads.values()].map((ad) => [ad.item, Number(truth.appeal(ad).toPrecision(4))]),
  );
  const users = truth.tastes().map((taste, user) => {
    const last = truth.lastClick(user);
    return Object.assign({ hour, user: userNameOf(options.seed, user) }, taste, { last });
  });
  const lines = [{ hour, appeal }, ...users];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
