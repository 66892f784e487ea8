/** Nodes that are asked for one request at most: the owner and its successors. */ export const ATTEMPTS_MAX = 3;
const NONE = [];
/**
 * Asks the owner of a user, and its successors where it is away or refuses before it begins. `act`
 * must be repeatable: it rejects only where no byte of an answer has come. Rejects with a failure
 * that is final, and with any failure where the request is over.
 */ export async function askInTurn({ next, nameOf, begin, failureOf, lost, isOver }, act) {
    let without = NONE;
    let refusal;
    for(let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1){
        const node = next(without);
        if (node === undefined) break;
        const end = begin(node);
        try {
            const answer = await act(node);
            end(true);
            return {
                isAnswered: true,
                answer
            };
        } catch (thrown) {
            end(false);
            const failure = failureOf(thrown);
            if (failure === 'final' || isOver()) throw thrown;
            if (failure === 'away') lost(node, thrown);
            else refusal = thrown;
            without = [
                ...without,
                nameOf(node)
            ];
        }
    }
    return {
        isAnswered: false,
        refusal
    };
}

//# sourceMappingURL=ask-in-turn.js.map