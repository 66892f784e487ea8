const NO_DIGESTS = {
    template: '',
    codebook: ''
};
/** Token IDs of a catalogue's levels as the addon takes them: laid end to end. */ export function compileBinding(tokens, digests = NO_DIGESTS) {
    const levelOffsets = new Uint32Array(tokens.levels.length + 1);
    for (const [i, level] of tokens.levels.entries()){
        levelOffsets[i + 1] = levelOffsets[i] + level.length;
    }
    const levelTokens = new Int32Array(levelOffsets.at(-1) ?? 0);
    for (const [i, level] of tokens.levels.entries())levelTokens.set(level, levelOffsets[i]);
    return {
        levelOffsets,
        levelTokens,
        terminalTokens: Int32Array.from(tokens.terminal),
        templateDigest: digests.template,
        codebookDigest: digests.codebook
    };
}

//# sourceMappingURL=compile-binding.js.map