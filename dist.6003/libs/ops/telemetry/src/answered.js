/** Labels and buckets of what callers are answered. */ import { FAULTS } from "../../errors/src/index.js";
export const EDGES = [
    'grpc',
    'http',
    'kafka'
];
/** Of the objectives. */ export const CODES_FROM_START = [
    'OK',
    ...FAULTS
];
export const LATENCY_BUCKETS = [
    0.001,
    0.002,
    0.005,
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
    1,
    2,
    5,
    10
];

//# sourceMappingURL=answered.js.map