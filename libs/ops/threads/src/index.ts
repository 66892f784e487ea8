export { ProgramThread } from './program-thread.js';
