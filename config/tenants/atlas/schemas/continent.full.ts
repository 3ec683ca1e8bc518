import type { FullSchema } from 'millrace/schema';

interface Continent {
  readonly code: string;
  readonly name: string;
  readonly countryIds: readonly string[];
}

/** The demo's schemas are in JSON but for this one: whoever refers to its views sees no difference. */
export default {
  triggers(context) {
    context.triggers('world', ['continent']);
  },

  routes({ url, properties }, context) {
    context.url(url);
    context.handle(`continent-${properties.code}`);
  },

  properties({ url, properties }, context) {
    return {
      code: properties.code,
      name: properties.name,
      url,
      countries: context.reference('countryCard').byOriginIds(properties.countryIds),
    };
  },
} satisfies FullSchema<Continent>;
