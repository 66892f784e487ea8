/** Lanes of long calls: threads of their own, so that they wait for their like alone. */

/** In the order of tasksDepths(); each has its number of waiting and of running calls there. */
export const LANES = ['build', 'change', 'erase', 'check', 'end'] as const;
