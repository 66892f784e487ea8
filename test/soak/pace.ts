/**
 * The only clock of the soaks: how fast callers write and for how long something is away are
 * drawn. Nothing is waited for here; that is `until` of libs/testing.
 */

export { setTimeout as pace } from 'node:timers/promises';
