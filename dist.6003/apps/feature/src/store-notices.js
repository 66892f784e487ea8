import { noticeOfForeignSeed } from "../../../libs/service/behaviour/src/index.js";
import { noticeOfEarlierStores } from "../../../libs/ops/config/src/index.js";
/**
 * Warns of stores that are not those of the model that is served. Before they are opened: then
 * they hold something.
 * @param stores what the process keeps; left out: all of the configuration
 */ export async function warnOfStores(config, log, stores) {
    const { behaviours, users, model, catalogue } = config;
    const servedWith = {
        modelPath: model.path,
        cataloguePath: catalogue.path
    };
    const earlier = noticeOfEarlierStores(config, stores);
    const foreign = behaviours.store === 'embedded' ? await noticeOfForeignSeed(behaviours.path, users.path, servedWith) : '';
    for (const notice of [
        earlier,
        foreign
    ])if (notice !== '') log.warn({}, notice);
}

//# sourceMappingURL=store-notices.js.map