import { durables } from './governance.ts'

export const contenders = durables
