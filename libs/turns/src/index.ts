export { Turns, turns } from './turns.js';
