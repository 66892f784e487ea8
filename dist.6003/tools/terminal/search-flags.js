import { ROW_BUDGET_MAX, SEARCHES } from "../../libs/service/recall/src/index.js";
import { fail } from "./command.js";
/** How items are found, of commands that recall (docs/concepts/search.md). */ export const SEARCH_FLAGS = {
    search: 'text',
    'row-budget': 'text'
};
export const SEARCH_USAGE = `  --search certified|beam    how items are found
                       (default: as configured, a beam where there are widths)
  --row-budget N       rows of beams that a certified search computes at most`;
/** @throws UsageError for members of the other search */ export function readSearch(flags, configured) {
    const hasWidths = flags.has('widths');
    const search = flags.oneOf('search', SEARCHES, hasWidths ? 'beam' : configured);
    const rowBudget = flags.integer('row-budget', 1, ROW_BUDGET_MAX);
    if (search === 'certified' && hasWidths) {
        fail('widths', 'none with --search certified', flags.text('widths') ?? '');
    }
    if (search === 'beam' && rowBudget !== undefined) {
        fail('row-budget', 'none with a beam', String(rowBudget));
    }
    return {
        search,
        rowBudget
    };
}

//# sourceMappingURL=search-flags.js.map