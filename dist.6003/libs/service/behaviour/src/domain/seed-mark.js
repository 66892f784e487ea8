/** Files that a process serves users with. Absolute paths. */ /** A newer model of the same catalogue, or newer ads of the same model, have the same users. */ export function foreignSeed(mark, served) {
    return mark.modelPath !== served.modelPath && mark.cataloguePath !== served.cataloguePath;
}

//# sourceMappingURL=seed-mark.js.map