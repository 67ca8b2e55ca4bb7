import type { Operation } from '../../contract/tool/plan.ts'

/** The URN under which a tool is a policy resource. */
export function toolUrn(name: string): string {
  return `handrail:tool:${name}`
}

/** The URN of what an operation reaches. */
export function operationUrn(operation: Operation): string {
  switch (operation.kind) {
    case 'fs.read':
    case 'fs.write':
      return `handrail:file:${operation.path}`
    case 'process':
      return `handrail:exec:${operation.executable}`
    case 'net':
      return `handrail:host:${operation.host}`
    case 'other':
      return operation.resource
  }
}

/** The action of an operation, as decision points are asked to authorise it. */
export function operationAction(operation: Operation): string {
  switch (operation.kind) {
    case 'fs.read':
      return 'read'
    case 'fs.write':
      return 'write'
    case 'process':
      return 'execute'
    case 'net':
      return 'connect'
    case 'other':
      return 'use'
  }
}
