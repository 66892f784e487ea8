import { MILLISECONDS_PER_SECOND } from "../../../ops/units/src/index.js";
/** Users whose behaviours are read at most, and of each the newest. */ const USERS_MAX = 100_000;
const BEHAVIOURS_MAX = 100;
/**
 * Counts the clicks that a store has, user after user: what was counted before a restart is not
 * kept anywhere else. A behaviour that arrives meanwhile may count twice.
 * @returns whether all was read; false where the store went away or nobody wants it any more
 */ export async function rebuildPopularity(store, popularity, isClick, isWanted) {
    try {
        for (const userId of (await store.userIds(USERS_MAX))){
            if (!isWanted()) return false;
            const behaviours = await store.history(userId, BEHAVIOURS_MAX) ?? [];
            for (const { itemId, action, time } of behaviours){
                if (isClick(action)) popularity.add(itemId, time * MILLISECONDS_PER_SECOND);
            }
        }
        return true;
    } catch  {
        return false;
    }
}

//# sourceMappingURL=rebuild-popularity.js.map