/** Fields that every item has by itself (specification, "Query result"). */
export const builtInFields: readonly string[] = [
  '_originId',
  '_sourceGuid',
  '_updatedAt',
  '_score',
  '_views',
];
