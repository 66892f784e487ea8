export { type Disk, type DiskFile, diskError, FILE_SYSTEM, replaceFile } from './disk.js';
export { isInnerPath } from './inner-path.js';
export { refuseCacheRoot, refuseLfsPointer } from './model-file.js';
