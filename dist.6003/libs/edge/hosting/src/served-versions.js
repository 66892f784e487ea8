/** Versions that this process serves, by kind: `service`, `model` and so on. Also a DI token. */ export class ServedVersions {
    versions;
    constructor(versions){
        this.versions = versions;
    }
}

//# sourceMappingURL=served-versions.js.map