/** The same of a version that is here. */ export function receivedOf(version) {
    const { name, digest, baseModel, files, remark, pushedBy } = version;
    return {
        name,
        digest,
        baseModel,
        files,
        remark,
        pushedBy
    };
}

//# sourceMappingURL=adapter-act.js.map