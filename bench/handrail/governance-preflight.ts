import { preflights } from './governance.ts'

export const contenders = preflights
