export { turns } from './turns.js';
