export { Erasures } from './erasures.js';
