import { fiveChains, toContender } from './chains.ts'

export const contenders = fiveChains.map((chain) => toContender(chain, 1))
