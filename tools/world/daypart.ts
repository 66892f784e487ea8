export const DAYPARTS = ['morning', 'afternoon', 'evening', 'night'] as const;
export type Daypart = (typeof DAYPARTS)[number];

/** Visits of an hour of the day against those of the busiest. */
const ACTIVITY = [
  0.25, 0.15, 0.1, 0.1, 0.1, 0.2, 0.4, 0.6, 0.8, 0.8, 0.7, 0.7, 0.8, 0.8, 0.7, 0.7, 0.7, 0.8, 0.9,
  1, 1, 0.9, 0.7, 0.5,
];
const ACTIVITY_OF_DAY = ACTIVITY.reduce((sum, share) => sum + share, 0);

/** Share of a day's visits. */
export const shareOfHour = (hour: number): number =>
  (ACTIVITY[hour % ACTIVITY.length] as number) / ACTIVITY_OF_DAY;

/** Place in DAYPARTS. */
export function daypartOf(hour: number): number {
  const ofDay = hour % ACTIVITY.length;
  if (ofDay < 6 || ofDay >= 22) return 3;
  if (ofDay < 12) return 0;
  return ofDay < 17 ? 1 : 2;
}
