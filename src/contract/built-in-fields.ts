/** Fields that every item has by itself (docs/reference/indexes-and-queries.md "The answer"). */
export const builtInFields: readonly string[] = [
  '_originId',
  '_sourceGuid',
  '_updatedAt',
  '_score',
  '_views',
];
