/** Asks which ads to show a user: npm run -s example:recall -- [ADDRESS] [USER] */ import { TesseraClient } from "../libs/edge/client/src/index.js";
const [address = '127.0.0.1:50051', userId = '1'] = process.argv.slice(2);
// #region recall
const tessera = new TesseraClient(address);
const { items } = await tessera.recall({
    userId,
    resultCount: 3
}, 500);
for (const { itemId, score, title } of items){
    console.log(`${itemId}\t${score.toFixed(3)}\t${title}`);
}
tessera.close(); // #endregion recall

//# sourceMappingURL=recall.js.map