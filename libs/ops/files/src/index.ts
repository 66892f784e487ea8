export {
  type Disk,
  type DiskFile,
  diskError,
  errorOfSystem,
  FILE_SYSTEM,
  replaceFile,
} from './disk.js';
export { isInnerPath } from './inner-path.js';
export { isThere } from './is-there.js';
export { refuseForeign, refuseNoModel, textOf } from './model-file.js';
export { openRegular, partsOfRegular, readRegular, readRegularSync } from './regular-file.js';
export { overwriteFile, wipeFile } from './wipe-file.js';
