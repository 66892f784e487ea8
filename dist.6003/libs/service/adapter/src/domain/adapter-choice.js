export const BASE_LEASE = {
    adapter: undefined,
    arm: 'base',
    name: '',
    release: ()=>undefined
};

//# sourceMappingURL=adapter-choice.js.map