// A process that locks the folders that it is sent and says whether it has them; `done` gives back.
import { lockFolder } from '../../dist/libs/service/adapter/src/outside/folder-lock.js';

let giveBack = () => undefined;

process.on('message', async (folder) => {
  if (folder === 'done') {
    await giveBack();
    giveBack = () => undefined;
    process.send('gave back');
    return;
  }
  try {
    giveBack = await lockFolder(folder, 'test');
    process.send('has it');
  } catch (error) {
    process.send(error.code);
  }
});
process.send('ready');
