export interface Fault {
  readonly line: number;
  readonly message: string;
}
export type Exists = (path: string) => boolean;
export type Rule = (path: string, text: string, exists: Exists) => Fault[];

export const LIMITS: {
  readonly fileLines: number;
  readonly testFileLines: number;
  readonly functionLinesTypeScript: number;
  readonly functionLinesCpp: number;
  readonly columns: number;
  readonly readmeWords: number;
};
export const fileLength: Rule;
export const lineLength: Rule;
export const functionLengthTypeScript: Rule;
export const functionLengthCpp: (path: string, text: string) => Fault[];
export const plainSpreads: Rule;
export const bannedWords: Rule;
export const fileName: (path: string) => Fault[];
export const includeLaw: Rule;
export const bareCpp: (text: string) => string;
export const readmeLength: Rule;
export const namedFiles: Rule;
export const styleNamesCheckers: Rule;
export const RULES: readonly Rule[];
export const missingReadmes: (
  folders: readonly string[],
  exists: Exists,
) => (Fault & { readonly path: string })[];
