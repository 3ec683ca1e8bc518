/** Languages of text fields (ISO 639-1) whose words are stemmed (docs/reference/indexes-and-queries.md "Words of a field"). */
export const languages = ['da', 'de', 'en', 'es', 'fi', 'fr', 'it', 'nl', 'no', 'pt', 'sv'] as const;

export type Language = (typeof languages)[number];
