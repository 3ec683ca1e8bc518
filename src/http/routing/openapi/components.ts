/** The named shapes of the OpenAPI document. Each is listed once among the components and referenced elsewhere. */
import type { Shape } from '../../../contract/shape.ts';
import { assert } from '../../../lib/assert.ts';

export class OpenapiComponents {
  readonly #shapes = new Map<string, Shape>();
  readonly #schemas = new Map<string, object>();

  /**
   * The schema of a shape; a reference if the shape has a name.
   * @throws Error if two different shapes have the same name
   */
  schemaOf(shape: Shape): object {
    const { component } = shape;
    if (component === undefined) return this.#written(shape);
    const known = this.#shapes.get(component);
    assert(known === undefined || known === shape, `only one shape is called ${component}`);
    if (known === undefined) {
      this.#shapes.set(component, shape);
      this.#schemas.set(component, this.#written(shape));
    }
    return { $ref: `#/components/schemas/${component}` };
  }

  /** Name -> schema of all used shapes, sorted by name. */
  get schemas(): Record<string, object> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #written({ component: _name, itemsName: _items, ...shape }: Shape): object {
    const { anyOf, items, properties, additionalProperties } = shape;
    const hasMemberShape = typeof additionalProperties === 'object';
    return {
      ...shape,
      ...(anyOf !== undefined && { anyOf: anyOf.map((one) => this.schemaOf(one)) }),
      ...(items !== undefined && { items: this.schemaOf(items) }),
      ...(properties !== undefined && { properties: this.#members(properties) }),
      ...(hasMemberShape && { additionalProperties: this.schemaOf(additionalProperties) }),
    };
  }

  #members(properties: Readonly<Record<string, Shape>>): Record<string, object> {
    return Object.fromEntries(
      Object.entries(properties).map(([name, shape]) => [name, this.schemaOf(shape)]),
    );
  }
}
