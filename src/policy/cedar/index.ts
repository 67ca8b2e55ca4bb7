export { createCedarDecisionPoint, type CedarOptions } from './create-cedar-decision-point.ts'
export type { CedarEntity, CedarUid, CedarValue } from './cedar-entity.ts'
export { handrailSchema } from './handrail-schema.ts'
