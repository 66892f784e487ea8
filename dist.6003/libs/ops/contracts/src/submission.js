export const WAIT_FOR = [
    'appended',
    'applied-here',
    'applied-everywhere'
];

//# sourceMappingURL=submission.js.map