/** Bounds that keep hostile schemas and values from costing much. */
export const limits = {
  /** Levels of nesting, of schemas and of values. */
  depth: 64,
  /** Characters of a field name in a pointer. */
  nameLength: 500,
  /** Issues reported one by one; the rest is counted. */
  issues: 50,
  /** Values looked at during one check. */
  values: 10_000_000,
  /** Steps of pattern matching during one check. */
  patternSteps: 5_000_000,
  /** Schemas within one schema. */
  schemaNodes: 10_000,
  /** Values of one enum. */
  enumValues: 10_000,
} as const
