import { keptCharactersMax, synonymEntriesMax, synonymTextsMax } from '../../contract/limits.ts';
import { fieldTypes } from '../../schemas/definition/index-fields.ts';
import { languages } from '../../schemas/definition/languages.ts';
import { definitions, expression, isTriggered, properties, triggers } from './definitions.ts';
import { anyText, fileOf, filledText, listOf, mapOf, objectOf, oneOf, told } from './forms.ts';

const route = objectOf({
  url: told('Where the view is a page: "{url}".', expression),
  handles: told('Names under which it is found.', listOf(expression)),
});

const action = objectOf(
  { type: oneOf(['process']), alias: expression, originId: expression, source: expression },
  ['type'],
);

const destination = objectOf({ alias: filledText, options: { type: 'object' } }, ['alias']);

export const fullSchemaSchema = fileOf(
  'Full schema of Millrace: makes a view of each entity that triggers it',
  {
    ...triggers,
    route,
    properties: told('What is in the view.', properties),
    actions: listOf(action),
    destinations: told('Webhooks that are told of the view.', listOf(destination)),
  },
  { required: ['properties'], ...isTriggered, definitions },
);

export const partialSchemaSchema = fileOf(
  'Partial schema of Millrace: a piece of a mapping that others use',
  { alias: told('As the file is called.', filledText), properties },
  { required: ['properties'], definitions },
);

const field = objectOf(
  {
    type: oneOf(fieldTypes),
    language: told('How words of a text are stemmed.', oneOf(languages)),
    foldAccents: told(
      'Words are found without their accents; "de", "da": and with ä ö ü å æ ø written out.',
      oneOf([true, false, 'de', 'da']),
    ),
    keep: told('Characters that count as letters in this field, such as "+#": C++, C#.', {
      ...filledText,
      maxLength: keptCharactersMax,
    }),
    format: told('"html": tags are no words, entities are decoded.', oneOf(['html'])),
    collation: told('A BCP 47 tag such as "da": texts are sorted in the order of this locale.', filledText),
    metadata: {},
  },
  ['type'],
);

const synonymTexts = listOf(anyText, { minItems: 1, maxItems: synonymTextsMax });

const index = objectOf(
  {
    fields: told('Field -> its type. Each needs a property of its name.', mapOf(field)),
    synonyms: listOf(
      { anyOf: [synonymTexts, objectOf({ from: anyText, to: synonymTexts }, ['from', 'to'])] },
      { maxItems: synonymEntriesMax },
    ),
    metadata: {},
  },
  ['fields'],
);

export const indexSchemaSchema = fileOf(
  'Index schema of Millrace: makes an item of an index of each entity that triggers it',
  { ...triggers, index, properties: told('The values of the fields.', properties) },
  { required: ['index', 'properties'], ...isTriggered, definitions },
);
