/** Fields that every item has by itself (docs/reference/indexes-and-queries.md "The answer"). */
export const builtInFields: readonly string[] = [
  '_originId',
  '_sourceGuid',
  '_updatedAt',
  '_score',
  '_views',
];

/** Names that no field of an index schema may have: those of built-in fields, and of what a query may ask for besides. */
export const reservedFields: readonly string[] = [...builtInFields, '_viewIds', '_distance', '_highlights'];
