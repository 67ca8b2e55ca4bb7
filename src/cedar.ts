// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export { createCedarDecisionPoint, type CedarOptions } from './policy/cedar/create-cedar-decision-point.ts'
export type { CedarEntity, CedarUid, CedarValue } from './policy/cedar/cedar-entity.ts'
export { handrailSchema } from './policy/cedar/handrail-schema.ts'
