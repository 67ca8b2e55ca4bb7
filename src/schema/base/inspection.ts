import type { SchemaKind } from '../../contract/base/schema.ts'
import { limits } from './limits.ts'
import { createResolver, type Resolve } from './references.ts'
import { createRun, report, type Run } from './run.ts'

/** One inspection of a schema under way. Issues and the place at hand are kept in its run. */
export interface Inspection {
  readonly kind: SchemaKind
  readonly run: Run
  readonly resolve: Resolve
  /** Schemas that were looked at. */
  readonly seen: Set<object>
  /** References that were met; what they name is looked at when everything else is done. */
  readonly references: string[]
  /** Where a schema inside of the document is a document of its own. */
  readonly ownDocuments: (readonly (string | number)[])[]
  /** Schemas that may still be looked at. */
  nodes: number
  /** Levels of schemas above the one at hand. */
  depth: number
  /** Levels of these that say something together with others, so that a part may speak of what another one declares. */
  combined: number
}

/** Starts an inspection of the schema `root`. */
export function createInspection(root: unknown, kind: SchemaKind): Inspection {
  return {
    kind,
    run: createRun(false),
    resolve: createResolver(root),
    seen: new Set(),
    references: [],
    ownDocuments: [],
    nodes: limits.schemaNodes,
    depth: 0,
    combined: 0,
  }
}

/** Reports a keyword with a value of the wrong form. */
export function reportInvalid(run: Run, message: string, token?: string): void {
  report(
    run,
    'invalid_schema',
    token === undefined ? { message: () => message } : { token, message: () => message },
  )
}
