import { join } from "node:path";
import { BundleLabel, CatalogueChanges, ImportMarks, prepareCatalogue, readAttributeSchema, readCodebookFolder, valueByFile } from "../../catalogue/src/index.js";
import { NO_MODELS } from "../../embedding/src/index.js";
import { ModelEncoders } from "./domain/item-encoders.js";
/** The first catalogue, then those beside it. */ export async function openCatalogues(options, opened) {
    const { folder, levelSizes, attributesPath = '', codebooksPath = '' } = options.changes;
    const { valuationsPath = '' } = options.changes;
    const sources = options.catalogueSources;
    const first = await openCatalogue(options, opened, {
        name: '',
        sources,
        folder,
        levelSizes,
        attributesPath,
        valuationsPath,
        codebooksPath
    });
    const catalogues = [
        first
    ];
    for (const { name, source, attributesPath, valuationsPath, begin } of options.moreCatalogues){
        const own = {
            name,
            sources: [
                source
            ],
            folder,
            levelSizes: [],
            attributesPath,
            valuationsPath,
            codebooksPath: '',
            begin
        };
        catalogues.push(await openCatalogue(options, opened, own));
    }
    return catalogues;
}
/** The catalogue of the sources, with the changes that its folder keeps. */ async function openCatalogue(options, opened, { name, sources, folder: changesFolder, levelSizes, attributesPath, valuationsPath, codebooksPath, begin }) {
    const stage = name === '' ? 'catalogue' : `catalogue ${name}`;
    const { catalogue, bundleUuid } = await prepareCatalogue({
        sources,
        titlesPath: name === '' ? options.titlesPath : '',
        cacheDir: options.cacheDir,
        reserveBytes: options.changes.reserveBytes ?? 0,
        onDropped: (reason)=>opened.dropped.push({
                cache: 'snapshot',
                reason
            }),
        onProgress: (part, done, total)=>options.onProgress(`${stage}: ${part}`, done, total)
    });
    opened.keepCatalogue(catalogue);
    const { sync, compactAfterChanges, onCompacted, reserveBytes = 0 } = options.changes;
    // Of their own for each catalogue: changes follow one set of items, and those of another that is
    // served in its place for a while are neither mixed in nor lost.
    const folder = changesFolder && join(changesFolder, name, catalogue.summary.digest);
    if (folder !== '') {
        options.onProgress(`${stage}: changes`, 0, 1);
        await catalogue.keep({
            folder,
            sync,
            levelSizes,
            reserveBytes
        });
        options.onProgress(`${stage}: changes`, 1, 1);
    }
    if (attributesPath !== '') {
        const findings = await catalogue.declare(await readAttributeSchema(attributesPath));
        if (findings.length > 0) options.changes.onUndeclared?.(name, findings);
    }
    if (valuationsPath !== '') {
        const key = name === '' ? 'recall.valuations' : 'catalogue.more';
        await valueByFile(catalogue, valuationsPath, key);
    }
    const encoders = new ModelEncoders(options.textModels ?? NO_MODELS);
    const semanticIds = codebooksPath === '' ? undefined : await readCodebookFolder(codebooksPath, encoders);
    if (semanticIds !== undefined) await catalogue.quantiseBy(semanticIds.codebooks);
    const { flight, nowMs = Date.now } = options.changes;
    if (flight !== undefined) catalogue.fly(flight, nowMs);
    const changes = new CatalogueChanges(catalogue, {
        folder,
        compactAfterChanges: folder === '' ? 0 : compactAfterChanges,
        bundle: await BundleLabel.open(folder, bundleUuid, catalogue.state().sequence),
        imports: await ImportMarks.open(folder, catalogue.state().sequence),
        semanticIds,
        nowMs,
        onCompacted
    });
    return {
        name,
        sources,
        catalogue,
        changes: opened.keepChanges(changes),
        begin
    };
}
/** Prompts write items of all catalogues. */ export function widestLevels(catalogues) {
    const sizes = [];
    for (const { catalogue } of catalogues){
        catalogue.summary.levelSizes.forEach((size, level)=>{
            sizes[level] = Math.max(sizes[level] ?? 0, size);
        });
    }
    return sizes;
}

//# sourceMappingURL=open-catalogues.js.map