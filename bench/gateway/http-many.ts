import { httpChains, toContender } from './chains.ts'

export const contenders = httpChains.map((chain) => toContender(chain, 32))
