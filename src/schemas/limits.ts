/** Bounds of one build. Operators write schemas, but strangers write the entities that they run over. */

/** Elements mapped, partials entered, path nodes visited and pattern states tried, together. */
export const buildStepsMax = 5_000_000;
/** Characters of one view's JSON, its references not counted; below what one delivery may carry. */
export const viewCharactersMax = 16 * 1024 * 1024;
/** Characters of one text that an expression puts together. */
export const textCharactersMax = 16 * 1024 * 1024;
/** Partials inside partials; a cycle ends here with null and a diagnostic. */
export const partialDepthMax = 32;
/** Different lookups of one build. */
export const lookupsPerBuildMax = 5_000;
/** Views that one entity's `actions` may name. */
export const actionsPerBuildMax = 1_000;
export const diagnosticsPerBuildMax = 100;

/** Levels of a schema file's JSON below its root at which a property may still be defined. */
export const definitionDepthMax = 64;
/** Characters of one expression, path or filter. */
export const languageTextCharactersMax = 100_000;

/** Values of one entity under one lookup index; an entity with more stands under the index's overflow key. */
export const lookupValuesPerIndexMax = 1_000;
/** Value keys of one lookup; a longer list reads all entities of the type. */
export const lookupKeysMax = 1_000;
/** A longer key is replaced by its digest. */
export const lookupKeyCharactersMax = 160;
/** States of one compiled pattern of `match` or `search`. */
export const patternStatesMax = 5_000;
/** Dots, brackets and operators of one path: the segments and conditions that it may have. */
export const pathMarksMax = 500;
/** Brackets inside brackets of one path. */
export const pathNestingMax = 64;
